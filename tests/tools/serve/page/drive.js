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
const kPatience = 240000;  // milliseconds, for machines that have other work
const picture = (name) => path.join(pictures, name);

// A page that stays silent and asks nobody but its own server.
async function visit(context, url, expected = []) {
  const page = await context.newPage();
  page.setDefaultTimeout(kPatience);
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

// When the explorer of this model is there, nothing more is asked for.
const explored = (page, model) => page.waitForFunction((name) =>
  document.getElementById("explorer").dataset.key?.startsWith(name + "/"), model);

// Files in the hands of an event, as a browser gives them to a page or to a frame in it.
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
  const first = await heat();
  await frame.getByRole("radio", { name: "Attention" }).click();
  await frame.getByText(/ looks? (in layer|at the patches)/).waitFor();
  const before = await heat();
  assert.notEqual(before, first, "relevance is shown first");
  await frame.locator("#stage").hover({ position: { x: 10, y: 10 } });
  await frame.getByText(/^Patch 0,0 looks/).waitFor();
  assert.notEqual(await heat(), before, "pointing at a patch changes the map");
  await frame.getByRole("radio", { name: "Relevance" }).click();
  await frame.getByText(/^What speaks for/).waitFor();
}

// Labels of one's own: the image is sent once, the bars follow while typing.
async function words(page, scheme, device) {
  assert.ok(await page.locator("#words").isHidden(), "a model with classes of its own needs no labels");
  const sent = [];
  const listen = (request) => sent.push(new URL(request.url()).pathname);
  page.on("request", listen);
  await page.locator("#model").selectOption("words");
  await page.getByText("school_bus.png: type labels to compare it with").waitFor();
  await explorer(page);
  const field = page.getByLabel("Labels in words, separated by commas");
  await field.pressSequentially("a ship", { delay: 20 });
  await page.waitForFunction(() => document.querySelectorAll("#answers .label").length === 1);
  await field.pressSequentially(", a frog, a truck on a road, a frog", { delay: 20 });
  await page.waitForFunction(() => [...document.querySelectorAll("#answers .label")].map((e) => e.textContent).sort().join()
    === "a frog,a ship,a truck on a road");
  await readable(page);
  const shares = await page.locator("#answers .share").allTextContents();
  assert.ok(shares.every((share) => /^[0-9.]+ %$/.test(share)), shares.join());
  assert.equal(sent.filter((path) => path === "/v1/embeddings").length, 1, "the image is sent once");
  assert.equal(sent.filter((path) => path === "/v1/attention").length, 1);
  await page.screenshot({ path: path.join(work, `words-${scheme}-${device}.png`), fullPage: true });
  await page.locator("#entries button").nth(1).click();
  await page.waitForFunction(() => document.querySelector("#name").textContent === "goldfish.png"
    && document.querySelectorAll("#answers .label").length === 3);
  page.off("request", listen);
}

async function drive(browser, scheme, device) {
  const context = await browser.newContext({ viewport: sizes[device], colorScheme: scheme, hasTouch: device === "phone" });
  const { page, trouble } = await visit(context, open);
  await page.waitForFunction(() => document.querySelectorAll("#model option").length === 3);
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
  await page.locator("#files").setInputFiles(picture("school_bus.png"));
  await answered(page, "school_bus.png");
  assert.match(await status(page), /^school_bus.png: school bus, /);
  assert.equal((await answers(page)).length, 5);
  assert.equal(await page.locator("#photo").getAttribute("alt"), "school_bus.png");
  await hover(page);

  await give(page, "drop", [picture("goldfish.png"), picture("jellyfish.png")]);
  await answered(page, "goldfish.png");
  await give(page, "paste", [picture("mushroom.png")]);
  await answered(page, "mushroom.png");
  await page.waitForFunction(() => document.querySelectorAll("#entries button").length === 4);
  await page.locator("#entries button").first().click();
  await answered(page, "school_bus.png");
  await explorer(page);
  await readable(page);
  await page.screenshot({ path: path.join(work, `answer-${scheme}-${device}.png`), fullPage: true });

  const before = await answers(page);
  await page.locator("#model").selectOption("small");
  await answered(page, "school_bus.png");
  await explored(page, "small");
  await page.waitForFunction((old) => document.querySelector("#answers .label").textContent !== old, before[0]);
  assert.equal((await answers(page)).length, 5);
  await words(page, scheme, device);
  await page.locator("#theme").click();
  assert.match(await page.evaluate(() => document.documentElement.dataset.theme), scheme === "dark" ? /light/ : /dark/);
  assert.deepEqual(trouble, [], `${scheme} ${device}`);
  await context.close();
}

