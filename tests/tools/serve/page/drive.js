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

// A page that must log nothing and send requests to its own server only.
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

// The explorer of the current image, when it has shown where the model looks.
async function explorer(page) {
  const frame = page.frameLocator("#explorer");
  await frame.locator("#status:not(:empty)").waitFor();
  return frame;
}

// Waits for the explorer of this model, after which no more requests are sent.
const explored = (page, model) => page.waitForFunction((name) =>
  document.getElementById("explorer").dataset.key?.startsWith(name + "/"), model);

// Files carried by an event, as a browser gives them to a page or to a frame in it.
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
  const small = await page.evaluate(() => [...document.querySelectorAll("button, select, input")]
    .filter((e) => e.checkVisibility() && Math.min(e.offsetWidth, e.offsetHeight) < 24).map((e) => e.id));
  assert.deepEqual(small, [], "every control is large enough to touch");
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
  const pointed = await heat();
  await frame.getByRole("gridcell", { name: "layer 0, head 0" }).click();
  await frame.getByText(/looks? in layer 0, head 0|layer 0, head 0:/).first().waitFor();
  assert.notEqual(await heat(), pointed, "another layer and head, another map");
  await frame.getByRole("radio", { name: "Relevance" }).click();
  await frame.getByText(/^What speaks for/).waitFor();
  const second = frame.locator("#answers button").nth(1);
  await second.click();
  await frame.getByText(`What speaks for ${await second.locator("span").first().textContent()}:`).waitFor();
  assert.notEqual(await heat(), first, "another class, another map");
  const [file] = await Promise.all([page.waitForEvent("download"), frame.locator("#save-png").click()]);
  assert.match(file.suggestedFilename(), /[.]png$/);
  // It looks like a part of the page: one button for the theme, and the picture fits the screen.
  assert.ok(await frame.locator("#theme").isHidden());
  const stage = await frame.locator("#stage").boundingBox();
  assert.ok(stage.height <= 0.8 * page.viewportSize().height, `${stage.height} pixels high`);
}

// The landmarks and headings that a screen reader lists.
async function landmarks(page) {
  for (const role of ["banner", "main"]) assert.equal(await page.getByRole(role).count(), 1, role);
  assert.equal(await page.getByRole("heading", { level: 1 }).count(), 1);
  for (const name of ["Images", "school_bus.png", "Images of this visit", "What the model looked at"])
    assert.equal(await page.getByRole("region", { name, exact: true }).count(), 1, name);
  assert.equal(await page.getByRole("status").count(), 1);
  assert.equal(await page.getByRole("combobox", { name: "Model" }).count(), 1);
}

// History and models without a pointer.
async function keys(page) {
  await page.locator("#entries button").nth(1).focus();
  await page.keyboard.press("Enter");
  await answered(page, "goldfish.png");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Space");
  await answered(page, "school_bus.png");
  assert.equal(await page.locator("#entries button[aria-current=true]").count(), 1);
  await page.waitForFunction(() => document.getElementById("explore").getAttribute("aria-busy") === "false");
}

// The user's own labels: the image is sent once, the bars follow while typing.
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
  // The explorer then shows the relevance for each label.
  await page.waitForFunction(() => /^words[/]1[/]a ship[/]a frog[/]a truck on a road$/.test(document.getElementById("explorer").dataset.key));
  const frame = await explorer(page);
  await frame.getByText(/^What speaks for/).first().waitFor();
  assert.equal(await frame.locator("#answers button").count(), 3);
  await page.screenshot({ path: path.join(work, `words-${scheme}-${device}.png`), fullPage: true });
  await page.locator("#entries button").nth(1).click();
  await page.waitForFunction(() => document.querySelector("#name").textContent === "goldfish.png"
    && document.querySelectorAll("#answers .label").length === 3);
  await page.waitForFunction(() => document.getElementById("explorer").dataset.key.startsWith("words/2/a ship"));
  await explorer(page);
  page.off("request", listen);
}

