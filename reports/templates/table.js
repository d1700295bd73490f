// The table: operations down, readers across. A row opens into scenarios, a scenario into steps and
// cells, which are drawn when they are opened: a browser needs half a minute to draw 50,000 of them.
const FEW = 60; // So many lines that a search leaves are opened unasked.
const box = document.getElementById("matrix");
const links = new Map();
const table = { test: () => true, empty: true, order: [], readers: DATA.readers.map((_, at) => at) };

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
  return "";
}

function operationsOfLine(line) {
  return line.note ? [line.step.operation] : new Set(line.cells.flatMap((cell) => cell.operations));
}

function partOf(rows, operation, variant) {
  if (!rows.has(operation)) rows.set(operation, { id: operation, name: operation, parts: new Map() });
  const { parts } = rows.get(operation);
  const name = variant.scenario;
  if (!parts.has(name)) parts.set(name, { id: `${operation}|${name}`, name, about: variant.about || "", operation, lines: [], counted: [] });
  return parts.get(name);
}

function rowsOf() {
  const asked = DATA.variants.map(() => new Map());
  for (const question of DATA.questions) {
    const steps = asked[question.v];
    steps.set(question.s, [...(steps.get(question.s) || []), question]);
  }
  const rows = new Map();
  DATA.variants.forEach((variant, at) => {
    for (const line of linesOf(variant, asked[at])) for (const operation of operationsOfLine(line)) partOf(rows, operation, variant).lines.push(line);
  });
  // What is too much to be held is counted: such a cell stands for many.
  for (const [scenario, operation, r, times, k] of DATA.counted) {
    const about = DATA.variants.find((variant) => variant.scenario === scenario);
    partOf(rows, operation, about || { scenario }).counted.push({ k, r, times, scenario, operations: [operation], case: scenario });
  }
  for (const row of rows.values()) {
    row.parts = [...row.parts.values()];
    for (const part of row.parts) part.own = part.lines.flatMap((line) => line.cells.filter((cell) => cell.operations.includes(part.operation)));
  }
  return [...rows.values()];
}

const count = (cells, kind) => cells.reduce((sum, cell) => sum + (cell.k === kind ? cell.times || 1 : 0), 0);

// The rows with most silent wrong answers first, and those since which nobody knows last.
function ranked(found) {
  const badness = (row) => {
    const total = (kind) => row.parts.reduce((sum, part) => sum + count(part.own, kind), 0);
    return [row.id.includes(" or ") ? 1 : 0, -total("wrong"), -total("refused")];
  };
  const keyed = found.map((row) => [badness(row), row]);
  return keyed.sort(([a], [b]) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]).map(([, row]) => row);
}
const rows = ranked(rowsOf());

// What many cells are together: the worst of them decides, and "partly" tells that it is not all.
function standing(counts) {
  const total = Object.values(counts).reduce((sum, each) => sum + each, 0);
  const answered = total - (counts.unsupported || 0);
  for (const [kind, whole, some] of [["wrong", "wrong", "partly wrong"], ["refused", "refuses", "partly refuses"], ["unknown", "unknown", "partly unknown"], ["open", "open", "partly open"]]) {
    if (counts[kind]) return { kind, partly: counts[kind] < answered, word: counts[kind] < answered ? some : whole, said: `${counts[kind].toLocaleString("en")} of ${total.toLocaleString("en")}` };
  }
  if (counts.correct) return { kind: "correct", word: "right", said: counts.unsupported ? `${counts.correct.toLocaleString("en")} of ${total.toLocaleString("en")}` : counts.correct.toLocaleString("en") };
  return total ? { kind: "unsupported", word: "unsupported", said: total.toLocaleString("en") } : null;
}

function countsOf(hits) {
  const counts = DATA.readers.map(() => ({}));
  for (const cell of hits) counts[cell.r][cell.k] = (counts[cell.r][cell.k] || 0) + (cell.times || 1);
  return counts;
}

