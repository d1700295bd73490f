// The matrix, its filters, and opening cells by their address.
const box = document.getElementById("matrix");
const filters = document.getElementById("filters");
const byCase = new Map(DATA.cells.map((cell) => [cell.case, cell]));
const links = new Map();
const rows = [];

function cellLink(cell) {
  const link = el("a", {
    class: `cell ${cell.k}`, href: address(cell),
    title: `${wordOf(cell)}${cell.known ? " (known)" : ""}: ${DATA.readers[cell.r].reader}, step ${cell.s}, ${viewName(cell)}`,
  }, el("span", { class: "word" }, symbol(DATA.verdicts[cell.k].symbol), el("span", {}, wordOf(cell))), cell.known ? el("span", { class: "tag" }, "known") : null);
  links.set(cell, link);
  return link;
}

function head() {
  return el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Scenario, and what was asked after each step"),
    DATA.readers.map((reader, at) => el("th", { scope: "col", "data-reader": at }, el("b", {}, reader.distribution), reader.settings))));
}

function stepName(step, cell, first) {
  return el("div", { class: "step" }, el("b", {}, first ? String(step.number) : ""), el("span", { class: "what" }, first ? step.text : ""),
    cell && el("span", { class: "view" }, viewName(cell)));
}

function noteRow(step, text) {
  return el("tr", { class: "note" }, el("th", { scope: "row" }, stepName(step, null, true)),
    el("td", { colspan: DATA.readers.length }, el("span", { class: "held" }, text)));
}

function stepRows(number, step, asked) {
  const made = [];
  const failed = step.outcome && step.outcome !== "applied";
  const why = step.refusal ? `${step.outcome} by the writer: ${step.refusal.kind}: ${step.refusal.message}` : step.because || step.outcome;
  if (failed) made.push([noteRow(step, why), null]);
  else if (!asked.size) made.push([noteRow(step, step.quiet ? "no questions asked here" : "nothing planned here"), null]);
  let first = !failed;
  for (const cells of asked.values()) {
    const any = cells.find(Boolean);
    const row = el("tr", { class: step.changes ? "change" : false }, el("th", { scope: "row" }, stepName(step, any, first)),
      DATA.readers.map((_, at) => el("td", { "data-reader": at }, cells[at] ? cellLink(cells[at]) : null)));
    made.push([row, cells.filter(Boolean)]);
    first = false;
  }
  return made;
}

function questionsOf(number) {
  const steps = new Map();
  for (const cell of DATA.cells) {
    if (cell.v !== number) continue;
    if (!steps.has(cell.s)) steps.set(cell.s, new Map());
    const asked = steps.get(cell.s);
    const question = viewName(cell);
    if (!asked.has(question)) asked.set(question, []);
    asked.get(question)[cell.r] = cell;
  }
  return steps;
}

function drawVariant(number, body) {
  const variant = DATA.variants[number];
  const title = el("tr", { class: "variant" }, el("th", { scope: "rowgroup", colspan: DATA.readers.length + 1 },
    el("span", {}, variant.id.startsWith(variant.scenario) ? variant.id.slice(variant.scenario.length) : variant.id)));
  body.append(title);
  const asked = questionsOf(number);
  for (const step of variant.steps) {
    for (const [row, cells] of stepRows(number, step, asked.get(step.number) || new Map())) {
      body.append(row);
      rows.push({ row, cells, title, body, variant });
    }
  }
}

function draw() {
  const names = [...new Set(DATA.variants.map((each) => each.scenario))];
  const bodies = names.map((name) => {
    const mine = DATA.variants.map((each, at) => [each, at]).filter(([each]) => each.scenario === name);
    const body = el("tbody", {}, el("tr", { class: "scenario" }, el("th", { scope: "rowgroup" }, el("b", {}, name)),
      el("td", { colspan: DATA.readers.length }, el("span", { class: "held" }, mine[0][0].about))));
    for (const [, at] of mine) drawVariant(at, body);
    return body;
  });
  const columns = el("colgroup", {}, el("col", { class: "first" }), DATA.readers.map((_, at) => el("col", { class: "reader", "data-reader": at })));
  box.replaceChildren(el("table", { style: `--readers: ${DATA.readers.length}` }, columns, head(), bodies));
  for (const name of names) filters.elements.scenario.append(el("option", { value: name }, name));
  DATA.readers.forEach((reader, at) => filters.elements.reader.append(el("option", { value: at }, reader.reader)));
}

