// Drives the page of vit serve: choose, drop, paste, hover, history, models, keys, token; both themes, two widths.
"use strict";
const assert = require("assert").strict;
const fs = require("fs");
const path = require("path");
const { chromium } = require("playwright-core");

const [executable, work, open, locked, pictures] = process.argv.slice(2);
const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const sizes = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };
const picture = (name) => path.join(pictures, name);

// A page that stays silent and asks nobody but its own server.
async function visit(context, url, expected = []) {
  const page = await context.newPage();
  const trouble = [];
  page.on("console", (message) => {
    if (!["error", "warning"].includes(message.type())) return;
    if (!expected.some((text) => message.text().includes(text))) trouble.push(message.text());
  });
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url())) trouble.push("request to " + request.url());
  });
  await page.goto(url + "/");
  return { page, trouble };
}

const status = (page) => page.locator("#status").textContent();
const answers = (page) => page.locator("#answers .label").allTextContents();

async function answered(page, name) {
  await page.waitForFunction((text) => document.getElementById("status").textContent.startsWith(text + ": ")
    && !document.getElementById("status").textContent.endsWith("waiting for the answer"), name);
}

// The explorer of the image at hand, when it has said where the model looks.
async function explorer(page) {
  const frame = page.frameLocator("#explorer");
  await frame.locator("#status:not(:empty)").waitFor();
  return frame;
}

// Files in the hands of an event, as a browser gives them to a page.
async function give(page, kind, files) {
  const given = files.map((file) => ({ name: path.basename(file), bytes: fs.readFileSync(file).toString("base64") }));
  await page.evaluate(({ kind, given }) => {
    const transfer = new DataTransfer();
    for (const { name, bytes } of given)
      transfer.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name, { type: "image/png" }));
    const event = kind === "paste" ? new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true })
      : new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true });
    document.body.dispatchEvent(event);
  }, { kind, given });
}

async function readable(page) {
  const nameless = await page.evaluate(() => [...document.querySelectorAll("button, input:not([hidden]), select, iframe, img:not([alt])")]
    .filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label") || e.title || e.labels?.length)).length);
  assert.equal(nameless, 0, "every control has a name");
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `the page is ${wide} pixels too wide`);
}

async function hover(page) {
  const frame = await explorer(page);
  const heat = () => frame.locator("#heat").evaluate((canvas) => canvas.toDataURL());
  const before = await heat();
  await frame.locator("#stage").hover({ position: { x: 10, y: 10 } });
  await frame.getByText(/^Patch 0,0 looks/).waitFor();
  assert.notEqual(await heat(), before, "pointing at a patch changes the map");
  await frame.getByRole("radio", { name: "Relevance" }).click();
  await frame.getByText(/^What speaks for/).waitFor();
}

async function drive(browser, scheme, device) {
  const context = await browser.newContext({ viewport: sizes[device], colorScheme: scheme, hasTouch: device === "phone" });
  const { page, trouble } = await visit(context, open);
  await page.waitForFunction(() => document.querySelectorAll("#model option").length === 2);
  await readable(page);
  await page.screenshot({ path: path.join(work, `empty-${scheme}-${device}.png`), fullPage: true });

  // By keyboard: the button is the first control after the header's, and opens the chooser.
  await page.locator("#theme").focus();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.id), "choose");
  await page.evaluate(() => {
    document.querySelector("#files").addEventListener("click", (event) => {
      event.preventDefault();
      window.choosing = true;
    }, { once: true });
  });
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => window.choosing);
  await page.locator("#files").setInputFiles(picture("ship_2.png"));
  await answered(page, "ship_2.png");
  assert.match(await status(page), /^ship_2.png: ship, /);
  assert.equal((await answers(page)).length, 5);
  assert.equal(await page.locator("#photo").getAttribute("alt"), "ship_2.png");
  await hover(page);

  await give(page, "drop", [picture("frog.png"), picture("horse.png")]);
  await answered(page, "frog.png");
  await give(page, "paste", [picture("truck.png")]);
  await answered(page, "truck.png");
  await page.waitForFunction(() => document.querySelectorAll("#entries button").length === 4);
  await page.locator("#entries button").first().click();
  await answered(page, "ship_2.png");
  await explorer(page);
  await readable(page);
  await page.screenshot({ path: path.join(work, `answer-${scheme}-${device}.png`), fullPage: true });

  const before = await answers(page);
  await page.locator("#model").selectOption("small");
  await answered(page, "ship_2.png");
  await page.waitForFunction((old) => document.querySelector("#answers .label").textContent !== old, before[0]);
  assert.equal((await answers(page)).length, 5);
  await page.locator("#theme").click();
  assert.match(await page.evaluate(() => document.documentElement.dataset.theme), scheme === "dark" ? /light/ : /dark/);
  assert.deepEqual(trouble, [], `${scheme} ${device}`);
  await context.close();
}

// What is no image is said, and the next image is answered all the same.
async function wrong(browser) {
  const context = await browser.newContext({ viewport: sizes.desktop });
  const { page, trouble } = await visit(context, open, ["status of 415"]);
  await page.waitForFunction(() => document.querySelectorAll("#model option").length === 2);
  const file = path.join(work, "broken.png");
  fs.writeFileSync(file, "no image at all");
  await page.locator("#files").setInputFiles(file);
  await page.waitForFunction(() => /not a JPEG/.test(document.getElementById("status").textContent));
  await page.locator("#files").setInputFiles(picture("ship_1.png"));
  await answered(page, "ship_1.png");
  assert.deepEqual(trouble, []);
  await context.close();
}

async function token(browser) {
  const context = await browser.newContext({ viewport: sizes.desktop });
  const { page, trouble } = await visit(context, locked, ["status of 401"]);
  await page.getByLabel("This server needs a token").fill("a-wrong-token-of-somebody");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => /needs a token/.test(document.getElementById("status").textContent));
  await page.getByLabel("This server needs a token").fill("a-token-for-this-test");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll("#model option").length === 1);
  assert.ok(await page.locator("#token-form").isHidden());
  await page.locator("#files").setInputFiles(picture("ship_1.png"));
  await answered(page, "ship_1.png");
  await explorer(page);
  assert.deepEqual(trouble, []);
  await context.close();
}

// A plain script, as another program would ask: the same answer as the page shows.
async function client() {
  const body = fs.readFileSync(picture("ship_2.png"));
  const answer = await fetch(open + "/v1/classify?k=1&name=ship_2.png", { method: "POST", body, headers: { "Content-Type": "image/png" } });
  assert.equal(answer.status, 200);
  assert.equal((await answer.json()).images[0].predictions[0].label, "ship");
  const form = new FormData();
  form.append("images", new Blob([body], { type: "image/png" }), "a.png");
  form.append("images", new Blob([body], { type: "image/png" }), "b.png");
  form.append("k", "2");
  const both = await (await fetch(open + "/v1/classify", { method: "POST", body: form })).json();
  assert.deepEqual(both.images.map((image) => [image.file, image.predictions.length]), [["a.png", 2], ["b.png", 2]]);
}

(async () => {
  const browser = await chromium.launch({ executablePath: executable, args });
  try {
    await client();
    await drive(browser, "light", "desktop");
    await drive(browser, "dark", "desktop");
    await drive(browser, "dark", "phone");
    await wrong(browser);
    await token(browser);
  } finally {
    await browser.close();
  }
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
