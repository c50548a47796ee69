// Drives the explorer pages of a folder: pointer, keys, every control, both themes, two widths, the weights they show.
"use strict";
const assert = require("assert").strict;
const fs = require("fs");
const path = require("path");
const { chromium } = require("playwright-core");
const { compareWeights } = require("./values.js");

const [executable, work] = process.argv.slice(2);
const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const sizes = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

// A page that must stay silent and alone.
async function open(context, file, hash = "") {
  const page = await context.newPage();
  const trouble = [];
  page.on("console", (message) => { if (message.type() === "error" || message.type() === "warning") trouble.push(message.text()); });
  page.on("pageerror", (error) => trouble.push(String(error)));
  page.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url())) trouble.push("request to " + request.url()); });
  await page.goto("file://" + file + hash);
  await page.waitForFunction(() => document.getElementById("status").textContent !== "");
  return { page, trouble };
}

const heat = (page) => page.evaluate(() => document.getElementById("heat").toDataURL());
const status = (page) => page.locator("#status").textContent();
const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// What `act` changes on the map.
async function changes(page, what, act) {
  const before = await heat(page);
  await act();
  await settled(page);
  assert.notEqual(await heat(page), before, what + " changes nothing on the map");
}

// The map that is shown first; the pointer reads it.
async function relevance(page, facts, at) {
  assert.match(await status(page), /^What speaks for/, "relevance is shown first, as in a picture");
  const shown = await heat(page);
  await at(0.1, 0.1);
  await settled(page);
  assert.equal(await heat(page), shown, "relevance does not depend on the pointer");
  const read = parseFloat((await page.locator("#readout").textContent()).replace("patch 0,0: ", ""));
  const exact = facts.relevance[0].tokens[facts.prefix.length];
  assert.ok(Math.abs(read - exact) <= 0.06 * Math.abs(exact), `${read} is read, ${exact} is there`);
  await page.getByRole("radio", { name: "Attention" }).click();
  await settled(page);
}