function sumLink(counts, terms) {
  const found = standing(counts);
  if (!found) return el("span", { class: "none" }, el("span", { class: "symbol", "aria-hidden": "true" }, "·"), el("span", { class: "visually-hidden" }, "not asked"));
  const all = Object.entries(DATA.verdicts).filter(([kind]) => counts[kind]).map(([kind, word]) => `${counts[kind].toLocaleString("en")} ${word.label}`);
  return el("a", { class: `cell sum ${found.kind}${found.partly ? " partly" : ""}`, href: addressOf({ q: terms(), open: null, cell: null }), title: `${all.join(", ")}: show these cells` },
    el("span", { class: "word" }, symbol(found.partly ? "◐" : DATA.verdicts[found.kind].symbol), el("span", {}, found.word)), el("small", {}, found.said));
}

function cellLink(cell, isOwn) {
  const link = el("a", {
    class: `cell ${cell.k}${isOwn && table.test(cell) ? "" : " off"}`, href: addressOf({ cell: cell.case }),
    title: `${wordOf(cell)}${cell.known ? " (known)" : ""}: ${DATA.readers[cell.r].reader}, step ${cell.s}, ${viewName(cell)}`,
  }, el("span", { class: "word" }, symbol(DATA.verdicts[cell.k].symbol), el("span", {}, wordOf(cell))),
  cell.known ? el("span", { class: "tag" }, "known") : null, cell.changed ? el("span", { class: "tag" }, cell.changed) : null);
  if (isOwn) links.set(cell, link);
  return link;
}

function lineRow(part, line, first) {
  const name = el("th", { scope: "row" }, el("div", { class: "step" }, el("b", {}, first ? String(line.step.number) : ""),
    el("span", { class: "what" }, first ? line.step.text : ""), line.view && el("span", { class: "view" }, line.view)));
  if (line.note) return el("tr", { class: "note" }, name, el("td", { colspan: table.readers.length }, el("span", { class: "held" }, line.note)));
  const cells = new Map(line.cells.map((cell) => [cell.r, cell]));
  return el("tr", { class: line.step.changes ? "change" : false }, name,
    table.readers.map((at) => el("td", {}, cells.has(at) ? cellLink(cells.get(at), cells.get(at).operations.includes(part.operation)) : null)));
}

function variantRow(variant) {
  const name = variant.id.startsWith(variant.scenario) ? variant.id.slice(variant.scenario.length) : variant.id;
  return el("tr", { class: "variant" }, el("th", { scope: "rowgroup", colspan: table.readers.length + 1 }, el("span", {}, name || variant.id)));
}

// The variant's name and the step's text stand above the first line of theirs that is left.
function lineRows(part) {
  const counted = part.hits.length - part.own.filter(table.test).length;
  const note = counted ? [el("tr", { class: "note" }, el("th", { scope: "row" }, "counted"), el("td", { colspan: table.readers.length }, "These cells are counted alone: the run is too large for the page to hold them."))] : [];
  return [...note, ...part.left.flatMap((line, at) => {
    const before = part.left[at - 1] || {};
    const row = lineRow(part, line, line.step !== before.step || line.variant !== before.variant);
    return line.variant === before.variant ? [row] : [variantRow(line.variant), row];
  })];
}

// What several readers made of the questions that all of them were asked, each as a word.
function onSame(readers, byQuestion) {
  const asked = [...byQuestion.values()].filter((kinds) => readers.every(([at]) => kinds.has(at) && kinds.get(at) !== "unknown"));
  return asked.length ? readers.map(([at, name]) => {
    const counts = {};
    for (const kinds of asked) counts[kinds.get(at)] = (counts[kinds.get(at)] || 0) + 1;
    return { name, ...standing(counts) };
  }) : [];
}

// Where versions of a product, or settings of a distribution, differ: since which one, with which one.
function sinceList(hits) {
  if (!DATA.versions) return null;
  const byQuestion = new Map();
  for (const cell of hits) byQuestion.set(cell.q, (byQuestion.get(cell.q) || new Map()).set(cell.r, cell.k));
  const versions = DATA.versions.flatMap(({ name, readers }) => readers.slice(1).map((newer, at) => {
    const [before, now] = onSame([readers[at], newer], byQuestion);
    return now && now.kind !== before.kind && `${name}: ${now.word} since ${now.name}, ${before.word} before`;
  }));
  const settings = DATA.settings.map(({ name, readers }) => {
    const words = new Map();
    for (const found of onSame(readers, byQuestion)) words.set(found.word, [...(words.get(found.word) || []), found.name]);
    return words.size > 1 && `${name}: ${[...words].map(([word, names]) => `${word} with ${names.join(" or ")}`).join("; ")}`;
  });
  const texts = [...versions, ...settings].filter(Boolean);
  return texts.length ? el("details", { class: "since" }, el("summary", {}, `${plural(texts.length, "version or setting differs", "versions or settings differ")}`), el("ul", {}, texts.map((text) => el("li", {}, text)))) : null;
}

