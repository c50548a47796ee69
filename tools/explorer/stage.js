// The image, the map over it, the query patch, and the description.
const stage = $("stage"), heat = $("heat"), marks = $("marks");
const aspect = (cols * facts.patch.width) / (rows * facts.patch.height);
document.documentElement.style.setProperty("--aspect", aspect);
marks.setAttribute("viewBox", `0 0 ${cols} ${rows}`);
marks.setAttribute("preserveAspectRatio", "none");

// Catmull and Rom's cubic along one axis, as in the pictures of vit attention: `factor` numbers for each of `count`,
// of `lines` series that start `pitch` apart, whose numbers are `step` apart.
function stretched(values, count, lines, step, pitch, factor) {
  const out = new Float32Array(count * factor * lines);
  for (let o = 0; o < count * factor; ++o) {
    const place = (o + 0.5) / factor - 0.5, below = Math.floor(place), t = place - below;
    const weights = [0.5 * (2 * t ** 2 - t ** 3 - t), 0.5 * (3 * t ** 3 - 5 * t ** 2 + 2), 0.5 * (4 * t ** 2 - 3 * t ** 3 + t), 0.5 * (t ** 3 - t ** 2)];
    for (let k = 0; k < 4; ++k) {
      const at = step * Math.min(count - 1, Math.max(0, below + k - 1));
      for (let line = 0; line < lines; ++line)
        out[step === 1 ? line * count * factor + o : o * lines + line] += weights[k] * values[line * pitch + at];
    }
  }
  return out;
}

// Odd, so that the middle of a patch is a pixel and keeps its number.
const fine = 2 * Math.ceil(160 / Math.max(rows, cols)) + 1;
const smoothed = (shown) => stretched(stretched(shown, cols, rows, 1, cols, fine), rows, cols * fine, cols * fine, 1, fine);

// With `sheer` the image is visible where the map is low, and the colours may be smoothed.
function paint(canvas, map, { low, high }, sheer) {
  const smooth = sheer && state.smooth, factor = smooth ? fine : 1;
  const values = smooth ? smoothed(map.subarray(first)) : map.subarray(first);
  if (canvas.width !== cols * factor) [canvas.width, canvas.height] = [cols * factor, rows * factor];
  const context = canvas.getContext("2d");
  const image = context.createImageData(cols * factor, rows * factor), data = image.data;
  const colours = paletteOf(state.colormap);
  for (let i = 0; i < values.length; ++i) {
    const part = Math.min(1, Math.max(0, (values[i] - low) / (high - low))), place = 3 * Math.round(255 * part);
    data[4 * i] = colours[place];
    data[4 * i + 1] = colours[place + 1];
    data[4 * i + 2] = colours[place + 2];
    data[4 * i + 3] = sheer ? 255 * (0.5 + 0.5 * part) : 255;
  }
  context.putImageData(image, 0, 0);
}

// Rollout gives something to every patch: from 0 it would be nearly one colour.
function scaleOf(map, rollout) {
  const shown = map.subarray(first), low = rollout ? shown.reduce((a, b) => Math.min(a, b)) : 0;
  return { low, high: Math.max(percentile(shown, state.clip), low + 1e-12) };
}

// Edges of the set as one path: between members and others, in patches.
function outline(members) {
  const inside = (r, c) => r >= 0 && c >= 0 && r < rows && c < cols && members[r * cols + c];
  let path = "";
  for (let r = 0; r < rows; ++r)
    for (let c = 0; c < cols; ++c) {
      if (!inside(r, c)) continue;
      if (!inside(r - 1, c)) path += `M${c} ${r}h1`;
      if (!inside(r + 1, c)) path += `M${c} ${r + 1}h1`;
      if (!inside(r, c - 1)) path += `M${c} ${r}v1`;
      if (!inside(r, c + 1)) path += `M${c + 1} ${r}v1`;
    }
  return path;
}

function drawMarks(map) {
  const query = currentQuery();
  let svg = "";
  if (state.lines) {
    let path = "";
    for (let c = 1; c < cols; ++c) path += `M${c} 0V${rows}`;
    for (let r = 1; r < rows; ++r) path += `M0 ${r}H${cols}`;
    svg += `<path d="${path}" fill="none" stroke="#fff" stroke-opacity=".35" stroke-width="1" vector-effect="non-scaling-stroke"/>`;
  }
  if (state.threshold > 0) {
    const path = outline(massSet(map.subarray(first), state.threshold / 100));
    svg += `<path d="${path}" fill="none" stroke="#0b1f1c" stroke-width="4" vector-effect="non-scaling-stroke"/>`;
    svg += `<path d="${path}" fill="none" stroke="#7dffb0" stroke-width="2" vector-effect="non-scaling-stroke"/>`;
  }
  if (typeof query === "number" && query >= first && state.method !== "relevance") {
    const r = Math.floor((query - first) / cols), c = (query - first) % cols;
    const box = `x="${c}" y="${r}" width="1" height="1" fill="none" vector-effect="non-scaling-stroke"`;
    svg += `<rect ${box} stroke="#06231f" stroke-width="5"/><rect ${box} stroke="#5ee7ff" stroke-width="2.5"/>`;
  }
  marks.innerHTML = svg;
}