// The explorer takes up most of the page: images are dropped and pasted there, too.
async function overTheExplorer(browser) {
  const context = await browser.newContext({ viewport: sizes.desktop });
  const { page, trouble } = await visit(context, open);
  await page.waitForFunction(() => document.querySelectorAll("#model option").length === 3);
  await page.locator("#files").setInputFiles(picture("school_bus.png"));
  await explorer(page);
  const frame = () => page.frames().find((one) => one !== page.mainFrame());
  await give(frame(), "drop", [picture("goldfish.png")]);
  await answered(page, "goldfish.png");
  await explored(page, "ten");
  await page.waitForFunction(() => document.getElementById("explorer").dataset.key === "ten/2");
  await explorer(page);
  await give(frame(), "paste", [picture("mushroom.png")]);
  await answered(page, "mushroom.png");
  assert.equal(await page.locator("#entries button").count(), 3);
  assert.deepEqual(trouble, []);
  await context.close();
}

// An answer that comes late, for a model that is not chosen any more, does not replace the newer one.
async function lateExplorer(browser) {
  const context = await browser.newContext({ viewport: sizes.desktop });
  const { page, trouble } = await visit(context, open);
  await page.waitForFunction(() => document.querySelectorAll("#model option").length === 3);
  let held = null;
  const holding = new Promise((done) => { held = done; });
  await page.route("**/v1/attention?*model=small*", (route) => held(route));
  await page.locator("#model").selectOption("small");
  await page.locator("#files").setInputFiles(picture("school_bus.png"));
  const late = await holding;
  await page.evaluate(() => {
    window.explorers = [];
    const frame = document.getElementById("explorer");
    new MutationObserver(() => window.explorers.push(frame.dataset.key)).observe(frame, { attributeFilter: ["data-key"] });
  });
  await page.locator("#model").selectOption("ten");
  await explored(page, "ten");
  const come = page.waitForResponse((answer) => answer.url().includes("model=small") && answer.url().includes("attention"));
  await late.continue();
  await (await come).finished();
  await page.locator("#model").selectOption("words");  // whatever the late answer does is done by then
  await explored(page, "words");
  await page.locator("#model").selectOption("ten");
  await explored(page, "ten");
  assert.deepEqual(await page.evaluate(() => window.explorers), ["ten/1", "words/1", "ten/1"]);
  assert.deepEqual(trouble, []);
  await context.close();
}

// What is no image is said, and the next image is answered all the same.
async function wrong(browser) {
  const context = await browser.newContext({ viewport: sizes.desktop });
  const { page, trouble } = await visit(context, open, ["status of 415"]);
  await page.waitForFunction(() => document.querySelectorAll("#model option").length === 3);
  const file = path.join(work, "broken.png");
  fs.writeFileSync(file, "no image at all");
  await page.locator("#files").setInputFiles(file);
  await page.waitForFunction(() => /not a JPEG/.test(document.getElementById("status").textContent));
  await page.locator("#files").setInputFiles(picture("lemon.png"));
  await answered(page, "lemon.png");
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
  await page.locator("#files").setInputFiles(picture("lemon.png"));
  await answered(page, "lemon.png");
  await explorer(page);
  assert.deepEqual(trouble, []);
  await context.close();
}

// A plain script, as another program would ask: the same answer as the page shows.
async function client() {
  const body = fs.readFileSync(picture("school_bus.png"));
  const answer = await fetch(open + "/v1/classify?k=1&name=school_bus.png", { method: "POST", body, headers: { "Content-Type": "image/png" } });
  assert.equal(answer.status, 200);
  assert.equal((await answer.json()).images[0].predictions[0].label, "school bus");
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
    await overTheExplorer(browser);
    await lateExplorer(browser);
    await wrong(browser);
    await token(browser);
  } finally {
    await browser.close();
  }
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
