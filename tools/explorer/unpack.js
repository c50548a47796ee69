// Reads what packing.cc writes; tools/explorer/packing.h says what that is.
const rootSteps = 70, prefixSteps = 40000, classes = 9;

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function inflated(base64) {
  if (typeof DecompressionStream !== "function")
    throw new Error("this browser is too old; Chrome and Edge 80, Firefox 113 and Safari 16.4 are new enough");
  try {
    const packed = new Blob([bytesOf(base64)]).stream();
    return await new Response(packed.pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
  } catch (error) {
    throw new Error(`the page is damaged (${error.message})`);
  }
}

// Adds the steps of another query as they would be with the unit of this one.
function addRescaled(steps, start, patches, ratio, cols, out) {
  const factor = Math.min(256 * Math.sqrt(ratio) + 0.5, 65535) | 0;
  for (let i = 0; i < patches; ++i) out[cols + i] += (factor * steps[start + i] + 128) >> 8;
}

// The patches' steps from their residuals: each is guessed from its neighbours, in this row and in those of the queries to
// the left and above.
function stepsOf(residuals, starts, units, { prefix, rows, cols }) {
  const patches = rows * cols, first = prefix.length, tokens = first + patches;
  const steps = new Uint8Array(units.length * patches);
  const places = Uint32Array.from(starts);
  // After as many zeros as the grid has columns: the first patches have neighbours.
  const row = new Int32Array(cols + patches), near = new Int32Array(cols + patches);
  for (let r = 0; r < units.length; ++r) {
    const query = r % tokens, start = r * patches - cols;
    near.fill(0);
    if (query > first)
      for (const other of [r - 1, query < first + cols ? r - 1 : r - cols])
        addRescaled(steps, other * patches, patches, units[r] > 0 ? units[other] / units[r] : 0, cols, near);
    for (let at = cols; at < row.length; ++at) {
      const left = at - 1, above = at - cols;
      const more = 2 * (row[left] + row[above]) - near[left] - near[above];
      let guess = (near[at] + ((85 * more) >> 8) + 1) >> 1;
      if (guess < 0) guess = 0;
      if (guess > 255) guess = 255;
      row[at] = steps[start + at] = (guess + residuals[places[32 - Math.clz32(guess)]++]) & 255;
    }
  }
  return steps;
}

async function unpacked(base64, facts) {
  const buffer = await inflated(base64);
  const first = facts.prefix.length, queries = facts.layers * facts.heads_per_layer * (first + facts.rows * facts.cols);
  const counts = new Uint32Array(buffer, 0, classes);
  const places = counts.map((_, i) => counts.subarray(0, i).reduce((sum, count) => sum + count, 0));
  const halves = new Uint16Array(buffer, counts.byteLength, queries);
  const roots = new Uint16Array(buffer, counts.byteLength + halves.byteLength, queries * first);
  const residuals = new Uint8Array(buffer, counts.byteLength + halves.byteLength + roots.byteLength);
  const units = new Float32Array(Uint32Array.from(halves, (half) => half << 16).buffer);
  return {
    units,
    steps: stepsOf(residuals, places, units, facts),
    kept: Float32Array.from(roots, (root) => (root / prefixSteps) ** 2),
  };
}
