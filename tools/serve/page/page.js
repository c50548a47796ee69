// The page of vit serve: takes images, shows answers and the explorer. Nothing is kept after the visit.
"use strict";
const $ = (id) => document.getElementById(id);
const state = { entries: [], current: null, model: "", token: "", models: new Map() };
const kTypingPause = 0.2;  // seconds without a key before the labels are compared
const kRestingPause = 1;   // further seconds before the explorer is made, which takes longer
const kMostLabels = 64;

function say(text, bad = false) {
  $("status").textContent = text;
  $("status").classList.toggle("bad", bad);
}

const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

// Sends a request; repeats it while the server is busy.
async function ask(path, options = {}) {
  const headers = { ...options.headers };
  if (state.token) headers.Authorization = `Bearer ${state.token}`;
  for (let tries = 0; ; ++tries) {
    const answer = await fetch(path, { ...options, headers });
    if (answer.status === 401) {
      $("token-form").hidden = false;
      $("token").focus();
    }
    if (answer.ok) return answer;
    if (answer.status === 429 && tries < 20) {
      await pause(Number(answer.headers.get("Retry-After")) || 1);
      continue;
    }
    const text = await answer.text();
    let message = `the server answered with status ${answer.status}`;
    try { message = JSON.parse(text).error.message; } catch { /* not from this server */ }
    throw new Error(message);
  }
}

const post = (path, entry) =>
  ask(`${path}&model=${encodeURIComponent(state.model)}&name=${encodeURIComponent(entry.name)}`,
    { method: "POST", body: entry.file, headers: { "Content-Type": "application/octet-stream" } });

// Whether the classes of this model are the labels that are typed here.
const readsWords = () => state.models.get(state.model)?.text === true;

function typedLabels() {
  const labels = $("labels").value.split(",").map((label) => label.trim()).filter((label) => label);
  return [...new Set(labels)].slice(0, kMostLabels);
}

// What an answer depends on, besides the image.
const question = () => (readsWords() ? JSON.stringify([state.model, typedLabels()]) : state.model);

function percent(share) {
  return `${(100 * share).toFixed(share < 0.0995 ? 2 : 1)} %`;
}

function showAnswers(entry) {
  const found = entry.answers[question()];
  $("answers").replaceChildren(...(found ? found.predictions : []).map(({ label, probability }) => {
    const item = document.createElement("li"), bar = document.createElement("span");
    const name = document.createElement("span"), share = document.createElement("span");
    bar.className = "bar";
    bar.style.width = `${100 * probability}%`;
    name.className = "label";
    name.textContent = label;
    share.className = "share";
    share.textContent = percent(probability);
    item.append(bar, name, share);
    return item;
  }));
  $("note").textContent = found && found.damaged ? `The file is damaged: ${found.damaged}` : "";
}

function showHistory() {
  $("history").hidden = state.entries.length < 2;
  const focused = [...$("entries").children].findIndex((item) => item.contains(document.activeElement));
  $("entries").replaceChildren(...state.entries.map((entry) => {
    const item = document.createElement("li"), button = document.createElement("button");
    const image = document.createElement("img"), text = document.createElement("span");
    const best = entry.answers[question()]?.predictions[0]?.label ?? entry.name;
    button.type = "button";
    image.src = entry.url;
    image.alt = "";
    text.textContent = best;
    button.title = `${entry.name}: ${best}`;
    button.setAttribute("aria-current", entry === state.current);
    button.addEventListener("click", () => show(entry));
    button.append(image, text);
    item.append(button);
    return item;
  }));
  $("entries").children[focused]?.firstChild.focus();  // keeps the focus
}

const postJson = async (path, body) =>
  (await ask(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } })).json();

const dataUrl = (file) => new Promise((done, failed) => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result);
  reader.onerror = () => failed(new Error(`${file.name} cannot be read`));
  reader.readAsDataURL(file);
});

// The image goes to the server once; labels are then compared with its embedding.
async function compare(entry) {
  const model = state.model, labels = typedLabels();
  if (!labels.length) return { predictions: [] };
  if (!entry.embeddings[model]) {
    const answer = await postJson("/v1/embeddings", { model, input: await dataUrl(entry.file), encoding_format: "base64" });
    entry.embeddings[model] = answer.data[0].embedding;
  }
  const answer = await postJson("/v1/classify", { model, labels, k: labels.length, embeddings: [entry.embeddings[model]] });
  return answer.images[0];
}

async function classify(entry) {
  const asked = question();
  if (entry.answers[asked]) return;
  const answer = readsWords() ? await compare(entry) : (await (await post("/v1/classify?k=5", entry)).json()).images[0];
  entry.answers[asked] = answer;
}

// What the explorer depends on.
function explorerKey() {
  const labels = readsWords() ? typedLabels() : [];
  return [state.model, state.current.number, ...labels].join("/");
}

// The explorer as a document of its own, under the policy of this page.
async function explore(entry) {
  const key = explorerKey();
  const there = $("explorer").dataset.key === key;
  $("explore").setAttribute("aria-busy", !there);  // it still shows another image or model
  if (there) return;
  const form = new FormData();
  form.append("image", entry.file, entry.name);
  form.append("format", "html");
  if (readsWords() && typedLabels().length) form.append("labels", typedLabels().join(","));
  const answer = await ask(`/v1/attention?model=${encodeURIComponent(state.model)}`, { method: "POST", body: form });
  const url = URL.createObjectURL(await answer.blob());
  if (key !== explorerKey()) return URL.revokeObjectURL(url);
  const frame = $("explorer");
  if (frame.dataset.url) URL.revokeObjectURL(frame.dataset.url);
  frame.dataset.key = key;
  frame.dataset.url = url;
  frame.src = url;
  $("explore").hidden = false;
}

