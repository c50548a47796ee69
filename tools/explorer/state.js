// The state of the page, and its link.
const last = facts.pool ? layers : layers - 1;
const firstQuery = facts.query;
const layersAcross = layers > heads;  // the longer of both goes across
const methods = facts.relevance.length ? ["attention", "rollout", "relevance"] : ["attention", "rollout"];

const state = {
  // As vit attention draws: class relevance, or the attention of the last layer or the pool. With relevance shown first,
  // attention starts at four fifths of the depth, where objects are most visible.
  method: facts.relevance.length ? "relevance" : "attention",
  layer: facts.relevance.length && !facts.pool ? Math.round(0.8 * (layers - 1)) : last,
  head: "mean", query: firstQuery, fusion: "mean", target: 0,
  opacity: 80, threshold: 0, clip: 99.5, colormap: palettes[0].name, smooth: true, lines: false,
};
const standard = { ...state };
let pointed = null;  // the patch under the pointer
let hovered = null;  // the same while it is the query: until the pointer leaves, or a key changes what is shown
// A patch that was clicked stays the query: the pointer reads its map.
const keepsQuery = () => state.method === "relevance" || (typeof state.query === "number" && state.query >= first);

const keys = { method: "m", layer: "l", head: "h", query: "q", fusion: "f", target: "c", opacity: "o", threshold: "t", clip: "p", colormap: "k", smooth: "s", lines: "g" };

function toHash() {
  const parts = Object.entries(keys).filter(([name]) => state[name] !== standard[name])
    .map(([name, key]) => `${key}=${encodeURIComponent(Number(state[name]) === state[name] || typeof state[name] === "string" ? state[name] : Number(state[name]))}`);
  return parts.length ? "#" + parts.join("&") : "";
}

const within = (value, least, most) => Number.isFinite(value) && value >= least && value <= most;

// A link may be old or mistyped: invalid values are ignored.
const readers = {
  method: (text) => (methods.includes(text) ? text : undefined),
  layer: (text) => (within(+text, 0, last) && Number.isInteger(+text) ? +text : undefined),
  head: (text) => (text === "mean" || text === "max" ? text : within(+text, 0, heads - 1) && Number.isInteger(+text) ? +text : undefined),
  query: (text) => (text === "mean" || (text === "pool" && facts.pool) ? text : within(+text, 0, tokens - 1) && Number.isInteger(+text) ? +text : undefined),
  fusion: (text) => (text === "mean" || text === "max" ? text : undefined),
  target: (text) => (within(+text, 0, facts.relevance.length - 1) ? +text : undefined),
  opacity: (text) => (within(+text, 0, 100) ? +text : undefined),
  threshold: (text) => (within(+text, 0, 95) ? +text : undefined),
  clip: (text) => (within(+text, 90, 100) ? +text : undefined),
  colormap: (text) => (palettes.some((p) => p.name === text) ? text : undefined),
  smooth: (text) => text === "1",
  lines: (text) => text === "1",
};

function fromHash() {
  Object.assign(state, standard);
  const given = new URLSearchParams(location.hash.slice(1));
  for (const [name, key] of Object.entries(keys)) {
    if (!given.has(key)) continue;
    const value = readers[name](given.get(key));
    if (value !== undefined) state[name] = value;
  }
}

const listeners = [];
let scheduled = false;
function refresh() {
  if (scheduled || !decoded) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    for (const listener of listeners) listener();
  });
}

function choose(changes) {
  hovered = null;
  Object.assign(state, changes);
  if (typeof changes.head === "string") state.fusion = changes.head;
  if (changes.fusion && typeof state.head === "string") state.head = changes.fusion;
  if (changes.layer !== undefined || changes.head !== undefined) state.method = changes.method || "attention";
  // The whole address: in a frame, it may be a blob's, which has no path of its own.
  history.replaceState(null, "", toHash() || location.href.replace(/#.*/, ""));
  refresh();
}

// The current query: the patch under the pointer, or the chosen one.
const currentQuery = () => (hovered !== null && state.method !== "relevance" ? hovered : state.query);

// The pool's query acts after the layers; within the layers all patches stand for it.
const layerQuery = (query) => (query === "pool" ? "mean" : query);
// Other queries have no attention in the pool: the last layer is shown instead.
const shownLayer = () => (state.layer === layers && currentQuery() !== "pool" ? layers - 1 : state.layer);

function currentMap() {
  const query = currentQuery();
  if (state.method === "rollout") return rolloutMap(query, state.fusion);
  if (state.method === "relevance") return Float32Array.from(facts.relevance[state.target].tokens);
  return lookMap(shownLayer(), state.head, layerQuery(query));
}
