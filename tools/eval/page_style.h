/// Style and script of the page of an evaluation.
#pragma once

#include <string_view>

namespace vit::tools {

constexpr std::string_view kEvaluationStyle = R"(
:root { color-scheme: light dark; --ink: #1c1e22; --faint: #667080; --paper: #fafaf8; --card: #fff;
  --rule: #e4e5e2; --soft: #eef1f0; --right: #0d766e; --wrong: #c84218; }
@media (prefers-color-scheme: dark) { :root { --ink: #e9ebee; --faint: #98a1ad; --paper: #131518;
  --card: #1b1e23; --rule: #2c3037; --soft: #252a31; --right: #2dd4bf; --wrong: #ff8a5c; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1240px; padding: 28px 22px 40px; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 21px; line-height: 1.3; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 15px; margin: 0 0 2px; }
p { margin: 0; }
.faint { color: var(--faint); font-size: 13px; overflow-wrap: anywhere; }
section, figure { background: var(--card); border: 1px solid var(--rule); border-radius: 12px;
  padding: 16px 18px; margin: 18px 0 0; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); gap: 12px;
  margin-top: 18px; padding: 0; list-style: none; }
.figures li { background: var(--card); border: 1px solid var(--rule); border-radius: 12px;
  padding: 12px 16px; }
.figures b { display: block; font-size: 24px; line-height: 1.25; font-variant-numeric: tabular-nums; }
.pair { display: grid; grid-template-columns: minmax(0, 3fr) minmax(260px, 2fr); gap: 0 18px;
  align-items: start; }
figure img { display: block; margin: 12px auto 0; max-width: 100%; height: auto; }
@media (prefers-color-scheme: dark) { figure img {
  filter: invert(1) hue-rotate(180deg); mix-blend-mode: screen; } }
svg { display: block; width: 100%; max-width: 420px; height: auto; margin: 10px auto 0; }
svg text { fill: var(--faint); font-size: 11px; }
.axis { stroke: var(--rule); } .ideal { stroke: var(--faint); stroke-dasharray: 4 4; }
.bin { fill: var(--right); fill-opacity: .75; }
.pairs { list-style: none; margin: 8px 0 0; padding: 0; font-size: 14px; }
.pairs li { display: grid; grid-template-columns: 3.5em 1fr; gap: 8px; padding: 3px 0; }
.pairs b { text-align: right; font-variant-numeric: tabular-nums; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(170px, 1fr)); gap: 16px;
  margin: 14px 0 0; padding: 0; list-style: none; }
.cards img, .cards .none { width: 100%; aspect-ratio: 1; object-fit: contain; display: block;
  background: var(--soft); border-radius: 8px; }
.cards .small { image-rendering: pixelated; }
.cards .none { display: grid; place-items: center; color: var(--faint); font-size: 13px; }
.said { display: grid; grid-template-columns: 1fr auto; gap: 0 8px; font-size: 13px; margin-top: 7px;
  line-height: 1.35; overflow-wrap: anywhere; }
.said span:last-child { font-variant-numeric: tabular-nums; white-space: nowrap; }
.said i { grid-column: 1 / -1; height: 4px; margin-top: 3px; border-radius: 2px;
  background: linear-gradient(var(--colour) 0 0) left / calc(100% * var(--part)) 100% no-repeat,
    var(--soft); }
.wrong { --colour: var(--wrong); } .right { --colour: var(--right); }
.cards .faint { font-size: 11.5px; line-height: 1.35; margin-top: 6px; }
.matrix canvas { display: block; width: 100%; aspect-ratio: 1; margin-top: 10px; cursor: crosshair;
  touch-action: none; border-radius: 6px; }
.matrix canvas:focus-visible { outline: 2px solid var(--right); outline-offset: 2px; }
.matrix p { margin-top: 6px; min-height: 1.4em; }
.matrix button { font: inherit; color: var(--ink); background: var(--soft); border: 1px solid var(--rule);
  border-radius: 6px; min-width: 2.2em; padding: 2px 8px; cursor: pointer; }
.scroll { overflow: auto; max-height: 78vh; margin-top: 8px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px; }
th { position: sticky; top: 0; background: var(--card); color: var(--faint); font-size: 12px;
  text-align: right; padding: 6px 10px; white-space: nowrap; cursor: pointer; }
th:hover, th:focus { color: var(--ink); }
th[aria-sort=descending]::after { content: " ↓"; } th[aria-sort=ascending]::after { content: " ↑"; }
td { text-align: right; padding: 4px 10px; border-top: 1px solid var(--rule); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; min-width: 9em; }
@media (max-width: 860px) { body { padding: 16px 12px 28px; } .pair { grid-template-columns: minmax(0, 1fr); }
  section, figure { padding: 14px 12px; } .figures, .cards { grid-template-columns: 1fr 1fr; }
  td, th { padding: 5px 7px; } }
)";

/// Sorts the table by the column whose name is clicked, numbers as numbers.
constexpr std::string_view kEvaluationScript = R"(
document.querySelectorAll('th').forEach((th, i) => {
  const sort = () => {
    const body = document.querySelector('tbody'), down = th.getAttribute('aria-sort') !== 'descending';
    document.querySelectorAll('th').forEach(other => other.removeAttribute('aria-sort'));
    th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const key = row => row.cells[i].dataset.value === undefined ? row.cells[i].textContent
                                                                : +row.cells[i].dataset.value;
    [...body.rows].sort((a, b) => {
      const x = key(a), y = key(b), order = x < y ? -1 : x > y ? 1 : 0;
      return down ? -order : order;
    }).forEach(row => body.append(row));
  };
  th.tabIndex = 0;
  th.addEventListener('click', sort);
  th.addEventListener('keydown', event => { if (event.key === 'Enter') sort(); });
});
)";

}  // namespace vit::tools