// Takes pasted and dropped images, on the page and on the explorer, which covers most of it.
function takeImages(page) {
  page.addEventListener("paste", (event) => {
    if (event.clipboardData.files.length) add(event.clipboardData.files);
  });
  for (const [name, over] of [["dragover", true], ["dragleave", false], ["drop", false]])
    page.addEventListener(name, (event) => {
      event.preventDefault();
      $("drop").classList.toggle("over", over);
      if (name === "drop" && event.dataTransfer.files.length) add(event.dataTransfer.files);
    });
}

function showPhoto(entry) {
  $("photo").hidden = false;
  $("photo").src = entry.url;
  $("photo").alt = entry.name;
}

// The explorer is made as a separate page: sets the height of its frame and hides its theme button.
function fitFrame() {
  const page = $("explorer").contentDocument;
  if (!page || !page.body) return;
  takeImages(page);
  page.getElementById("theme").hidden = true;
  page.documentElement.style.setProperty("--screen", `${innerHeight}px`);
  $("explore").setAttribute("aria-busy", "false");
  if ($("photo").hidden && $("explorer").dataset.key === explorerKey()) {
    state.current.url = page.getElementById("photo").src;  // a format that only the server reads
    showPhoto(state.current);
    showHistory();
  }
  const theme = document.documentElement.dataset.theme;
  if (theme) page.documentElement.dataset.theme = theme;
  const fit = () => { $("explorer").style.height = `${page.body.scrollHeight + 8}px`; };
  new page.defaultView.ResizeObserver(fit).observe(page.body);
  fit();
}

function sayBest(entry) {
  const best = entry.answers[question()].predictions[0];
  if (best) say(`${entry.name}: ${best.label}, ${percent(best.probability)}`);
  else say(readsWords() ? `${entry.name}: type labels to compare it with` : `${entry.name}: no answer`);
}

function sayProblem(error) {
  $("explore").hidden = true;
  $("explorer").dataset.key = "";
  say(error.message, true);
}

// While labels are typed, the answers of the current image follow, after a pause also the explorer; other images when they are shown.
async function compareAgain() {
  const entry = state.current, asked = question();
  if (!entry) return;
  await pause(kTypingPause);
  if (entry !== state.current || asked !== question()) return;
  try {
    await classify(entry);
    if (entry !== state.current || asked !== question()) return;
    showAnswers(entry);
    showHistory();
    sayBest(entry);
    $("explore").setAttribute("aria-busy", "true");
    await pause(kRestingPause);
    if (entry === state.current && asked === question()) await explore(entry);
  } catch (error) {
    if (entry === state.current && asked === question()) sayProblem(error);
  }
}

async function show(entry) {
  state.current = entry;
  const key = explorerKey();
  $("result").hidden = false;
  showPhoto(entry);
  $("name").textContent = entry.name;
  showAnswers(entry);
  showHistory();
  try {
    if (!entry.answers[question()]) say(`${entry.name}: waiting for the answer`);
    await classify(entry);
    showHistory();
    if (key !== explorerKey()) return;  // compareAgain takes care of the current labels
    showAnswers(entry);
    sayBest(entry);
    await explore(entry);
  } catch (error) {
    if (key === explorerKey()) sayProblem(error);
  }
}

async function add(files) {
  const images = [...files].filter((file) => file.type.startsWith("image/") || !file.type);
  if (!images.length) return say("There is no image among these files.", true);
  const fresh = images.map((file) => ({
    file, name: file.name || "pasted image", url: URL.createObjectURL(file), answers: {}, embeddings: {}, number: ++add.count,
  }));
  state.entries.push(...fresh);
  document.body.classList.add("begun");
  const shown = show(fresh[0]);
  for (const entry of fresh.slice(1)) {
    await classify(entry).catch(() => {});  // the error is shown with the image
    showHistory();
  }
  await shown;
}
add.count = 0;

function chooseModel() {
  state.model = $("model").value;
  $("words").hidden = !readsWords();
  const { classes } = state.models.get(state.model);
  $("about").textContent = readsWords() ? "This model compares images with labels that you type."
    : `This model knows ${classes} classes.`;
}

async function start() {
  try {
    const models = (await (await ask("/v1/models")).json()).data.filter((model) => model.classes > 0 || model.text);
    $("token-form").hidden = true;
    state.models = new Map(models.map((model) => [model.id, model]));
    $("model").replaceChildren(...models.map(({ id }) => new Option(id, id)));
    chooseModel();
    say("");
  } catch (error) {
    say(error.message, true);
  }
}

$("choose").addEventListener("click", () => $("files").click());
$("photograph").addEventListener("click", () => $("camera").click());
for (const id of ["files", "camera"])
  $(id).addEventListener("change", () => {
    add($(id).files);
    $(id).value = "";
  });
$("model").addEventListener("change", () => {
  chooseModel();
  if (state.current) show(state.current);
});
$("labels").addEventListener("input", compareAgain);
$("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  state.token = $("token").value;
  start();
});
$("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  const shown = $("explorer").contentDocument?.documentElement;  // none while another explorer loads
  if (shown) shown.dataset.theme = root.dataset.theme;
});
$("explorer").addEventListener("load", fitFrame);
$("photo").addEventListener("error", () => { $("photo").hidden = true; });
takeImages(document);
start();
