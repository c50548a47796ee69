// A thumbnail for every layer and head, for the current query.
const matrix = $("matrix");
const thumbs = [];  // { layer, head, canvas, button }
const headChoices = ["fused", ...Array(heads).keys()];
const layerChoices = Array.from({ length: last + 1 }, (_, layer) => layer);
const across = layersAcross ? layerChoices : headChoices, down = layersAcross ? headChoices : layerChoices;
matrix.style.gridTemplateColumns = `auto repeat(${across.length}, minmax(56px, 1fr))`;
matrix.style.maxWidth = `${70 + 100 * across.length}px`;

function nameCell(text, role, top) {
  const cell = document.createElement("div");
  cell.className = top ? "name top" : "name";
  cell.setAttribute("role", role);
  cell.textContent = text;
  return cell;
}

function thumb(layer, head) {
  const button = document.createElement("button"), canvas = document.createElement("canvas");
  button.type = "button";
  button.setAttribute("role", "gridcell");
  canvas.width = cols;
  canvas.height = rows;
  button.append(canvas);
  button.addEventListener("click", () => choose({ layer, head: head === "fused" ? state.fusion : head }));
  thumbs.push({ layer, head, canvas, button });
  return button;
}

function matrixRow(children) {
  const row = document.createElement("div");
  row.setAttribute("role", "row");
  row.append(...children);
  matrix.append(row);
}

const layerTitle = (layer) => (layer === layers ? "pool" : `layer ${layer}`);
const headTitle = (head) => (head === "fused" ? "" : `head ${head}`);
const title = (isLayer, choice) => (isLayer ? layerTitle(choice) : headTitle(choice));
let fusedName;
const header = (isLayer, choice, role, top) => {
  const cell = nameCell(title(isLayer, choice), role, top);
  if (choice === "fused") fusedName = cell;
  return cell;
};
const corner = nameCell("", "columnheader", true), cornerName = document.createElement("span");
cornerName.className = "unseen";
cornerName.textContent = layersAcross ? "heads down, layers across" : "layers down, heads across";
corner.append(cornerName);
matrixRow([corner, ...across.map((choice) => header(layersAcross, choice, "columnheader", true))]);
for (const row of down)
  matrixRow([header(!layersAcross, row, "rowheader"), ...across.map((col) => (layersAcross ? thumb(col, row) : thumb(row, col)))]);

// Scrolls the chosen one into view within the strip, without scrolling the window; the focus follows.
function show(button) {
  const strip = matrix.parentElement, box = button.getBoundingClientRect(), around = strip.getBoundingClientRect();
  if (box.right > around.right || box.left < around.left + 60)
    strip.scrollLeft += box.left + box.width / 2 - (around.left + around.width / 2);
  if (matrix.contains(document.activeElement)) button.focus({ preventScroll: true });
}

let drawnFor = "";  // what the thumbnails show: they are drawn again only when it changes
listeners.push(() => {
  fusedName.textContent = state.fusion;
  const query = layerQuery(currentQuery());
  const wanted = `${query} ${state.fusion} ${state.colormap} ${state.clip}`;
  for (const { layer, head, canvas, button } of thumbs) {
    const real = head === "fused" ? state.fusion : head;
    const was = button.getAttribute("aria-selected") === "true";
    const chosen = state.method === "attention" && state.layer === layer && state.head === real;
    button.setAttribute("aria-selected", chosen);
    if (chosen && !was) show(button);
    button.tabIndex = chosen || (state.method !== "attention" && layer === 0 && head === "fused") ? 0 : -1;
    if (wanted === drawnFor) continue;
    button.setAttribute("aria-label", `${layerTitle(layer)}, ${headName(real)}`);
    const map = lookMap(layer, real, query);
    paint(canvas, map, scaleOf(map, false), false);
  }
  drawnFor = wanted;
});