async function pointer(page, facts) {
  const box = await page.locator("#stage").boundingBox();
  const at = (x, y) => page.mouse.move(box.x + x * box.width, box.y + y * box.height);
  if (facts.relevance.length) await relevance(page, facts, at);
  const resting = await heat(page);
  await changes(page, "pointing at a patch", () => at(0.1, 0.1));
  assert.match(await status(page), /^Patch 0,0 looks/);
  assert.match(await page.locator("#readout").textContent(), /^patch 0,0: [0-9.e-]+/);
  await changes(page, "pointing at another patch", () => at(0.9, 0.9));
  await page.mouse.move(box.x + box.width + 40, 2);
  await settled(page);
  assert.equal(await heat(page), resting, "leaving the image brings the query back");
  await page.mouse.click(box.x + 0.1 * box.width, box.y + 0.1 * box.height);
  await page.mouse.move(box.x + box.width + 40, 2);
  await settled(page);
  assert.match(await status(page), /^Patch 0,0 looks/, "a click keeps the patch");
  assert.match(page.url(), /#.*q=/);
  const kept = await heat(page);
  await at(0.9, 0.9);
  await settled(page);
  assert.equal(await heat(page), kept, "the pointer reads the map of a patch that is kept");
  assert.ok(await page.locator("#readout").isVisible());
  await changes(page, "a key while the pointer rests on the image", () => page.keyboard.press("x"));
  await page.keyboard.press("m");
  await page.keyboard.press("c");
  await at(0.1, 0.1);
  await changes(page, "a key while the pointer is the query", () => page.keyboard.press("x"));
  await page.keyboard.press("m");
  await page.mouse.move(box.x + box.width + 40, 2);
  await settled(page);
  assert.equal(await heat(page), resting, "C goes back to the first query");
}

async function keyboard(page, facts) {
  await page.locator("#stage").focus();
  const along = facts.layers > facts.heads_per_layer;  // the longer of layers and heads lies across
  const [back, forth] = along ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  const [less, more] = along ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
  await changes(page, back, () => page.keyboard.press(back));
  assert.match(page.url(), /l=/);
  await page.keyboard.press(forth);
  await changes(page, more, () => page.keyboard.press(more));
  assert.match(await status(page), /head 0/);
  await changes(page, less, () => page.keyboard.press(less));
  assert.match(await status(page), /mean of/);
  await changes(page, "X", () => page.keyboard.press("x"));
  assert.match(await status(page), /max of/);
  await page.keyboard.press("m");
  await changes(page, "shift and an arrow", () => page.keyboard.press("Shift+ArrowRight"));
  assert.match(await status(page), /^Patch/);
  await page.keyboard.press("Escape");
  await changes(page, "2 for rollout", () => page.keyboard.press("2"));
  assert.match(await status(page), /through all layers/);
  if (facts.relevance.length) {
    await changes(page, "3 for relevance", () => page.keyboard.press("3"));
    assert.match(await status(page), /^What speaks for/);
  }
  await page.keyboard.press("1");
  for (const key of ["o", "p", "g", "g"]) await page.keyboard.press(key);
}

// Everything can be reached and used without a pointer.
async function groups(page, facts) {
  await page.locator("#methods button").first().focus();
  await changes(page, "an arrow among the methods", () => page.keyboard.press("ArrowRight"));
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Rollout");
  await changes(page, "the arrow back", () => page.keyboard.press("ArrowLeft"));
  assert.match(page.url(), facts.relevance.length ? /m=attention/ : /^(?!.*m=)/);
  await page.locator("#matrix button[aria-selected=true]").focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowLeft");
  await settled(page);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-selected")), "true", "the focus walks along");
}

// The image shines through where the map is low, and the chosen thumbnail can be seen.
async function looks(page, device) {
  const alphas = await page.evaluate(() => {
    const canvas = document.getElementById("heat");
    const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const found = [255, 0];
    for (let i = 3; i < data.length; i += 4) {
      found[0] = Math.min(found[0], data[i]);
      found[1] = Math.max(found[1], data[i]);
    }
    return found;
  });
  assert.equal(alphas[1], 255);
  assert.ok(alphas[0] >= 127 && alphas[0] < 255);
  await page.getByRole("radio", { name: "Attention" }).click();
  await settled(page);
  const cut = await page.evaluate(() => {
    const strip = document.querySelector("#matrix").parentElement;
    return document.querySelectorAll("#matrix [role=columnheader]").length <= 14 ? strip.scrollWidth - strip.clientWidth : 0;
  });
  assert.ok(cut <= 0 || device === "phone", `the thumbnails are ${cut} pixels too wide`);
  const seen = await page.evaluate(() => {
    const box = document.querySelector("#matrix button[aria-selected=true]").getBoundingClientRect();
    const around = document.querySelector("#matrix").parentElement.getBoundingClientRect();
    return box.left >= around.left && box.right <= around.right + 1;
  });
  assert.ok(seen, "the chosen thumbnail is in sight");
  const gap = await page.evaluate(() => document.querySelector("#matrix button").getBoundingClientRect().left
    - document.querySelector("#matrix").getBoundingClientRect().left);
  assert.ok(gap < 100 || device === "phone", `the thumbnails begin ${gap} pixels from the left`);
  const first = page.getByRole("radio", { name: "Relevance" });
  if (await first.count()) await first.click();
  await settled(page);
}

async function controls(page, facts) {
  for (const name of ["Rollout", "Attention"])
    await changes(page, name, () => page.getByRole("radio", { name }).click());
  await changes(page, "Max", () => page.getByRole("radio", { name: "Max" }).click());
  await page.getByRole("radio", { name: "Mean", exact: true }).click();
  for (const button of await page.locator("#queries button").all()) {
    await button.click();
    await settled(page);
    assert.equal(await button.getAttribute("aria-checked"), "true");
  }
  await page.locator("#queries button").first().click();
  for (const name of ["viridis", "turbo", "gray", "inferno"])
    await changes(page, name, () => page.locator("#colormap").selectOption(name));
  await page.locator("#opacity").fill("30");
  await settled(page);
  assert.equal(await page.locator("#heat").evaluate((canvas) => canvas.style.opacity), "0.3");
  await page.locator("#threshold").fill("50");
  await settled(page);
  assert.ok(await page.locator("#marks path").count() > 0, "the outline is drawn");
  await changes(page, "clipping", () => page.locator("#clip").fill("90"));
  await page.locator("#opacity").fill("80");
  const wide = () => page.locator("#heat").evaluate((canvas) => canvas.width);
  assert.ok(await wide() >= 8 * facts.cols, "smoothed colours have many pixels");
  await page.locator("#smooth").uncheck();
  await settled(page);
  assert.equal(await wide(), facts.cols, "else a patch has one");
  await page.locator("#lines").check();
  await settled(page);
  for (const [i, answer] of facts.relevance.entries()) {
    await page.locator("#answers button").nth(i).click();
    await settled(page);
    assert.ok((await status(page)).includes(answer.label));
  }
  await page.locator("#theme").click();
  assert.match(await page.evaluate(() => document.documentElement.dataset.theme), /light|dark/);
  await page.locator("#theme").click();
}

// Several phrases: each has its own small map, which can be chosen.
async function compare(page, facts) {
  const views = page.locator("#compare button");
  assert.equal(await page.locator(".compare").isVisible(), facts.compare);
  assert.equal(await views.count(), facts.compare ? facts.relevance.length : 0);
  for (let i = 0; i < (await views.count()); ++i) {
    await views.nth(i).click();
    await settled(page);
    assert.equal(await views.nth(i).getAttribute("aria-pressed"), "true");
    assert.ok((await status(page)).includes(facts.relevance[i].label));
    const drawn = await views.nth(i).locator("canvas").evaluate((canvas) => new Set(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data).size);
    assert.ok(drawn > 2, "a map is drawn for " + facts.relevance[i].label);
  }
}

async function heads(page, facts) {
  const thumbs = page.locator("#matrix button");
  const rows = facts.layers + (facts.pool ? 1 : 0);
  assert.equal(await thumbs.count(), rows * (facts.heads_per_layer + 1));
  const thumb = page.getByRole("gridcell", { name: "layer 0, head 0" });
  await changes(page, "a thumbnail", () => thumb.click());
  assert.equal(await thumb.getAttribute("aria-selected"), "true");
  assert.match(await status(page), /layer 0, head 0/);
  assert.match(await page.locator("#head-facts").textContent(), /Layer 0, head 0: .*px far/);
  assert.equal(await page.locator("#distance .dot").count(), facts.layers * facts.heads_per_layer);
  await page.locator("#distance .dot").last().click({ force: true });
  await settled(page);
  assert.match(await status(page), new RegExp(`layer ${facts.layers - 1}, head ${facts.heads_per_layer - 1}`));
  await page.locator("#patterns .cell").first().click();
  await settled(page);
  assert.match(await status(page), /layer 0, head 0/);
}

// What is seen, as a file.
async function saving(page, facts) {
  const saved = async (id) => {
    const [file] = await Promise.all([page.waitForEvent("download"), page.locator(id).click()]);
    assert.match(file.suggestedFilename(), /^image\d*-.*\.(png|svg)$/);
    return fs.readFileSync(await file.path());
  };
  const svg = (await saved("#save-svg")).toString();
  assert.match(svg, /^<svg xmlns/);
  assert.ok(svg.includes(facts.title.replace(/&/g, "&amp;")));
  assert.equal(svg.match(/data:image\//g).length, 3, "image, map and bar");
  const png = await saved("#save-png");
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  const natural = await page.locator("#photo").evaluate((photo) => photo.naturalWidth);
  assert.equal(png.readUInt32BE(16), natural + 40);
}

// The state in the address gives the same picture in another tab.
async function deepLink(context, page, file) {
  const hash = new URL(page.url()).hash;
  assert.ok(hash.length > 1);
  const again = await open(context, file, hash);
  assert.equal(await heat(again.page), await heat(page));
  assert.equal(await status(again.page), await status(page));
  const odd = await open(context, file, "#l=99&h=x&q=-4&k=none&o=1e9");
  assert.deepEqual(odd.trouble, []);
  await again.page.close();
  await odd.page.close();
}

async function values(context, name) {
  const { page, trouble } = await open(context, path.join(work, name + ".html"));
  const facts = await page.evaluate(() => JSON.parse(document.getElementById("facts").textContent));
  await compareWeights(page, facts, path.join(work, name + ".npy"));
  assert.deepEqual(trouble, []);
  await page.close();
}

// What the page says instead of maps, where they cannot be unpacked; the rest of it stays silent.
async function sorry(browser, file, change, message) {
  const context = await browser.newContext({ offline: true });
  await context.addInitScript(change);
  const { page, trouble } = await open(context, file);
  assert.match(await status(page), message);
  assert.ok(await page.locator("#photo").isVisible());
  await page.keyboard.press("2");
  await page.locator("#matrix button").first().click();
  await settled(page);
  assert.match(await status(page), message);
  assert.deepEqual(trouble, []);
  await context.close();
}

async function failures(browser, file) {
  await sorry(browser, file, () => { delete window.DecompressionStream; }, /cannot be shown: this browser is too old/);
  const cut = path.join(work, "damaged.htm");
  fs.writeFileSync(cut, fs.readFileSync(file, "utf8").replace(/(id="attention">[^<]{400})[^<]*/, "$1"));
  await sorry(browser, cut, () => {}, /cannot be shown: the page is damaged/);
}

async function readable(page) {
  const nameless = await page.evaluate(() => [...document.querySelectorAll("button, input, select")]
    .filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label") || e.title || e.labels?.length)).length);
  assert.equal(nameless, 0, "every control has a name");
  assert.equal(await page.locator("main").count(), 1);
  assert.equal(await page.locator("[role=application]:not([aria-label])").count(), 0);
  const unnamed = await page.locator("[role=columnheader], [role=rowheader]")
    .evaluateAll((cells) => cells.filter((cell) => !cell.textContent.trim()).length);
  assert.equal(unnamed, 0, "every row and column of the thumbnails has a name");
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `the page is ${wide} pixels too wide`);
}

// Said and not asserted: the machine may have other work.
const firstPaint = (page) => page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0);

async function drive(browser, name) {
  const paints = [];
  const file = path.join(work, name + ".html");
  for (const scheme of ["light", "dark"])
    for (const [device, viewport] of Object.entries(sizes)) {
      const context = await browser.newContext({ viewport, colorScheme: scheme, hasTouch: device === "phone", offline: true });
      const { page, trouble } = await open(context, file);
      const facts = await page.evaluate(() => JSON.parse(document.getElementById("facts").textContent));
      await readable(page);
      paints.push(Math.round(await firstPaint(page)));
      await looks(page, device);
      await page.screenshot({ path: path.join(work, `${name}-${scheme}-${device}.png`), fullPage: true });
      if (device === "phone") {
        await page.locator("#stage").tap({ position: { x: 20, y: 20 } });
        await settled(page);
        assert.match(await status(page), /^Patch 0,0/);
      } else {
        await pointer(page, facts);
        await keyboard(page, facts);
        await groups(page, facts);
        await heads(page, facts);
        await controls(page, facts);
        await compare(page, facts);
        await saving(page, facts);
        await deepLink(context, page, file);
        await values(context, name);
      }
      assert.deepEqual(trouble, [], `${name} ${scheme} ${device}`);
      await context.close();
    }
  console.log(`${name}: driven, first paint after ${paints.join(", ")} ms`);
}

(async () => {
  const browser = await chromium.launch({ executablePath: executable, args });
  try {
    // "many" has as many patches as a large model: only its weights are looked at.
    const names = fs.readdirSync(work).filter((f) => f.endsWith(".html") && f !== "many.html").map((f) => f.slice(0, -5));
    for (const name of names) await drive(browser, name);
    const context = await browser.newContext({ offline: true });
    await values(context, "many");
    await context.close();
    await failures(browser, path.join(work, "timm_vit.html"));
  } finally {
    await browser.close();
  }
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
