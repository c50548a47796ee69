// The data of the page: facts as JSON, attention in packed bytes.
const $ = (id) => document.getElementById(id);
const facts = JSON.parse($("facts").textContent);
const { layers, rows, cols, prefix } = facts;
const heads = facts.heads_per_layer;
const first = prefix.length;
const patches = rows * cols;
const tokens = first + patches;

// Unpacked after the first paint; until then there is nothing to show.
let decoded = null;
const attention = () => decoded;
async function decode() {
  decoded = { ...(await unpacked($("attention").textContent.trim(), facts)), fused: new Map() };
}

const palettes = facts.colormaps.map(({ name, colours }) => ({ name, colours: bytesOf(colours) }));
const paletteOf = (name) => (palettes.find((p) => p.name === name) || palettes[0]).colours;

const squares = Float32Array.from({ length: 256 }, (_, i) => (i / rootSteps) ** 2);

// Adds `factor` times a row of one head to `out`.
function addRow(layer, head, query, factor, out) {
  const { units, steps, kept } = attention();
  const row = (layer * heads + head) * tokens + query, start = row * patches, scale = factor * units[row];
  for (let i = 0; i < first; ++i) out[i] += factor * kept[row * first + i];
  for (let j = 0; j < patches; ++j) out[first + j] += scale * squares[steps[start + j]];
}

function maxRow(layer, head, query, out) {
  const { units, steps, kept } = attention();
  const row = (layer * heads + head) * tokens + query, start = row * patches, scale = units[row];
  for (let i = 0; i < first; ++i) out[i] = Math.max(out[i], kept[row * first + i]);
  for (let j = 0; j < patches; ++j) out[first + j] = Math.max(out[first + j], scale * squares[steps[start + j]]);
}

// The tokens of a query, with their weights: one token, or all patches equally.
function tokensOf(query) {
  if (query === "mean") return Array.from({ length: patches }, (_, i) => [first + i, 1 / patches]);
  return [[query, 1]];
}

// The attention of a query in one layer. `head`: a number, "mean" or "max".
function lookMap(layer, head, query) {
  const out = new Float32Array(tokens);
  if (layer === layers) return poolMap(head);
  for (const [token, weight] of tokensOf(query)) {
    if (head === "max") {
      const largest = new Float32Array(tokens);
      for (let h = 0; h < heads; ++h) maxRow(layer, h, token, largest);
      for (let j = 0; j < tokens; ++j) out[j] += weight * largest[j];
    } else if (head === "mean") {
      for (let h = 0; h < heads; ++h) addRow(layer, h, token, weight / heads, out);
    } else {
      addRow(layer, head, token, weight, out);
    }
  }
  return out;
}

function poolMap(head) {
  const pool = facts.pool;
  if (typeof head === "number") return Float32Array.from(pool[head]);
  const out = new Float32Array(tokens);
  for (const row of pool)
    for (let j = 0; j < tokens; ++j) out[j] = head === "max" ? Math.max(out[j], row[j]) : out[j] + row[j] / pool.length;
  return out;
}

// A layer's heads fused, half of it, rows normalised; the other half is the residual.
function fusedLayer(layer, fusion) {
  const cache = attention().fused, key = `${layer} ${fusion}`;
  if (cache.has(key)) return cache.get(key);
  const out = new Float32Array(tokens * tokens);
  for (let i = 0; i < tokens; ++i) {
    const row = out.subarray(i * tokens, (i + 1) * tokens);
    for (let h = 0; h < heads; ++h) fusion === "max" ? maxRow(layer, h, i, row) : addRow(layer, h, i, 1 / heads, row);
    let sum = 0;
    for (let j = 0; j < tokens; ++j) sum += row[j];
    for (let j = 0; j < tokens; ++j) row[j] *= 0.5 / sum;
  }
  cache.set(key, out);
  return out;
}

// Attention rollout of one query: a row through all layers, last to first.
function rolloutMap(query, fusion) {
  let row = new Float32Array(tokens);
  if (query === "pool") row = poolMap("mean");
  else for (const [token, weight] of tokensOf(query)) row[token] += weight;
  for (let layer = layers - 1; layer >= 0; --layer) {
    const fused = fusedLayer(layer, fusion);
    const next = row.map((value) => 0.5 * value);
    for (let i = 0; i < tokens; ++i) {
      if (row[i] === 0) continue;
      const start = i * tokens;
      for (let j = 0; j < tokens; ++j) next[j] += row[i] * fused[start + j];
    }
    row = next;
  }
  return row;
}

// The smallest set of patches that holds `fraction` of the mass.
function massSet(map, fraction) {
  const order = Array.from(map.keys()).sort((a, b) => map[b] - map[a]);
  const total = map.reduce((sum, value) => sum + Math.max(value, 0), 0);
  const members = new Uint8Array(map.length);
  let held = 0;
  for (const i of order) {
    if (held >= fraction * total * (1 - 1e-6) || map[i] <= 0) break;
    held += map[i];
    members[i] = 1;
  }
  return members;
}

function percentile(map, percent) {
  const sorted = Float32Array.from(map).sort();
  const place = (percent / 100) * (sorted.length - 1), below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

const tokenName = (token) => {
  if (token === "mean") return "all patches";
  if (token === "pool") return "the pool";
  if (token < first) return prefix[token];
  const patch = token - first;
  return `patch ${Math.floor(patch / cols)},${patch % cols}`;
};
