// The controls around the image, and the keyboard shortcuts.
function radios(group, options, current, pick) {
  const box = $(group);
  for (const { value, text } of options) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.setAttribute("role", "radio");
    button.dataset.value = value;
    button.addEventListener("click", () => pick(value));
    box.append(button);
  }
  listeners.push(() => {
    const chosen = String(current());
    for (const button of box.children) {
      button.setAttribute("aria-checked", button.dataset.value === chosen);
      button.tabIndex = button.dataset.value === chosen || chosen === "" ? 0 : -1;
    }
    if (![...box.children].some((button) => button.tabIndex === 0)) box.children[0].tabIndex = 0;
  });
}

const titled = (text) => text[0].toUpperCase() + text.slice(1);
radios("methods", methods.map((value) => ({ value, text: titled(value) })), () => state.method, (method) => choose({ method }));

const queries = prefix.map((name, i) => ({ value: i, text: name }));
queries.push({ value: "mean", text: "mean" });
if (facts.pool) queries.unshift({ value: "pool", text: "pool" });
radios("queries", queries, () => state.query, (query) => choose({ query }));
radios("fusions", [{ value: "mean", text: "Mean" }, { value: "max", text: "Max" }],
  () => (state.method !== "attention" || typeof state.head === "string" ? state.fusion : ""),
  (fusion) => choose(state.method === "attention" ? { head: fusion } : { fusion }));

listeners.push(() => {
  const fixed = state.method === "relevance";
  for (const box of ["queries", "fusions"])
    for (const button of $(box).children) button.disabled = fixed;
  $("query-hint").textContent = fixed ? "Relevance starts from the class. Click a patch of the image to see where it looks." : keepsQuery() ? "The pointer reads the map of this patch; C or a second click lets it go." : "Or point at a patch of the image; click keeps it.";
});

// A slider, its label and its value.
function slider(id, say) {
  const input = $(id);
  input.addEventListener("input", () => choose({ [id]: +input.value }));
  listeners.push(() => {
    input.value = state[id];
    $(`${id}-value`).textContent = say(state[id]);
  });
}
slider("opacity", (value) => `${value} %`);
slider("threshold", (value) => (value ? `${value} %` : "off"));
slider("clip", (value) => `${value}`);

for (const { name } of palettes) $("colormap").append(new Option(name, name));
$("colormap").addEventListener("change", () => choose({ colormap: $("colormap").value }));
for (const id of ["smooth", "lines"]) $(id).addEventListener("change", () => choose({ [id]: $(id).checked }));
listeners.push(() => {
  $("colormap").value = state.colormap;
  $("smooth").checked = state.smooth;
  $("lines").checked = state.lines;
});

facts.answers.forEach((answer, i) => {
  const item = document.createElement("li"), button = document.createElement("button");
  button.type = "button";
  button.style.setProperty("--part", answer.probability);
  const label = document.createElement("span"), part = document.createElement("span");
  label.textContent = answer.label;
  label.title = answer.label;
  part.textContent = `${(100 * answer.probability).toFixed(1)} %`;
  button.append(label, part);
  button.disabled = !facts.relevance[i];
  button.title = facts.relevance[i] ? `What speaks for ${answer.label}` : answer.label;
  button.addEventListener("click", () => choose({ method: "relevance", target: i }));
  item.append(button);
  $("answers").append(item);
  listeners.push(() => button.setAttribute("aria-pressed", state.method === "relevance" && state.target === i));
});
if (!facts.answers.length) $("answers").parentElement.hidden = true;

$("title").textContent = facts.title;
$("subtitle").textContent = facts.subtitle;
$("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});

// The arrow keys move through the thumbnails.
$("walk-across").textContent = layersAcross ? "layers" : "heads";
$("walk-down").textContent = layersAcross ? "heads" : "layers";

// Heads in the order of the arrow keys: the fused ones, then 0, 1, …
const headOrder = () => [state.fusion, ...Array(heads).keys()];

function walkHead(step) {
  const order = headOrder(), at = order.indexOf(state.head) + step;
  if (at >= 0 && at < order.length) choose({ head: order[at] });
}
function walkLayer(step) {
  const layer = state.layer + step;
  if (layer >= 0 && layer <= last) choose({ layer });
}
function walkPatch(down, right) {
  const from = typeof state.query === "number" && state.query >= first ? state.query - first : Math.floor(rows / 2) * cols + Math.floor(cols / 2);
  const r = Math.min(rows - 1, Math.max(0, Math.floor(from / cols) + down));
  const c = Math.min(cols - 1, Math.max(0, (from % cols) + right));
  choose({ query: first + r * cols + c });
}

// Inside a group of choices the arrow keys select the next one.
function walkRadios(radio, step) {
  const group = [...radio.parentElement.children];
  const next = group[(group.indexOf(radio) + step + group.length) % group.length];
  next.click();
  next.focus();
}

const arrows = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const letters = {
  m: () => choose({ head: "mean" }), x: () => choose({ head: "max" }),
  c: () => choose({ query: firstQuery }), Escape: () => choose({ query: firstQuery }),
  o: () => choose({ opacity: Math.max(0, state.opacity - 5) }), p: () => choose({ opacity: Math.min(100, state.opacity + 5) }),
  g: () => choose({ lines: !state.lines }),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
  const arrow = arrows[event.key], key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const radio = event.target.closest("[role=radio]");
  if (arrow && radio) walkRadios(radio, arrow[0] + arrow[1]);
  else if (arrow && event.shiftKey) walkPatch(...arrow);
  else if (arrow) Boolean(arrow[1]) === layersAcross ? walkLayer(arrow[0] + arrow[1]) : walkHead(arrow[0] + arrow[1]);
  else if (methods[+key - 1]) choose({ method: methods[+key - 1] });
  else if (letters[key]) letters[key]();
  else return;
  event.preventDefault();
});
