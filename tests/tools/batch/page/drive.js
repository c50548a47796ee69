// Drives the pages of results of vit batch and vit export: pictures, filters, order, 100,000 rows; both themes, two widths.
"use strict";
const assert = require("assert").strict;
const path = require("path");
const { launch, open, readable, sizes } = require("../../../support/pages.js");

const [executable, work] = process.argv.slice(2);
const kRows = 100000;

const count = (page) => page.locator("#count").textContent();
const choose = (page, id, value) => page.locator("#" + id).selectOption(value);

// The pictures of all visible cards are loaded.
async function pictures(page) {
  return page.evaluate(async () => {
    const all = [...document.querySelectorAll("#grid img")];
    await Promise.all(all.map((image) => image.decode()));
    return all.filter((image) => image.naturalWidth > 0 && image.getBoundingClientRect().width >= 100 && image.alt).length;
  });
}

async function small(browser, scheme, device) {
  const context = await browser.newContext({ viewport: sizes[device], colorScheme: scheme, hasTouch: device === "phone" });
  const { page, trouble } = await open(context, path.join(work, "small.html"));
  const rows = Number((await count(page)).match(/^(\d+) rows$/)[1]);
  assert.equal(await page.locator("#grid li").count() <= rows, true);
  assert.ok(await pictures(page) > 0);
  assert.match(await page.locator("main > p").first().textContent(), /rows, 1 failed, from small\.html\.rows\.jsonl; model .*; names are those in photos\//);
  await readable(page);
  await page.screenshot({ path: path.join(work, `small-${scheme}-${device}.png`), fullPage: true });
  await choose(page, "status", "failed");
  assert.equal(await count(page), `1 of ${rows} rows`);
  assert.match(await page.locator("#grid li").textContent(), /^.*failed.*broken\.png$/);
  await page.locator("#reset").click();
  await page.waitForFunction((all) => document.getElementById("count").textContent === `${all} rows`, rows);
  await page.locator("#text").fill("<a> & 100%");
  await page.waitForFunction((all) => document.getElementById("count").textContent === `1 of ${all} rows`, rows);
  await page.locator("#grid a").click();
  await page.waitForFunction(() => document.images.length === 1 && document.images[0].naturalWidth > 0);
  assert.match(decodeURIComponent(page.url()), /photos\/copy "of" <a> & 100% ü #1\.png$/);
  assert.deepEqual(trouble, [], `${scheme} ${device}`);
  await context.close();
}

async function large(browser, scheme, device) {
  const context = await browser.newContext({ viewport: sizes[device], colorScheme: scheme, hasTouch: device === "phone" });
  const { page, trouble } = await open(context, path.join(work, "large.html"));
  assert.equal(await count(page), "100,000 rows");
  const place = () => page.evaluate(() => Number(document.querySelector("#grid li").getAttribute("aria-posinset")));
  const cards = () => page.locator("#grid li").count();
  assert.ok(await cards() < 200, "only what can be seen is there");
  for (const part of [0.5, 1]) {
    await page.evaluate((to) => window.scrollTo(0, document.documentElement.scrollHeight * to), part);
    await page.waitForFunction((least) => Number(document.querySelector("#grid li:last-child").getAttribute("aria-posinset")) >= least, part * kRows);
    assert.ok(await cards() < 200);
    assert.ok(await place() > part * kRows - 400);
    assert.ok(await pictures(page) > 0);
  }
  await page.evaluate(() => window.scrollTo(0, 0));
  await choose(page, "order", "unsure");
  const least = await page.locator("#grid li b").evaluateAll((all) => all.map((each) => parseFloat(each.textContent)));
  assert.deepEqual(least, [...least].sort((a, b) => a - b));
  assert.ok(least.length > 4 && least[0] < 0.1);
  await choose(page, "order", "sure");
  assert.match(await page.locator("#grid li b").first().textContent(), /^(99\.9\d|100\.00) %$/);
  await choose(page, "label", { label: "class 7 (2,000)" });
  assert.equal(await count(page), "2,000 of 100,000 rows");
  await page.locator("#least").fill("90");
  await page.waitForFunction(() => /^(199|200|201) of 100,000 rows$/.test(document.getElementById("count").textContent));
  await page.locator("#reset").click();
  await page.waitForFunction(() => document.getElementById("count").textContent === "100,000 rows");
  await choose(page, "status", "failed");
  assert.equal(await count(page), "100 of 100,000 rows");
  await page.locator("#reset").click();
  await readable(page);
  await page.screenshot({ path: path.join(work, `large-${scheme}-${device}.png`) });
  assert.deepEqual(trouble, [], `${scheme} ${device}`);
  await context.close();
}

(async () => {
  const browser = await launch(executable);
  try {
    for (const scheme of ["light", "dark"])
      for (const device of ["desktop", "phone"]) {
        await small(browser, scheme, device);
        await large(browser, scheme, device);
      }
    console.log("all pages of results were driven");
  } finally {
    await browser.close();
  }
})().catch((error) => { console.error(error); process.exit(1); });
