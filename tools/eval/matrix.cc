#include "tools/eval/matrix.h"

#include <algorithm>
#include <string_view>

#include "tools/output/json.h"

namespace vit::tools {
namespace {

constexpr std::string_view kMarkup = R"(
<div class="matrix"><canvas tabindex="0" role="application"
 aria-label="Confusion matrix: arrow keys move, plus and minus zoom"></canvas>
<p class="faint" aria-live="polite">Point at a cell to read it; scroll or + and - to zoom, drag to move.</p>
<p><button type="button">+</button> <button type="button">-</button> <button type="button">all</button></p></div>
)";

constexpr std::string_view kScript = R"(
(() => {
  const box = document.querySelector('.matrix'), canvas = box.querySelector('canvas');
  const said = box.querySelector('p'), pen = canvas.getContext('2d'), count = labels.length;
  const rows = new Array(count).fill(0), at = new Map();
  for (const [truth, taken, images] of cells) {
    rows[truth] += images;
    at.set(truth * count + taken, images);
  }
  let size = 0, margin = 0, left = 0, top = 0, shown = count;  // shown: classes across the view
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name);
  const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
  function draw() {
    const dense = devicePixelRatio || 1;
    size = canvas.clientWidth;
    canvas.width = canvas.height = size * dense;
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    shown = clamp(shown, Math.min(8, count), count);
    margin = size / shown > 9 ? Math.min(140, size / 4) : 8;
    const cell = (size - margin) / shown, least = Math.max(cell - (cell > 6 ? 1 : 0), 2.5);
    left = clamp(left, 0, count - shown);
    top = clamp(top, 0, count - shown);
    pen.clearRect(0, 0, size, size);
    pen.fillStyle = colour('--soft');
    pen.fillRect(margin, margin, size - margin, size - margin);
    pen.save();
    pen.beginPath();
    pen.rect(margin, margin, size - margin, size - margin);
    pen.clip();
    for (const [truth, taken, images] of cells) {
      const x = margin + (taken - left) * cell, y = margin + (truth - top) * cell;
      if (x < margin - cell || y < margin - cell || x > size || y > size) continue;
      pen.globalAlpha = 0.3 + 0.7 * Math.sqrt(images / rows[truth]);
      pen.fillStyle = colour(truth === taken ? '--right' : '--wrong');
      pen.fillRect(x + (cell - least) / 2, y + (cell - least) / 2, least, least);
    }
    pen.restore();
    if (margin < 20) return;
    pen.fillStyle = colour('--ink');
    pen.font = Math.min(12, cell * 0.9) + 'px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    for (let i = 0; i < shown + 1; ++i) {
      const row = Math.floor(top) + i, column = Math.floor(left) + i;
      const y = margin + (row - top + 0.5) * cell, x = margin + (column - left + 0.5) * cell;
      if (row < count && y > margin && y < size) {
        pen.textAlign = 'right';
        pen.fillText(labels[row], margin - 5, y, margin - 6);
      }
      if (column < count && x > margin && x < size) {
        pen.save();
        pen.translate(x, margin - 5);
        pen.rotate(-Math.PI / 2);
        pen.textAlign = 'left';
        pen.fillText(labels[column], 0, 0, margin - 6);
        pen.restore();
      }
    }
  }
  function place(event) {
    const edge = canvas.getBoundingClientRect(), cell = (size - margin) / shown;
    return [left + (event.clientX - edge.left - margin) / cell, top + (event.clientY - edge.top - margin) / cell];
  }
  function zoom(factor, x, y) {
    const before = shown;
    shown = clamp(shown * factor, Math.min(8, count), count);
    left = x - (x - left) * shown / before;
    top = y - (y - top) * shown / before;
    draw();
  }
  const middle = factor => zoom(factor, left + shown / 2, top + shown / 2);
  let held = null;
  canvas.addEventListener('wheel', event => {
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, ...place(event));
  }, { passive: false });
  canvas.addEventListener('pointerdown', event => {
    held = [event.clientX, event.clientY, left, top];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointerup', () => { held = null; });
  canvas.addEventListener('pointermove', event => {
    if (held) {
      const cell = (size - margin) / shown;
      left = held[2] - (event.clientX - held[0]) / cell;
      top = held[3] - (event.clientY - held[1]) / cell;
      return draw();
    }
    const [x, y] = place(event).map(Math.floor);
    if (x < left - 1 || y < top - 1 || !(labels[x] && labels[y])) return;
    const images = at.get(y * count + x) || 0;
    said.textContent = x === y ? `${images} of ${rows[y]} images of ${labels[y]} are right`
                               : `${images} of ${rows[y]} images of ${labels[y]} taken for ${labels[x]}`;
  });
  canvas.addEventListener('keydown', event => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === '+') middle(1 / 1.5);
    else if (event.key === '-') middle(1.5);
    else if (moves[event.key]) {
      left += moves[event.key][0] * shown / 8;
      top += moves[event.key][1] * shown / 8;
      draw();
    } else return;
    event.preventDefault();
  });
  const [more, less, all] = box.querySelectorAll('button');
  more.onclick = () => middle(1 / 1.5);
  less.onclick = () => middle(1.5);
  all.onclick = () => middle(count);
  addEventListener('resize', draw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  draw();
})();
)";

/// A label must not end the script that it is in.
std::string for_script(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (size_t at = 0; (at = text.find("</", at)) != std::string::npos; at += 3)
    text.replace(at, 2, "<\\/");
  for (size_t at = 0; (at = text.find("<!--", at)) != std::string::npos; at += 4)
    text.replace(at, 4, "\\u003c!--");
  return text;
}

}  // namespace

std::string matrix_html(const EvaluationReport& report) {
  const Tally& tally = report.evaluation.tally;
  const auto classes = tally.occurring();
  const auto place = [&](size_t index) {
    return std::ranges::lower_bound(classes, index) - classes.begin();
  };
  Json labels = Json::array(), cells = Json::array();
  for (const size_t index : classes) labels.push_back(report.names.label(index));
  for (const Confusion& c : tally.confusions())
    cells.push_back({place(c.truth), place(c.predicted), c.images});
  return std::string(kMarkup) + "<script>\nconst labels = " + for_script(labels) +
         ", cells = " + for_script(cells) + ";" + std::string(kScript) + "</script>\n";
}

}  // namespace vit::tools