function matches(cell, want) {
  const verdict = { "": true, bad: cell.k !== "correct", known: Boolean(cell.known), new: cell.k !== "correct" && !cell.known }[want.verdict] ?? cell.k === want.verdict;
  const finding = !want.finding || (cell.f || []).some(([kind]) => kind === want.finding);
  return verdict && finding && (want.reader === "" || cell.r === Number(want.reader));
}

function applyFilters() {
  const want = Object.fromEntries(["scenario", "reader", "verdict", "finding"].map((name) => [name, filters.elements[name].value]));
  const picky = want.verdict || want.finding;
  let shown = 0;
  const kept = new Set();
  for (const { row, cells, title, body, variant } of rows) {
    const here = !want.scenario || variant.scenario === want.scenario;
    const hits = here && cells ? cells.filter((cell) => matches(cell, want)) : [];
    for (const cell of cells || []) links.get(cell).classList.toggle("off", !hits.includes(cell));
    shown += hits.length;
    row.hidden = !here || (cells ? !hits.length : Boolean(picky));
    if (!row.hidden) kept.add(title).add(body);
  }
  for (const { title, body } of rows) { title.hidden = !kept.has(title); body.hidden = !kept.has(body); }
  for (const each of box.querySelectorAll("[data-reader]")) each.hidden = want.reader !== "" && each.dataset.reader !== want.reader;
  document.getElementById("count").textContent = `${shown.toLocaleString("en")} of ${plural(DATA.cells.length, "cell")}`;
  for (const each of document.querySelectorAll(".total")) each.setAttribute("aria-pressed", String(each.dataset.verdict === want.verdict));
}

// Cells in the order of the page, those that the filters leave.
const inOrder = () => rows.filter(({ row, cells }) => cells && !row.hidden).flatMap(({ cells }) => cells).filter((cell) => !links.get(cell).classList.contains("off"));

function neighbour(cell, by) {
  const cells = inOrder();
  return cells[cells.indexOf(cell) + by];
}

let opener = null;

function openCell(cell) {
  const inside = dialog.open && dialog.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  if (!dialog.open) opener = document.activeElement;
  const go = (by, text, label) => {
    const other = neighbour(cell, by);
    return el("button", { type: "button", "aria-label": label, disabled: !other, onclick: () => { if (other) location.replace(address(other)); } }, text);
  };
  drawCell(cell, [go(-1, "‹", "previous cell"), go(1, "›", "next cell"), el("button", { type: "button", "aria-label": "close", onclick: () => dialog.close() }, "Close")]);
  if (!dialog.open) dialog.showModal();
  const button = (label) => dialog.querySelector(`button[aria-label="${label}"]:not(:disabled)`);
  ((inside && button(inside)) || button("close")).focus();
  dialog.querySelector(".body").scrollTop = 0;
}

function caseOfAddress() {
  try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; }
}

function follow() {
  const cell = byCase.get(caseOfAddress());
  if (cell) openCell(cell);
  else if (dialog.open) dialog.close();
}

function moveFocus(event) {
  const link = event.target.closest("a.cell");
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (!link || !step) return;
  event.preventDefault();
  const lines = [...box.querySelectorAll("tbody:not([hidden]) tr:not([hidden])")].filter((row) => row.querySelector("a.cell"));
  const at = lines.indexOf(link.closest("tr")) + step[0];
  const column = link.closest("td").cellIndex + step[1];
  lines[at]?.cells[column]?.querySelector("a.cell")?.focus();
}

dialog.addEventListener("close", () => {
  const cell = byCase.get(caseOfAddress());
  history.replaceState(null, "", location.pathname + location.search);
  // Back to where one came from: a sentence's link, or the cell last looked at.
  if (opener && opener.closest("main a:not(.cell)")) opener.focus();
  else if (cell) links.get(cell).focus();
});
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
dialog.addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const cell = byCase.get(caseOfAddress());
  const other = by && cell && !event.target.closest(".scroll") && neighbour(cell, by);
  if (other) location.replace(address(other));
});
box.addEventListener("keydown", moveFocus);
filters.addEventListener("change", applyFilters);
filters.addEventListener("reset", () => setTimeout(applyFilters));
for (const each of document.querySelectorAll(".total")) {
  each.addEventListener("click", () => {
    const select = filters.elements.verdict;
    select.value = select.value === each.dataset.verdict ? "" : each.dataset.verdict;
    applyFilters();
  });
}
window.addEventListener("hashchange", follow);
draw();
applyFilters();
follow();
