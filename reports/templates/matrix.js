// The matrix: a part for each scenario, whose lines are drawn when it is opened. A big run has so
// many cells that a browser needs half a minute and a gigabyte to draw them all.
const AT_ONCE = 4000; // So many cells are drawn unasked.
const box = document.getElementById("matrix");
const links = new Map();
const parts = partsOf();
const matrix = { want: {}, readers: [], order: [] };

// A line is what was asked after a step, with a cell for each reader, or a note why nothing was.
function linesOf(variant, asked) {
  return variant.steps.flatMap((step) => {
    const questions = asked.get(step.number) || [];
    const note = noteOf(step, questions);
    const lines = questions.map((question) => ({ variant, step, view: viewName(question), cells: question.cells }));
    return note ? [{ variant, step, note, cells: [] }, ...lines] : lines;
  });
}

function noteOf(step, questions) {
  const refusal = POOL[step.refusal];
  if (step.outcome && step.outcome !== "applied") return refusal ? `${step.outcome} by the writer: ${refusal.kind}: ${refusal.message}` : step.because || step.outcome;
  if (questions.length) return "";
  return step.quiet ? "no questions asked here" : "nothing planned here";
}

function partsOf() {
  const asked = DATA.variants.map(() => new Map());
  for (const question of DATA.questions) {
    const steps = asked[question.v];
    steps.set(question.s, [...(steps.get(question.s) || []), question]);
  }
  const found = new Map();
  DATA.variants.forEach((variant, at) => {
    if (!found.has(variant.scenario)) found.set(variant.scenario, { name: variant.scenario, about: variant.about, lines: [], open: false });
    found.get(variant.scenario).lines.push(...linesOf(variant, asked[at]));
  });
  return [...found.values()];
}

function matches(cell, want) {
  const verdict = { "": true, bad: cell.k !== "correct", known: Boolean(cell.known), new: cell.k !== "correct" && !cell.known }[want.verdict] ?? cell.k === want.verdict;
  const finding = !want.finding || (cell.f || []).some(([kind]) => kind === want.finding);
  const cause = !want.cause || (cell.causes || []).includes(Number(want.cause));
  return verdict && finding && cause && (want.reader === "" || cell.r === Number(want.reader));
}

function cellLink(cell) {
  const link = el("a", {
    class: `cell ${cell.k}${matches(cell, matrix.want) ? "" : " off"}`, href: address(cell),
    title: `${wordOf(cell)}${cell.known ? " (known)" : ""}: ${DATA.readers[cell.r].reader}, step ${cell.s}, ${viewName(cell)}`,
  }, el("span", { class: "word" }, symbol(DATA.verdicts[cell.k].symbol), el("span", {}, wordOf(cell))), cell.known ? el("span", { class: "tag" }, "known") : null);
  links.set(cell, link);
  return link;
}

function lineRow(line, first) {
  const name = el("th", { scope: "row" }, el("div", { class: "step" }, el("b", {}, first ? String(line.step.number) : ""),
    el("span", { class: "what" }, first ? line.step.text : ""), line.view && el("span", { class: "view" }, line.view)));
  if (line.note) return el("tr", { class: "note" }, name, el("td", { colspan: matrix.readers.length }, el("span", { class: "held" }, line.note)));
  const cells = new Map(line.cells.map((cell) => [cell.r, cell]));
  return el("tr", { class: line.step.changes ? "change" : false }, name,
    matrix.readers.map((at) => el("td", {}, cells.has(at) ? cellLink(cells.get(at)) : null)));
}

function variantRow(variant) {
  const name = variant.id.startsWith(variant.scenario) ? variant.id.slice(variant.scenario.length) : variant.id;
  return el("tr", { class: "variant" }, el("th", { scope: "rowgroup", colspan: matrix.readers.length + 1 }, el("span", {}, name)));
}

// The variant's name and the step's text stand above the first line of theirs that is left.
function lineRows(part) {
  return part.left.flatMap((line, at) => {
    const before = part.left[at - 1] || {};
    const row = lineRow(line, line.step !== before.step);
    return line.variant === before.variant ? [row] : [variantRow(line.variant), row];
  });
}

function setOpen(part, open) {
  part.open = open;
  part.button.setAttribute("aria-expanded", String(open));
  part.body.replaceChildren(...(open ? lineRows(part) : []));
}

// How many cells of a reader have which verdict.
function countsOf(cells) {
  return Object.entries(DATA.verdicts).map(([kind, word]) => {
    const count = cells.filter((cell) => cell.k === kind).length;
    const said = `${count} ${word.label}`;
    return count ? [el("span", { class: `chip ${kind}`, role: "img", title: said, "aria-label": said }, symbol(word.symbol), ` ${count}`), " "] : null;
  });
}

function partHead(part) {
  const name = part.name.split(/(?<=[/_])/).map((piece) => [piece, el("wbr")]);
  part.button = el("button", { type: "button", "aria-expanded": "false" }, el("span", {}, name));
  const head = el("tr", { class: "scenario" }, el("th", { scope: "rowgroup" }, part.button, el("small", {}, part.about)),
    matrix.readers.map((at) => el("td", {}, countsOf(part.hits.filter((cell) => cell.r === at)))));
  head.addEventListener("click", () => { part.byHand = !part.open; setOpen(part, part.byHand); });
  return el("tbody", {}, head);
}

function tableHead() {
  return el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Scenario, and what was asked after each step"),
    matrix.readers.map((at) => el("th", { scope: "col" }, el("b", {}, DATA.readers[at].distribution), DATA.readers[at].settings))));
}

function leave(part, want) {
  const here = !want.scenario || part.name === want.scenario;
  const picky = want.verdict || want.finding || want.cause;
  part.left = here ? part.lines.filter((line) => line.note ? !picky : line.cells.some((cell) => matches(cell, want))) : [];
  part.hits = part.left.flatMap((line) => line.cells.filter((cell) => matches(cell, want)));
}

function drawMatrix(want) {
  matrix.want = want;
  matrix.readers = want.reader === "" ? DATA.readers.map((_, at) => at) : [Number(want.reader)];
  for (const part of parts) leave(part, want);
  const left = parts.filter((part) => part.left.length);
  matrix.order = left.flatMap((part) => part.hits);
  const few = left.flatMap((part) => part.left).length * matrix.readers.length <= AT_ONCE;
  const columns = el("colgroup", {}, el("col", { class: "first" }), matrix.readers.map(() => el("col")));
  const bodies = left.map((part) => [partHead(part), part.body = el("tbody")]);
  box.replaceChildren(el("table", { style: `--readers: ${matrix.readers.length}` }, columns, tableHead(), bodies));
  box.scrollTo(0, 0);
  links.clear();
  for (const part of left) setOpen(part, Boolean(want.scenario || few || part.byHand));
}
