// The expected table and the answered one beside each other, wrong places coloured and numbered.
const HEADING = -1;
const WHOLE = -1;
// A list of no more places stands there whole; a longer one scrolls inside of itself, and says so.
const PLACES_AT_ONCE = 16;

function valueOf(value) {
  return el("span", { class: value === null ? "value null" : "value" }, value === null ? "NULL" : value);
}

function marksAt(marks, row, column) {
  return marks.filter((each) => each[0] === row && (each[1] === column || (each[1] === WHOLE && row !== HEADING)));
}

// Under a wrong value: whose it is, or else the finding's name; it leads to the note.
function noteButtons(found, notes) {
  return found.map(([, , note]) => {
    const [kind, text, whose] = notes[note];
    return el("button", { type: "button", class: "note", title: text, onclick: () => showNote(note) },
      symbol(DATA.findings[kind].symbol), " ", whose || DATA.findings[kind].label);
  });
}

function showNote(number) {
  for (const each of document.querySelectorAll(".notes li")) each.classList.toggle("on", Number(each.dataset.note) === number);
  document.querySelector(".notes li.on")?.scrollIntoView({ block: "nearest" });
}

function heading(table, marks, notes, coloured) {
  return el("thead", {}, el("tr", {}, table.columns.map(([name, type], at) => {
    const found = marksAt(marks, HEADING, at);
    const colour = found.length && coloured ? `finding f-${notes[found[0][2]][0]}` : false;
    return el("th", { scope: "col", class: colour }, name, noteButtons(coloured ? found : [], notes), el("small", {}, type));
  })));
}

function valuesRow(table, row, marks, notes, coloured) {
  return el("tr", {}, table.rows[row].map((value, at) => {
    const found = marksAt(marks, row, at);
    const kind = found.length ? `f-${notes[found[0][2]][0]}` : "";
    const whole = found.length && found[0][1] === WHOLE;
    const style = coloured || whole ? "finding" : "wanted";
    const buttons = (coloured && !whole) || (whole && at === 0) ? noteButtons(found, notes) : [];
    return el("td", { class: found.length ? `${style} ${kind}` : false }, valueOf(value), buttons);
  }));
}

function valuesTable(table, side, marks) {
  const mine = marks[side === 0 ? "want" : "got"];
  const coloured = side === 1;
  const rows = marks.pairs.map((pair) => pair[side] === null
    ? el("tr", {}, el("td", { class: "absent", colspan: table.columns.length || 1 }, coloured ? "no such row in the answer" : "no such row expected"))
    : valuesRow(table, pair[side], mine, marks.notes, coloured));
  if (!rows.length) rows.push(el("tr", {}, el("td", { class: "absent", colspan: table.columns.length || 1 }, "no rows")));
  return el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": coloured ? "answered table" : "expected table" },
    el("table", { class: marks.notes.length ? "values marked" : "values" }, heading(table, mine, marks.notes, coloured), el("tbody", {}, rows)));
}

function alone(table) {
  return { notes: [], want: [], got: [], pairs: table.rows.map((_, at) => [at, at]) };
}

function notesList(marks) {
  if (!marks.notes.length) return null;
  const long = marks.notes.length > PLACES_AT_ONCE;
  return [long ? el("p", { class: "facts" }, `${marks.notes.length} wrong places; scroll in the list to see all of them:`) : null,
    el("ol", { class: long ? "notes long" : "notes", tabindex: long && 0 }, marks.notes.map(([kind, text], at) =>
      el("li", { "data-note": at }, findingChip(kind), " ", text)))];
}

function tablesSection(cell, reader) {
  if (!cell.want && !cell.got) return null;
  const [want, got] = [tableOf(cell.want), tableOf(cell.got)];
  const marks = cell.marks && { ...POOL[cell.marks], notes: POOL[cell.marks].notes.map((note) => POOL[note]) };
  return el("section", {}, el("h3", {}, got ? "Tables" : "Expected table"), el("div", { class: "beside" },
    want && el("div", {}, got && el("h4", {}, "Expected"), valuesTable(want, 0, marks || alone(want))),
    got && el("div", {}, el("h4", {}, `Answered by ${reader.reader}`), valuesTable(got, 1, marks || alone(got))),
  ), marks && notesList(marks), el("p", { class: "facts" }, marks && marks.notes.length ? "Dashed: the answer shows another value. " : null, DATA.traced));
}
