// Drives the contact sheets of vit search, duplicates, cluster and pick: pictures, links, keys, a missing file; both themes, two widths.
"use strict";
const assert = require("assert").strict;
const path = require("path");
const { launch, open, readable, sizes } = require("../../../support/pages.js");

const [executable, work, images] = process.argv.slice(2);
// Sections and pictures of each page; null: it depends on the model.
const sheets = {
  duplicates: { title: /^Duplicates in photos.index$/, sections: 1, pictures: 4, missing: 0 },
  cluster: { title: /^Clusters of photos.index$/, sections: 3, pictures: null, missing: 0 },
  pick: { title: /^Images of photos.index to label next$/, sections: 1, pictures: 5, missing: 0 },
  search: { title: /^Search in photos.index$/, sections: 2, pictures: 2 * images, missing: 2 },
};

// Every picture is shown and has a name; a missing file is marked.
async function pictures(page, sheet) {
  const seen = await page.evaluate(async () => {
    const all = [...document.querySelectorAll("li img")];
    for (const image of all) image.loading = "eager";
    await Promise.all(all.map((image) => image.decode()));
    return all.map((image) => ({ width: image.naturalWidth, shown: image.getBoundingClientRect().width, name: image.alt }));
  });
  for (const image of seen) {
    assert.ok(image.width > 0 && image.shown >= 100 && image.name, JSON.stringify(image));
  }
  assert.equal(await page.locator("section").count(), sheet.sections);
  assert.equal(await page.locator(".none").count(), sheet.missing);
  if (sheet.pictures !== null) assert.equal(await page.locator("li").count(), sheet.pictures);
  assert.equal(await page.locator("li").count(), await page.locator("a").count() + sheet.missing);
  if (sheet.missing) assert.match(await page.locator(".none").first().textContent(), /^no such file$/);
}

// Links open the picture itself, by pointer and by key, for any file name.
async function links(page) {
  const addresses = await page.evaluate(() => [...document.querySelectorAll("a")].map((link) => link.href));
  for (const address of new Set(addresses)) {
    const file = decodeURIComponent(new URL(address).pathname);
    assert.ok(file.startsWith(path.join(work, "photos") + "/"), file);
  }
  const own = page.url();
  await page.keyboard.press("Tab");
  const outline = await page.evaluate(() => [document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle]);
  assert.deepEqual(outline, ["A", "solid"], "the focus can be seen");
  await page.keyboard.press("Enter");
  await page.waitForFunction((before) => location.href !== before && document.images.length === 1 && document.images[0].naturalWidth > 0, own);
  await page.goBack();
}

async function drive(browser, name, scheme, device) {
  const context = await browser.newContext({ viewport: sizes[device], colorScheme: scheme, hasTouch: device === "phone" });
  const { page, trouble } = await open(context, path.join(work, name + ".html"));
  assert.match(await page.title(), sheets[name].title);
  await pictures(page, sheets[name]);
  await readable(page);
  await page.screenshot({ path: path.join(work, `${name}-${scheme}-${device}.png`), fullPage: true });
  await links(page);
  assert.deepEqual(trouble, [], `${name} ${scheme} ${device}`);
  await context.close();
}

// The group of planted copies: the one to keep is marked, and every name is shown as it is.
async function duplicates(browser) {
  const context = await browser.newContext({ viewport: sizes.desktop });
  const { page } = await open(context, path.join(work, "duplicates.html"));
  assert.equal(await page.locator(".badge").count(), 1);
  assert.equal(await page.locator("li").first().locator(".badge").textContent(), "keep");
  assert.match(await page.locator("main > p").first().textContent(), /1 group of duplicates, 3 images .* that could go; nothing was deleted/);
  const odd = page.locator("li", { hasText: 'copy "of" <a> & 100% ü #1.png' });
  assert.equal(await odd.locator("b").textContent(), "1.0000");
  assert.match(await odd.locator("p").textContent(), /same content$/);
  assert.equal(await page.locator("main > p").nth(1).textContent(), "Names are those in " + path.join(work, "photos") + "/");
  await odd.locator("a").click();
  await page.waitForFunction(() => document.images.length === 1 && document.images[0].naturalWidth > 0);
  assert.match(decodeURIComponent(page.url()), /copy "of" <a> & 100% ü #1\.png$/);
  await context.close();
}

(async () => {
  const browser = await launch(executable);
  try {
    for (const name of Object.keys(sheets))
      for (const scheme of ["light", "dark"])
        for (const device of ["desktop", "phone"]) await drive(browser, name, scheme, device);
    await duplicates(browser);
    console.log("all contact sheets were driven");
  } finally {
    await browser.close();
  }
})().catch((error) => { console.error(error); process.exit(1); });
