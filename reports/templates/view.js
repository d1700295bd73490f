// What is looked at: the search, the opened rows and the cell, all of it in the address.
const search = document.getElementById("search");
const input = document.getElementById("query");
const byCase = new Map(CELLS.map((cell) => [cell.case, cell]));
// Of `open` null, nobody has opened or closed a row: a search that leaves few lines opens them.
const state = { q: "", open: null, cell: null };
let opener = null;

// `#CASE` is the address of a cell alone, which leaves the search; `#q=…&open=…&cell=…` that of a view.
function addressOf({ q, open, cell }) {
  const parts = [q && `q=${encodeURIComponent(q)}`, open && `open=${[...open].map(encodeURIComponent).join(",")}`, cell && `cell=${encodeURIComponent(cell)}`].filter(Boolean);
  return `#${cell && parts.length === 1 ? encodeURIComponent(cell) : parts.join("&")}`;
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

function readAddress(hash) {
  const text = hash.replace(/^#/, "");
  if (text && !/^(q|open|cell)=/.test(text)) return { ...state, cell: decoded(text) };
  const parts = new Map(text.split("&").map((part) => [part.split("=", 1)[0], part.slice(part.indexOf("=") + 1)]));
  const open = parts.has("open") ? new Set(parts.get("open").split(",").filter(Boolean).map(decoded)) : null;
  return { q: decoded(parts.get("q") || ""), open, cell: parts.has("cell") ? decoded(parts.get("cell")) : null };
}

const here = (address) => location.href.split("#", 1)[0] + address;
const isOpen = (item) => (state.open ? state.open.has(item.id) : table.few);

function openedNow() {
  return new Set(rows.flatMap((row) => (row.open ? [row.id, ...row.parts.filter((part) => part.open).map((part) => part.id)] : [])));
}

function toggle(item) {
  state.open ??= openedNow();
  if (item.open) state.open.delete(item.id);
  else state.open.add(item.id);
  setOpen(item, !item.open);
  write();
}

// The address says what is shown, without a step in the history for each letter.
function write() {
  history.replaceState(null, "", here(addressOf(state)) === here("#") ? here("") : addressOf(state));
}

function say(text) {
  document.getElementById("said").textContent = "";
  document.getElementById(dialog.open ? "said-in-cell" : "said").textContent = text;
}

// The one way to look for something: the query as it stands in its field.
function show() {
  const query = parseQuery(state.q);
  for (const row of rows) for (const item of [row, ...row.parts]) item.open = false;
  drawTable(query);
  const alone = rows.reduce((sum, row) => sum + row.hits.reduce((all, cell) => all + (cell.times || 0), 0), 0);
  document.getElementById("count").textContent = `${plural(table.order.length, "check")} of ${CELLS.length.toLocaleString("en")}${alone ? `, and ${alone.toLocaleString("en")} that are only counted` : ""}`;
  const problems = document.getElementById("problems");
  problems.replaceChildren(...query.problems.map((problem) => el("p", {}, problem)));
  input.setAttribute("aria-invalid", String(Boolean(query.problems.length)));
  for (const button of document.querySelectorAll("[data-term]")) {
    button.setAttribute("aria-pressed", String(state.q.split(/\s+/).includes(button.dataset.term)));
  }
}

function lookFor(text) {
  Object.assign(state, { q: text.trim(), open: null });
  if (input.value.trim() !== state.q) input.value = state.q;
  show();
  write();
}

function toggleTerm(term) {
  const [key, value] = term.split(":");
  lookFor(state.q.split(/\s+/).includes(term) ? withTerm(state.q, key, "") : withTerm(state.q, key, value));
}

async function copy(address) {
  const text = here(address);
  try {
    await navigator.clipboard.writeText(text);
    say("The link is copied.");
  } catch {
    say(text); // No access to the clipboard: it can be copied by hand.
  }
}

// Cells follow each other in the order of the page, those that the search leaves.
function neighbour(cell, by) {
  const order = table.order.includes(cell) ? table.order : CELLS;
  return order[order.indexOf(cell) + by];
}

function goTo(cell) {
  state.cell = cell.case;
  write();
  openCell(cell);
}

function openCell(cell) {
  const inside = dialog.open && dialog.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  if (!dialog.open) opener = document.activeElement;
  const go = (by, text, label) => {
    const other = neighbour(cell, by);
    return el("button", { type: "button", "aria-label": label, disabled: !other, onclick: () => { if (other) goTo(other); } }, text);
  };
  const link = el("button", { type: "button", "aria-label": "copy link", onclick: () => copy(addressOf({ cell: cell.case })) }, "Copy link");
  drawCell(cell, [go(-1, "‹", "previous check"), go(1, "›", "next check"), link, el("button", { type: "button", "aria-label": "close", onclick: () => dialog.close() }, "Close")]);
  if (!dialog.open) dialog.showModal();
  const button = (label) => dialog.querySelector(`button[aria-label="${label}"]:not(:disabled)`);
  ((inside && button(inside)) || button("close")).focus();
  dialog.querySelector(".body").scrollTop = 0;
}

// A place of the page, such as a cause: what hides it is opened.
function showPlace(id) {
  const place = id && document.getElementById(id);
  if (!place) return;
  for (let outer = place.closest("details"); outer; outer = outer.parentElement.closest("details")) outer.open = true;
  place.scrollIntoView();
}

function follow() {
  const wanted = readAddress(location.hash);
  if (wanted.cell && !byCase.has(wanted.cell) && document.getElementById(wanted.cell)) {
    if (!box.querySelector("table")) show();
    if (dialog.open) dialog.close();
    showPlace(wanted.cell);
    return;
  }
  const moved = wanted.q !== state.q || String([...(wanted.open || [])]) !== String([...(state.open || [])]);
  Object.assign(state, wanted);
  input.value = state.q;
  if (moved || !box.querySelector("table")) show();
  if (moved && (state.q || state.open)) document.getElementById("cells").scrollIntoView();
  const cell = byCase.get(state.cell);
  document.getElementById("problems").append(...(state.cell && !cell ? [el("p", {}, `This page has no check '${state.cell}'${DATA.counted.length ? "; most of so large a run is only counted here" : ""}.`)] : []));
  if (cell) goTo(cell);
  else if (dialog.open) dialog.close();
}

function focusCell(cell) {
  if (!links.has(cell)) return;
  links.get(cell).focus();
}

// Arrow keys go from field to field of the table, over what has none.
function moveFocus(event) {
  const from = event.target.closest("a.cell, th button");
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (!from || !step) return;
  event.preventDefault();
  const lines = [...box.querySelectorAll("tbody tr")];
  let at = lines.indexOf(from.closest("tr"));
  let column = from.closest("td, th").cellIndex;
  for (let next = null; !next; next?.focus()) {
    [at, column] = [at + step[0], column + step[1]];
    if (!lines[at] || column < 0 || column > table.readers.length) return;
    next = lines[at].cells[column]?.querySelector("a.cell, button");
  }
}

function typing(target) {
  return target.closest("input, textarea, select");
}

dialog.addEventListener("close", () => {
  const cell = byCase.get(state.cell);
  state.cell = null;
  if (document.getElementById(location.hash.slice(1)) === null) write();
  // Back to where one came from: a sentence's link, or the cell last looked at.
  if (opener && opener.isConnected && opener.closest("main a:not(.cell)")) opener.focus();
  else if (cell) focusCell(cell);
});
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
dialog.addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const cell = byCase.get(state.cell);
  const other = by && cell && !event.target.closest(".scroll, textarea") && neighbour(cell, by);
  if (other) goTo(other);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || typing(event.target) || dialog.open || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  input.focus();
  input.select();
});
let waiting = 0;
input.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => lookFor(input.value), 150);
});
input.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && input.value) { event.preventDefault(); lookFor(""); }
});
search.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(waiting);
  lookFor(input.value);
});
search.addEventListener("reset", (event) => { event.preventDefault(); lookFor(""); });
box.addEventListener("keydown", moveFocus);
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy], [data-term], [data-copy-view]");
  if (button?.dataset.copy) copy(button.dataset.copy);
  if (button?.dataset.term) toggleTerm(button.dataset.term);
  if (button && "copyView" in button.dataset) copy(addressOf(state));
  const link = event.target.closest('a[href^="#"]');
  if (link && link.hash === location.hash) follow(); // The same address again: what it names is shown.
});
window.addEventListener("hashchange", follow);
// On paper whatever is folded is of no use.
let folded = [];
window.addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll(".print details:not([open])")];
  for (const each of folded) each.open = true;
});
window.addEventListener("afterprint", () => { for (const each of folded) each.open = false; });
// The simplest check of a cause stands there: what was expected, answered before and answered now.
for (const place of document.querySelectorAll("[data-cell]")) {
  const cell = byCase.get(place.dataset.cell);
  if (cell) place.append(...[tablesSection(cell, DATA.readers[cell.r]), refusalSection(cell), beforeSection(cell)].filter(Boolean));
}
document.getElementById("help").addEventListener("toggle", () => document.getElementById("keys").replaceChildren(queryHelp()), { once: true });
follow();
