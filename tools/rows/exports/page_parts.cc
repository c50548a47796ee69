#include "tools/rows/exports/page_parts.h"

namespace vit::tools {

const std::string_view kResultsBody = R"html(<h1>{{TITLE}}</h1>
<p>{{NOTE}}</p>
<form id="controls" role="search" onsubmit="return false">
<label>Search <input type="search" id="text" placeholder="name, class or reason"></label>
<label>Class <select id="label"></select></label>
<label>Rows <select id="status"><option value="all">all</option><option value="ok">with a class</option>
<option value="failed">failed</option><option value="damaged">damaged</option></select></label>
<label>Confidence <span class="range"><input type="number" id="least" min="0" max="100" step="any"
value="0" aria-label="confidence from, percent"> to <input type="number" id="most" min="0" max="100"
step="any" value="100" aria-label="confidence to, percent"> %</span></label>
<label>Order <select id="order"><option value="input">as in the table</option>
<option value="sure">most confident first</option><option value="unsure">least confident first</option>
<option value="class">class, then confidence</option><option value="name">name</option></select></label>
<button type="reset" id="reset">Show all</button>
</form>
<p id="count" role="status"></p>
<div id="space"><ul id="grid" aria-label="images"></ul></div>
<noscript><p>This page needs JavaScript to show its rows.</p></noscript>
)html";

const std::string_view kResultsStyle = R"css(
#controls { display: flex; flex-wrap: wrap; gap: 10px 16px; align-items: end; margin: 18px 0 10px;
  padding: 14px 16px; background: var(--card); border: 1px solid var(--rule); border-radius: 12px; }
#controls label { display: grid; gap: 3px; font-size: 12px; color: var(--faint); }
#controls input, #controls select, #controls button { font: inherit; font-size: 14px; min-height: 34px;
  color: var(--ink); background: var(--paper); border: 1px solid var(--edge); border-radius: 7px;
  padding: 4px 8px; max-width: 100%; }