function percent(value, digits = value >= 0.1 ? 3 : 2) {
  const text = (100 * value).toPrecision(digits);
  return (text.includes("e+") ? "100" : text) + " %";
}
// As many digits as the packed weights have.
const weightText = (value) => percent(value, 2);

function describeState(map) {
  let best = first;
  for (let i = first; i < tokens; ++i) if (map[i] > map[best]) best = i;
  if (state.method === "relevance")
    return `What speaks for ${facts.relevance[state.target].label}: most of all ${tokenName(best)}.`;
  const layer = shownLayer(), rollout = state.method === "rollout";
  const who = tokenName(rollout || layer === layers ? currentQuery() : layerQuery(currentQuery()));
  const where = rollout ? "through all layers"
    : layer === layers ? `at the patches, ${headName(state.head)}` : `in layer ${layer}, ${headName(state.head)}`;
  let kept = 0;
  for (let i = 0; i < first; ++i) kept += map[i];
  const prefixText = first ? ` ${percent(kept)} stay with ${prefix.join(", ")}.` : "";
  return `${who[0].toUpperCase()}${who.slice(1)} ${who === "all patches" ? "look" : "looks"} ${where}: most at ${tokenName(best)} (${weightText(map[best])}).${prefixText}`;
}

const headName = (head) => (typeof head === "number" ? `head ${head}` : `${head} of ${heads} heads`);

const numberText = (value) => (value === 0 ? "0" : state.method === "relevance" ? value.toPrecision(2) : weightText(value));

// What the map has at the patch under the pointer.
function readout(map) {
  const box = $("readout");
  box.hidden = pointed === null;
  if (pointed === null) return;
  box.textContent = `${tokenName(pointed)}: ${numberText(map[pointed])}`;
  const r = Math.floor((pointed - first) / cols), c = (pointed - first) % cols;
  box.style.left = `${(100 * (c + 0.5)) / cols}%`;
  box.style.top = `${(100 * (r + 0.5)) / rows}%`;
  box.classList.toggle("to-left", c > cols / 2);
  box.classList.toggle("below", r < rows / 4);
}

listeners.push(() => {
  const map = currentMap(), scale = scaleOf(map, state.method === "rollout");
  paint(heat, map, scale, true);
  heat.style.opacity = state.opacity / 100;
  // Colours of the image must not be confused with those of the map.
  $("photo").style.filter = `saturate(${1 - 0.6 * state.opacity / 100})`;
  drawMarks(map);
  readout(map);
  const relevance = state.method === "relevance";
  const context = $("bar").getContext("2d"), image = context.createImageData(256, 1), colours = paletteOf(state.colormap);
  for (let i = 0; i < 256; ++i) image.data.set([colours[3 * i], colours[3 * i + 1], colours[3 * i + 2], 255], 4 * i);
  context.putImageData(image, 0, 0);
  $("what").textContent = relevance ? "relevance per patch" : "attention per patch";
  $("least").textContent = (scale.low > 0 ? "≤ " : "") + numberText(scale.low);
  $("most").textContent = (state.clip < 100 ? "≥ " : "") + numberText(scale.high);
  $("status").textContent = describeState(map);
});

// The patch under a pointer.
function patchAt(event) {
  const box = stage.getBoundingClientRect();
  const c = Math.floor(((event.clientX - box.left) / box.width) * cols);
  const r = Math.floor(((event.clientY - box.top) / box.height) * rows);
  return r < 0 || c < 0 || r >= rows || c >= cols ? null : first + r * cols + c;
}

stage.addEventListener("pointermove", (event) => {
  if (event.pointerType === "touch") return;
  const patch = patchAt(event);
  if (patch === pointed) return;
  pointed = patch;
  hovered = keepsQuery() ? null : patch;
  refresh();
});
stage.addEventListener("pointerleave", () => {
  pointed = hovered = null;
  refresh();
});
stage.addEventListener("click", (event) => {
  const patch = patchAt(event);
  if (patch === null) return;
  if (state.method === "relevance") choose({ method: "attention", query: patch });
  else choose({ query: patch === state.query ? firstQuery : patch });
});
