// Compares what a page shows with the weights that vit attention --matrix writes.
"use strict";
const assert = require("assert").strict;
const fs = require("fs");

// A float32 array [layers, heads, queries, keys] in NumPy's format.
function readWeights(file) {
  const bytes = fs.readFileSync(file);
  const start = 10 + bytes.readUInt16LE(8);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length));
}

// "12.5" stands for what is rounded to it.
const halfDigit = (text) => 0.5 * 10 ** -(text.split(".")[1] || "").length;

function near(text, weight, relative, what) {
  const off = Math.abs(Number(text) - 100 * weight);
  assert.ok(off <= 1.001 * (relative * 100 * weight + halfDigit(text)) + 0.005, `${what}: ${text} % is shown, ${100 * weight} % is there`);
}

// One head and query: the largest weight and the prefix's share in words, every patch in colour.
async function compareRow(page, facts, row, layer, head, query) {
  const first = facts.prefix.length, what = `layer ${layer}, head ${head}, query ${query}`;
  await page.evaluate((hash) => { location.hash = hash; }, `#m=attention&l=${layer}&h=${head}&q=${query}&k=gray&p=100&s=0&o=100`);
  await page.waitForFunction(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))));
  const { status, shown } = await page.evaluate(() => {
    const heat = document.getElementById("heat"), copy = document.createElement("canvas");
    [copy.width, copy.height] = [heat.width, heat.height];
    const context = copy.getContext("2d", { willReadFrequently: true });
    context.drawImage(heat, 0, 0);
    const data = context.getImageData(0, 0, heat.width, heat.height).data;
    return { status: document.getElementById("status").textContent, shown: Array.from(data).filter((_, i) => i % 4 === 0) };
  });
  assert.ok(status.includes(`in layer ${layer}, head ${head}: `), `${what}: ${status}`);
  const [, r, c, most] = /most at patch (\d+),(\d+) \(([\d.]+) %\)/.exec(status);
  const patches = row.subarray(first), largest = Math.max(...patches);
  near(most, patches[+r * facts.cols + +c], 1 / 70, what);
  near(most, largest, 2 / 70, what);
  const kept = /([\d.]+) % stay/.exec(status);
  assert.equal(kept === null, first === 0);
  if (kept) near(kept[1], row.subarray(0, first).reduce((a, b) => a + b), 0, what + ", prefix");
  assert.equal(shown.length, patches.length);
  // The colour of what is up to a 30th of the largest below or above.
  const greys = Buffer.from(facts.colormaps.find(({ name }) => name === "gray").colours, "base64");
  const grey = (part) => greys[3 * Math.round(255 * Math.min(1, Math.max(0, part)))];
  shown.forEach((seen, i) => {
    const part = patches[i] / largest;
    assert.ok(seen >= grey(part - 1 / 30) - 1 && seen <= grey(part + 1 / 30) + 1, `${what}: patch ${i} has ${part} of the largest and is drawn in grey ${seen}, not ${grey(part)}`);
  });
}

async function compareWeights(page, facts, file) {
  const weights = readWeights(file);
  const tokens = facts.prefix.length + facts.rows * facts.cols;
  assert.equal(weights.length, facts.layers * facts.heads_per_layer * tokens * tokens);
  for (let layer = 0; layer < facts.layers; ++layer)
    for (let head = 0; head < facts.heads_per_layer; ++head)
      for (const query of [0, facts.prefix.length, Math.floor(0.6 * tokens), tokens - 1]) {
        const start = ((layer * facts.heads_per_layer + head) * tokens + query) * tokens;
        await compareRow(page, facts, weights.subarray(start, start + tokens), layer, head, query);
      }
}

module.exports = { compareWeights };