#controls ::placeholder { color: var(--faint); opacity: 1; }
#controls select { max-width: 260px; }
#controls input[type=number] { width: 68px; }
#controls .range { display: flex; align-items: center; gap: 6px; }
#controls :focus-visible { outline: 3px solid var(--mark); outline-offset: 1px; }
:root { --edge: #8b919b; }
@media (prefers-color-scheme: dark) { :root { --edge: #6c7480; } }
#space { position: relative; margin-top: 12px; }
#grid { position: absolute; inset: 0 0 auto 0; margin: 0;
  grid-template-columns: repeat(var(--columns, 6), minmax(0, 1fr)); gap: 16px; }
#grid li { height: var(--card-height, 240px); overflow: hidden; }
#grid .name { -webkit-line-clamp: 1; color: var(--faint); font-size: 12px; margin-top: 0; }
#grid .class { font-size: 13px; line-height: 1.35; margin-top: 6px; overflow: hidden;
  white-space: nowrap; text-overflow: ellipsis; }
#grid p { display: flex; gap: 6px; white-space: nowrap; }
#grid .alert { color: var(--alert); min-width: 0; overflow: hidden; text-overflow: ellipsis; }
:root { --alert: #a3341c; }
@media (prefers-color-scheme: dark) { :root { --alert: #ff9d85; } }
@media (max-width: 480px) { #controls { padding: 12px; } #controls label, #controls select,
  #controls input[type=search] { width: 100%; } }
)css";

const std::string_view kResultsScript = R"js('use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  // A row: number, path, status (0 classified, 1 failed, 2 damaged), remark, picture, facts,
  // then label and probability of each class, the best first.
  const NUMBER = 0, PATH = 1, STATUS = 2, REMARK = 3, PICTURE = 4, FACTS = 5, BEST = 6, SURE = 7;
  const rows = data.rows, labels = data.labels, gap = 16, text_height = 68;
  const id = name => document.getElementById(name);
  const grid = id('grid'), space = id('space');
  const percent = p => (100 * p).toFixed(2) + ' %';
  const label = row => row.length > BEST ? labels[row[BEST]] : '';
  let shown = [], columns = 0, line = 0, first = -1, last = -1;

  const fold = text => text.toLowerCase();
  let texts = null;
  const text_of = i => {
    texts = texts || rows.map(row => fold(row[PATH] + '\n' + label(row) + '\n' + row[REMARK]));
    return texts[i];
  };

  function choose() {
    const wanted = fold(id('text').value.trim()), chosen = id('label').value;
    const status = id('status').value, from = (parseFloat(id('least').value) || 0) / 100;
    const upto = id('most').value === '' ? 1 : parseFloat(id('most').value) / 100;
    const limited = from > 0 || upto < 1;
    shown = [];
    rows.forEach((row, i) => {
      if (status === 'ok' && row[STATUS] === 1) return;
      if (status === 'failed' && row[STATUS] !== 1) return;
      if (status === 'damaged' && row[STATUS] !== 2) return;
      if (chosen !== '' && (row.length <= BEST || row[BEST] !== +chosen)) return;
      if (limited && !(row.length > BEST && row[SURE] >= from && row[SURE] <= upto)) return;
      if (wanted !== '' && !text_of(i).includes(wanted)) return;
      shown.push(i);
    });
    const sure = i => rows[i].length > BEST ? rows[i][SURE] : -1;
    const by_name = new Intl.Collator(undefined, {numeric: true});
    const order = {
      sure: (a, b) => sure(b) - sure(a) || a - b,
      unsure: (a, b) => (sure(a) < 0) - (sure(b) < 0) || sure(a) - sure(b) || a - b,
      class: (a, b) => (sure(a) < 0) - (sure(b) < 0) || by_name.compare(label(rows[a]), label(rows[b])) ||
          sure(b) - sure(a) || a - b,
      name: (a, b) => by_name.compare(rows[a][PATH], rows[b][PATH]) || a - b,
    }[id('order').value];
    if (order) shown.sort(order);
    const all = rows.length.toLocaleString('en');
    id('count').textContent = shown.length === rows.length ? all + (rows.length === 1 ? ' row' : ' rows')
        : shown.length.toLocaleString('en') + ' of ' + all + ' rows';
    layout();
  }

  function layout() {
    const width = space.clientWidth, narrow = width < 460;
    columns = narrow ? 2 : Math.max(2, Math.floor((width + gap) / (150 + gap)));
    const card = (width - gap * (columns - 1)) / columns;
    line = card + text_height + gap;
    document.documentElement.style.setProperty('--columns', columns);
    document.documentElement.style.setProperty('--card-height', (line - gap) + 'px');
    space.style.height = Math.ceil(shown.length / columns) * line + 'px';
    first = last = -1;
    draw();
  }

  function element(kind, classes, text) {
    const made = document.createElement(kind);
    if (classes) made.className = classes;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function link_of(row) {
    const inside = row[PATH].includes('!/'), not_text = row[PATH].includes('\ufffd');
    if (inside || not_text || data.base === null) return null;
    return data.base + row[PATH].split('/').map(encodeURIComponent).join('/');
  }

  function picture_of(row) {
    if (row[PICTURE] === '') return element('div', 'none', row[REMARK] || 'no picture');
    const image = element('img');
    image.alt = row[PATH];
    image.decoding = 'async';
    image.src = data.pictures === '' ? row[PICTURE] : data.pictures + row[PICTURE];
    const url = link_of(row);
    if (url === null) return image;
    const link = element('a');
    link.href = url;
    link.setAttribute('aria-label', 'open ' + row[PATH]);
    link.append(image);
    return link;
  }

  function card_of(place) {
    const row = rows[shown[place]], item = element('li');
    item.setAttribute('aria-posinset', place + 1);
    item.setAttribute('aria-setsize', shown.length);
    const names = [];
    for (let at = BEST; at + 1 < row.length; at += 2)
      names.push(labels[row[at]] + '  ' + percent(row[at + 1]));
    item.title = [data.folder + row[PATH], row[FACTS], row[REMARK], ...names].filter(Boolean).join('\n');
    item.append(picture_of(row), element('div', 'class', row[STATUS] === 1 ? 'failed' : label(row)));
    const detail = element('p');
    if (row.length > BEST) detail.append(element('b', '', percent(row[SURE])));
    if (row[REMARK]) detail.append(element('span', 'alert', row[REMARK]));
    item.append(detail, element('div', 'name', row[PATH]));
    return item;
  }

  // Only the cards near the window exist, so that any number of rows is shown at once.
  function draw() {
    if (line === 0) return;
    const top = window.scrollY - (space.getBoundingClientRect().top + window.scrollY);
    const lines = Math.ceil(shown.length / columns), margin = 3;
    const from = Math.min(lines, Math.max(0, Math.floor(top / line) - margin));
    const upto = Math.min(lines, Math.max(0, Math.ceil((top + window.innerHeight) / line) + margin));
    if (from === first && upto === last) return;
    first = from;
    last = upto;
    const cards = [];
    for (let i = from * columns; i < Math.min(upto * columns, shown.length); ++i) cards.push(card_of(i));
    grid.replaceChildren(...cards);
    grid.style.transform = 'translateY(' + from * line + 'px)';
  }

  const counts = labels.map(() => 0);
  rows.forEach(row => { if (row.length > BEST) ++counts[row[BEST]]; });
  const all = element('option', '', 'all classes');
  all.value = '';
  id('label').append(all);
  labels.map((name, i) => i).filter(i => counts[i] > 0).sort((a, b) => counts[b] - counts[a] || a - b)
      .forEach(i => {
        const option = element('option', '', labels[i] + ' (' + counts[i].toLocaleString('en') + ')');
        option.value = i;
        id('label').append(option);
      });
  let waiting = 0;
  const soon = () => { clearTimeout(waiting); waiting = setTimeout(choose, 120); };
  for (const name of ['text', 'least', 'most']) id(name).addEventListener('input', soon);
  for (const name of ['label', 'status', 'order']) id(name).addEventListener('change', choose);
  id('controls').addEventListener('reset', () => setTimeout(choose, 0));
  let drawing = false;
  window.addEventListener('scroll', () => {
    if (drawing) return;
    drawing = true;
    requestAnimationFrame(() => { drawing = false; draw(); });
  }, {passive: true});
  window.addEventListener('resize', layout);
  choose();
})();
)js";

}  // namespace vit::tools