// The head of a row or of a scenario, which opens it.
function headRow(item, level, about, terms) {
  const name = item.name.split(/(?<=[/_])/).map((piece) => [piece, el("wbr")]);
  item.button = el("button", { type: "button", "aria-expanded": "false" }, el("span", {}, name));
  item.button.addEventListener("click", () => toggle(item));
  const counts = countsOf(item.hits);
  return el("tr", { class: level }, el("th", { scope: "row" }, item.button, el("small", {}, about), sinceList(item.hits)),
    table.readers.map((at) => el("td", {}, sumLink(counts[at], () => terms(DATA.readers[at].reader)))));
}

function partRows(part) {
  const terms = (reader) => withTerm(withTerm(withTerm(state.q, "operation", part.operation), "scenario", part.name), "reader", reader);
  const head = el("tbody", {}, headRow(part, "scenario", part.about, terms));
  part.body = el("tbody");
  part.draw = () => lineRows(part);
  return [head, part.body];
}

function setOpen(item, open) {
  item.open = open;
  item.button.setAttribute("aria-expanded", String(open));
  if (item.body) item.body.replaceChildren(...(open ? item.draw() : []));
  else drawParts(item, open);
}

// A row's scenarios stand behind its head; they are bodies of the table as well.
function drawParts(row, open) {
  for (const each of row.drawn) each.remove();
  const left = open ? row.parts.filter((part) => part.hits.length || part.left.length) : [];
  row.drawn = left.flatMap(partRows);
  row.head.after(...row.drawn);
  for (const part of left) if (isOpen(part)) setOpen(part, true);
}

function tableHead() {
  return el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Since which operation"), table.readers.map((at) => {
    const reader = DATA.readers[at];
    return el("th", { scope: "col" }, el("b", {}, reader.distribution), reader.settings, (DATA.before || {})[reader.reader] && DATA.before[reader.reader] !== reader.reader ? el("small", {}, ` before: ${DATA.before[reader.reader]} `) : null, reader.default ? [" ", el("span", { class: "tag" }, "default")] : null);
  })));
}

function leave(part) {
  const all = part.counted.length ? [...part.own, ...part.counted] : part.own;
  part.hits = table.empty ? all : all.filter(table.test);
  const hits = table.empty || new Set(part.hits);
  part.left = table.empty ? part.lines : part.hits.length ? part.lines.filter((line) => line.cells.some((cell) => hits.has(cell))) : [];
}

function drawTable(query) {
  table.test = query.test;
  table.empty = query.empty;
  links.clear();
  for (const row of rows) {
    for (const part of row.parts) leave(part);
    row.hits = row.parts.flatMap((part) => part.hits);
    row.drawn = [];
  }
  const left = rows.filter((row) => row.hits.length || (query.empty && row.parts.some((part) => part.left.length)));
  table.order = [...new Set(left.flatMap((row) => row.hits))].filter((cell) => !cell.times);
  const seen = new Set(left.flatMap((row) => row.hits.map((cell) => cell.r)));
  table.readers = DATA.readers.map((_, at) => at).filter((at) => query.empty || seen.has(at));
  table.few = !query.empty && left.flatMap((row) => row.parts.flatMap((part) => part.left)).length <= FEW;
  const columns = el("colgroup", {}, el("col", { class: "first" }), table.readers.map(() => el("col")));
  const heads = left.map((row) => {
    const scenarios = row.parts.filter((part) => part.hits.length).length;
    return row.head = el("tbody", {}, headRow(row, "operation", plural(scenarios, "scenario"), (reader) => withTerm(withTerm(state.q, "operation", row.id), "reader", reader)));
  });
  box.replaceChildren(left.length ? el("table", { style: `--readers: ${table.readers.length}` }, columns, tableHead(), heads) : el("p", { class: "nothing" }, "No cell is left."));
  box.scrollTo(0, 0);
  for (const row of left) if (isOpen(row)) setOpen(row, true);
}
