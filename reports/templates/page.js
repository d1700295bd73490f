// What the other scripts share: the data, and ways to make elements. Only text is ever set.
const DATA = JSON.parse(document.getElementById("data").textContent);
// What cells have in common stands in the pool once; 0 is the number of nothing.
const POOL = DATA.pool;
const tableOf = (number) => number && { columns: POOL[number].columns, rows: POOL[number].rows.map((row) => POOL[row] || []) };
for (const [q, question] of DATA.questions.entries()) {
  const { cells, ...shared } = question;
  question.cells = cells.map((cell) => ({ ...shared, q, ...cell, case: shared.case + DATA.readers[cell.r].reader }));
}
const CELLS = DATA.questions.flatMap((question) => question.cells);
// A cause names its cells by how far each is from the one before.
DATA.causes.forEach((gaps, cause) => {
  let at = 0;
  for (const gap of gaps) (CELLS[at += gap].causes ||= []).push(cause);
});
const STEPS = DATA.variants.map((variant) => new Map([variant.created, ...variant.steps].map((step) => [step.number, step])));

// A cell belongs to the operations since which it is as it is; where no cause tells that, to the last
// one before it. Most cells share their list of operations with others.
const SINCE = DATA.since.map((operation) => [operation]);
for (const question of DATA.questions) {
  const last = [STEPS[question.v].get(question.s)?.operation || `step ${question.s}`];
  for (const cell of question.cells) {
    const since = (cell.causes || []).filter((cause) => DATA.since[cause]);
    const several = () => [...new Set(since.map((cause) => DATA.since[cause]))];
    cell.operations = !since.length ? last : since.length === 1 ? SINCE[since[0]] : several();
  }
}

// Characters that a browser hides or that turn the text around are written out.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
const visible = (text) => String(text).replace(HIDDEN, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

function el(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    made.append(child instanceof Node ? child : visible(child));
  }
  return made;
}

const symbol = (text) => el("span", { class: "symbol", "aria-hidden": "true" }, text);
const viewName = (cell) => cell.view.replaceAll("_", "-") + (cell.query === "all" ? "" : ` ${cell.query}`);
const address = (cell) => `#${encodeURIComponent(cell.case)}`;
const plural = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many || `${one}s`}`;

function verdictChip(kind) {
  const word = DATA.verdicts[kind];
  return el("span", { class: `chip ${kind}` }, symbol(word.symbol), " ", word.label);
}

function findingChip(kind) {
  const word = DATA.findings[kind];
  return el("span", { class: `chip finding f-${kind}` }, symbol(word.symbol), " ", word.label);
}

// The word that stands for a cell where there is room for one only.
function wordOf(cell) {
  const findings = cell.f || [];
  if (cell.k !== "wrong" || !findings.length) return DATA.verdicts[cell.k].label;
  const more = findings.length > 1 ? ` +${findings.length - 1}` : "";
  return DATA.findings[findings[0][0]].label + more;
}
