// What the tests of pages in a real browser share.
"use strict";
const assert = require("assert").strict;
const { chromium } = require("playwright-core");

const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const sizes = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

function launch(executable) {
  return chromium.launch({ executablePath: executable, args, headless: true });
}

// A page that must log nothing and load nothing from elsewhere.
async function open(context, file) {
  const page = await context.newPage();
  const trouble = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) trouble.push(message.text()); });
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on("request", (request) => { if (!/^(file|data):/.test(request.url())) trouble.push("request to " + request.url()); });
  await page.goto("file://" + file);
  return { page, trouble };
}

// Nothing is too wide or nameless, and all text is easy to see.
async function readable(page) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `the page is ${wide} pixels too wide`);
  const overflow = await page.evaluate(() => [...document.querySelectorAll("li")]
    .filter((item) => [...item.querySelectorAll("*")].some((part) => part.getBoundingClientRect().right > item.getBoundingClientRect().right + 1)).length);
  assert.equal(overflow, 0, "nothing is wider than its picture");
  const nameless = await page.evaluate(() => [...document.querySelectorAll("a")].filter((link) => !link.getAttribute("aria-label")).length);
  assert.equal(nameless, 0, "every link has a name");
  // WCAG 2: the contrast of all text with its background.
  const faint = await page.evaluate(() => {
    const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
    const light = (colour) => {
      const [r, g, b] = numbers(colour).slice(0, 3).map((x) => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (part) => {
      for (let e = part; e; e = e.parentElement) {
        const colour = getComputedStyle(e).backgroundColor;
        if ((numbers(colour)[3] ?? 1) > 0) return colour;
      }
      return "rgb(255, 255, 255)";
    };
    return [...document.querySelectorAll("h1, h2, p, li b, .name, .class, .badge, .none, label")].filter((part) => {
      const [a, b] = [light(getComputedStyle(part).color), light(behind(part))];
      return part.textContent.trim() && (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
    }).map((part) => part.outerHTML.slice(0, 80));
  });
  assert.deepEqual(faint, [], "text is easy to see");
}

module.exports = { launch, open, readable, sizes };
