// Going through the cells: filters, opening a cell by its address, the next one, and the keyboard.
const filters = document.getElementById("filters");
const byCase = new Map(CELLS.map((cell) => [cell.case, cell]));
let opener = null;

const FILTERS = ["scenario", "reader", "verdict", "cause", "finding"];

function applyFilters() {
  const want = Object.fromEntries(FILTERS.map((name) => [name, filters.elements[name].value]));
  drawMatrix(want);
  document.getElementById("count").textContent = `${matrix.order.length.toLocaleString("en")} of ${plural(CELLS.length, "cell")}`;
  for (const each of document.querySelectorAll(".total")) each.setAttribute("aria-pressed", String(each.dataset.verdict === want.verdict));
}

// Cells follow each other in the order of the page, those that the filters leave.
function neighbour(cell, by) {
  return matrix.order[matrix.order.indexOf(cell) + by];
}

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

// The address of a cause shows its cells and no others.
function showCause(at) {
  for (const name of FILTERS) filters.elements[name].value = name === "cause" ? at : "";
  applyFilters();
  document.getElementById("cells").scrollIntoView();
  box.focus({ preventScroll: true });
}

function follow() {
  const [, cause] = location.hash.match(/^#cells-of-(\d+)$/) || [];
  if (DATA.causes[cause]) showCause(cause);
  const cell = byCase.get(caseOfAddress());
  if (cell) openCell(cell);
  else if (dialog.open) dialog.close();
}

function focusCell(cell) {
  const part = parts.find((each) => each.hits.includes(cell));
  if (part && !part.open) setOpen(part, true);
  links.get(cell)?.focus();
}

function moveFocus(event) {
  const link = event.target.closest("a.cell");
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (!link || !step) return;
  event.preventDefault();
  const lines = [...box.querySelectorAll("tbody tr")].filter((row) => row.querySelector("a.cell"));
  const at = lines.indexOf(link.closest("tr")) + step[0];
  const column = link.closest("td").cellIndex + step[1];
  lines[at]?.cells[column]?.querySelector("a.cell")?.focus();
}

dialog.addEventListener("close", () => {
  const cell = byCase.get(caseOfAddress());
  history.replaceState(null, "", location.pathname + location.search);
  // Back to where one came from: a sentence's link, or the cell last looked at.
  if (opener && opener.closest("main a:not(.cell)")) opener.focus();
  else if (cell) focusCell(cell);
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
document.querySelector("main").addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#cells-of-"]');
  if (link && link.hash === location.hash) follow(); // Filters were changed since; the address was not.
});
for (const part of parts) filters.elements.scenario.append(el("option", { value: part.name }, part.name));
DATA.readers.forEach((reader, at) => filters.elements.reader.append(el("option", { value: at }, reader.reader)));
applyFilters();
follow();
