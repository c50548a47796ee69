// Distance by depth, patterns by place, and the chosen head in words.
const kinds = ["diagonal", "offset", "vertical", "block", "mixed"];
const stats = facts.stats;  // [layer][head]: distance, entropy, prefix, pattern, kind, score

function node(parent, name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes))
    if (key === "style") made.style.cssText = value;  // as an attribute it would need a page that allows inline styles
    else made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

// An element for a head: shows its name and selects it.
function headMark(parent, name, layer, head, attributes) {
  const mark = node(parent, name, attributes);
  const s = stats[layer][head];
  node(mark, "title", {}, `Layer ${layer}, head ${head}: ${s.pattern}, ${Math.round(s.distance)} px`);
  mark.addEventListener("click", () => choose({ layer, head }));
  listeners.push(() => mark.classList.toggle("chosen", state.method === "attention" && state.layer === layer && state.head === head));
}

function drawDistance() {
  const svg = $("distance"), width = 460, height = 240, left = 34, bottom = 30, top = 8;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const most = Math.max(1, ...stats.flat().map((s) => s.distance));
  const step = [10, 20, 25, 50, 100, 200, 500].find((s) => most / s <= 5) || 1000;
  const ceiling = Math.ceil(most / step) * step;
  const x = (layer) => left + ((layer + 0.5) / layers) * (width - left - 6);
  const y = (distance) => height - bottom - (distance / ceiling) * (height - bottom - top);
  for (let d = 0; d <= ceiling; d += step) {
    node(svg, "line", { class: "rule", x1: left, x2: width, y1: y(d), y2: y(d) });
    node(svg, "text", { x: left - 6, y: y(d) + 4, "text-anchor": "end" }, d);
  }
  for (let layer = 0; layer < layers; ++layer) {
    if (layers <= 16 || layer % 2 === 0) node(svg, "text", { x: x(layer), y: height - bottom + 16, "text-anchor": "middle" }, layer);
    for (let head = 0; head < heads; ++head)
      headMark(svg, "circle", layer, head, { class: "dot", cx: x(layer), cy: y(stats[layer][head].distance), r: 5 });
  }
  node(svg, "text", { x: (left + width) / 2, y: height - 1, "text-anchor": "middle" }, "layer");
  svg.setAttribute("aria-label", `Mean attention distance of every head by layer, from ${Math.round(Math.min(...stats.flat().map((s) => s.distance)))} to ${Math.round(most)} pixels`);
}

function drawPatterns() {
  const svg = $("patterns"), width = 460, left = 34, bottom = 30, top = 8;
  const size = Math.min(26, (240 - bottom - top) / heads, (width - left) / layers);
  const height = top + size * heads + bottom;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const column = (width - left) / layers;
  for (let head = 0; head < heads; ++head) {
    node(svg, "text", { x: left - 6, y: top + (head + 0.5) * size + 4, "text-anchor": "end" }, heads > 8 && head % 2 ? "" : head);
    for (let layer = 0; layer < layers; ++layer) {
      const { kind, score } = stats[layer][head];
      headMark(svg, "rect", layer, head, {
        class: "cell", x: left + layer * column + 1.5, y: top + head * size + 1.5, width: column - 3, height: size - 3, rx: 3,
        style: `fill:var(--p-${kind});fill-opacity:${kind === "mixed" ? 0.6 : 0.35 + 0.65 * score}`,
      });
    }
  }
  for (let layer = 0; layer < layers; ++layer)
    if (layers <= 16 || layer % 2 === 0)
      node(svg, "text", { x: left + (layer + 0.5) * column, y: height - bottom + 16, "text-anchor": "middle" }, layer);
  node(svg, "text", { x: (left + width) / 2, y: height - 1, "text-anchor": "middle" }, "layer");
  svg.setAttribute("aria-label", "Pattern of every head, layers across and heads down");
  for (const kind of kinds) {
    const item = document.createElement("span"), swatch = document.createElement("i");
    swatch.style.background = `var(--p-${kind})`;
    item.append(swatch, kind);
    $("legend").append(item);
  }
}

drawDistance();
drawPatterns();
listeners.push(() => {
  const of = typeof state.head === "number" && state.layer < layers && state.method === "attention" ? stats[state.layer][state.head] : null;
  $("head-facts").textContent = of
    ? `Layer ${state.layer}, head ${state.head}: ${of.pattern} (score ${of.score.toFixed(2)}), looks ${Math.round(of.distance)} px far, entropy ${of.entropy.toFixed(1)} of ${Math.log2(tokens).toFixed(1)} bits, ${percent(of.prefix)} on prefix tokens`
    : "Choose a head to read its numbers.";
});