async function drive(browser, scheme, device) {
  const context = await browser.newContext({ viewport: sizes[device], colorScheme: scheme, hasTouch: device === "phone", isMobile: device === "phone" });
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
  await keys(page);
  await landmarks(page);
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
  await page.locator("#model").selectOption("words");  // by then the late answer has had its effect, if any
  await explored(page, "words");
  await page.locator("#model").selectOption("ten");
  await explored(page, "ten");
  assert.deepEqual(await page.evaluate(() => window.explorers), ["ten/1", "words/1", "ten/1"]);
  assert.deepEqual(trouble, []);
  await context.close();
}

// A camera's picture, and a format that the server reads and this browser does not show.
async function photograph(browser) {
  const context = await browser.newContext({ viewport: sizes.phone, hasTouch: true, isMobile: true });
  const { page, trouble } = await visit(context, open);
  await page.waitForFunction(() => document.querySelectorAll("#model option").length === 3);
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.getByRole("button", { name: "Photograph" }).tap()]);
  assert.equal(await chooser.element().getAttribute("capture"), "environment");
  await chooser.setFiles(picture("umbrella.png"));
  await answered(page, "umbrella.png");
  await page.locator("#files").setInputFiles({ name: "grey.tif", mimeType: "image/tiff", buffer: tiff() });
  await answered(page, "grey.tif");
  await page.waitForFunction(() => {
    const photo = document.getElementById("photo");
    return photo.src.startsWith("data:image/jpeg") && photo.checkVisibility() && photo.naturalWidth > 0;
  });
  assert.deepEqual(trouble, []);
  await context.close();
}

// 16 x 16 grey pixels, one strip.
function tiff() {
  const entries = [[256, 16], [257, 16], [258, 8], [259, 1], [262, 1], [273, 110], [277, 1], [279, 256]];
  const bytes = Buffer.alloc(366, 128);
  bytes.write("II*\0\x08\0\0\0", "latin1");
  bytes.writeUInt16LE(entries.length, 8);
  entries.forEach(([tag, value], i) => {
    bytes.writeUInt16LE(tag, 10 + 12 * i);
    bytes.writeUInt16LE(4, 12 + 12 * i);
    bytes.writeUInt32LE(1, 14 + 12 * i);
    bytes.writeUInt32LE(value, 18 + 12 * i);
  });
  bytes.writeUInt32LE(0, 10 + 12 * entries.length);
  return bytes;
}

// A file that is no image is reported, and the next image is still answered.
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

// Requests of another program, in each form: the answer of `vit classify --json`, to the last digit.
async function client() {
  const expected = JSON.parse(fs.readFileSync(path.join(work, "expected.json"))).images[0].predictions;
  const body = fs.readFileSync(picture("school_bus.png"));
  const classes = async (options, query = "") => {
    const answer = await fetch(`${open}/v1/classify${query}`, { method: "POST", ...options });
    assert.equal(answer.status, 200);
    return (await answer.json()).images;
  };
  const [plain] = await classes({ body, headers: { "Content-Type": "image/png" } }, "?name=school_bus.png");
  assert.deepEqual(plain, { file: "school_bus.png", predictions: expected });
  const form = new FormData();
  for (const name of ["a.png", "b.png"]) form.append("images", new Blob([body], { type: "image/png" }), name);
  form.append("k", "2");
  assert.deepEqual(await classes({ body: form }), ["a.png", "b.png"].map((file) => ({ file, predictions: expected.slice(0, 2) })));
  const json = { images: [`data:image/png;base64,${body.toString("base64")}`] };
  const [coded] = await classes({ body: JSON.stringify(json), headers: { "Content-Type": "application/json" } });
  assert.deepEqual(coded.predictions, expected);
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
    await photograph(browser);
    await wrong(browser);
    await token(browser);
  } finally {
    await browser.close();
  }
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
