// One cell, opened: the verdict and everything it rests on.
const dialog = document.getElementById("cell");

function pairs(...entries) {
  const shown = entries.filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false);
  return el("dl", { class: "pairs" }, shown.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

function verdictSection(cell) {
  const said = [el("li", {}, verdictChip(cell.k), el("span", {}, DATA.verdicts[cell.k].meaning))];
  if (cell.because) said.push(el("li", {}, el("b", {}, cell.k === "refused" ? "It means" : "Why"), el("span", {}, POOL[cell.because])));
  for (const [kind, number] of cell.f || []) said.push(findingItem(cell, kind, POOL[number]));
  if (cell.known) said.push(el("li", {}, el("span", { class: "tag" }, "known"), el("span", {}, POOL[cell.known])));
  return el("ul", { class: "said" }, said);
}

function findingItem(cell, kind, finding) {
  const columns = finding.columns.length ? `${finding.columns.join(", ")}: ` : "";
  const alone = cell.k === "refused" ? " (in columns asked alone)" : "";
  return el("li", {}, findingChip(kind), el("div", {}, DATA.findings[kind].meaning, el("br"),
    el("b", {}, columns), finding.text, alone, ". ", el("span", { class: "facts" }, DATA.parties[finding.party])));
}

function waysSection(cell) {
  if (!cell.ways || cell.k === "correct" || cell.k === "open") return null;
  const told = POOL[cell.ways].map((way) => [el("b", {}, way), `: ${DATA.ways[way]}.`]);
  const unclaimed = told.length === 1
    ? "One read strategy gives the same answer, but an answer this small proves nothing, so none is claimed:"
    : "Several read strategies give exactly this answer, so none is claimed:";
  return el("section", {}, el("h3", {}, "Which read strategy gives this answer"), cell.claimed
    ? el("p", {}, "This is exactly the answer of a reader that reads ", told)
    : [el("p", {}, unclaimed), el("ul", { class: "ways" }, told.map((way) => el("li", {}, way)))]);
}

// A command of the harness for a cell, as a shell takes it.
const commandOf = (verb, cell) => `harness ${verb} '${cell.case.replaceAll("'", `'"'"'`)}'`;

function adviceSection(cell) {
  if (!cell.advice) return null;
  return el("section", {}, el("h3", {}, "What to do"), el("ul", { class: "ways" }, POOL[cell.advice].map(([text, verb]) =>
    el("li", {}, text, verb ? [":", el("pre", {}, commandOf(verb, cell))] : null))));
}

// The causes of a cell lead to where the page tells what helps.
function causesSection(cell) {
  const causes = (cell.causes || []).map((at) => document.getElementById(`cause-${at + 1}`)).filter(Boolean);
  return causes.length ? el("p", {}, plural(causes.length, "Cause", "Causes").replace(/^[\d,]+ /, ""), ": ", causes.map((cause, at) =>
    [at ? "; " : "", el("a", { href: `#${cause.id}` }, cause.dataset.title)])) : null;
}

// What the same cell was before, where two runs are compared.
function beforeSection(cell) {
  if (!cell.was) return null;
  const { was } = cell;
  const findings = (was.f || []).map(([kind, number]) => findingItem(was, kind, POOL[number]));
  const [want, got] = [tableOf(was.want), tableOf(was.got)];
  const marks = was.marks && { ...POOL[was.marks], notes: POOL[was.marks].notes.map((note) => POOL[note]) };
  return el("section", {}, el("h3", {}, `Before: ${was.reader}`), el("ul", { class: "said" }, el("li", {}, verdictChip(was.k), el("span", {}, DATA.changes[cell.changed].meaning)), findings),
    got && el("div", { class: "beside" }, el("div", {}, el("h4", {}, "Answered before"), valuesTable(got, 1, marks || alone(got))), want && el("div", {}, el("h4", {}, "Expected then"), valuesTable(want, 0, marks || alone(want)))),
    was.refusal ? refusalBox(POOL[was.refusal]) : null);
}

function refusalBox(refusal) {
  return pairs(["Error", el("code", {}, refusal.kind)], ["Code", refusal.code], ["Message", el("pre", {}, refusal.message)],
    ["Innermost cause", refusal.cause && !refusal.message.includes(refusal.cause) && el("pre", {}, refusal.cause)]);
}

function partRow(part) {
  const [table, refusal] = [tableOf(part.table), POOL[part.refusal]];
  const last = table.columns.length - 1;
  let answer = el("span", {}, table.rows.map((row, at) => [at ? ", " : "", `${row[0]}: `, valueOf(row[last])]));
  if (refusal) answer = el("span", {}, verdictChip("refused"), ` ${refusal.kind}: ${refusal.message}`);
  if (part.unknown) answer = el("span", {}, verdictChip("unknown"), ` ${part.unknown}`);
  return el("tr", {}, el("th", { scope: "row" }, el("code", {}, part.column)), el("td", {}, answer), el("td", { class: "sql" }, part.sql ? el("code", {}, POOL[part.sql]) : "not sent: the key column alone was refused"));
}

function refusalSection(cell) {
  if (!cell.refusal) return null;
  const parts = (POOL[cell.parts] || []).map((number) => POOL[number]);
  return el("section", {}, el("h3", {}, "The engine's error"), refusalBox(POOL[cell.refusal]),
    parts.length ? [el("h3", {}, "Each column asked alone, so that one does not hide the others"), el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "table" }, el("table", { class: "plain" },
      el("thead", {}, el("tr", {}, ["Column", "Answer (key: value)", "SQL"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, parts.map(partRow))))] : null);
}

function agreementSection(cell) {
  const groups = POOL[cell.agree];
  return el("section", {}, el("h3", {}, "Who else was asked, grouped by equal answers"), el("ul", { class: "said" }, groups.map(([, kind, readers]) =>
    el("li", {}, verdictChip(kind), el("span", {}, readers.map((number, at) => [at ? "; " : "",
      number === cell.r ? el("b", {}, DATA.readers[number].reader) : DATA.readers[number].reader]))))));
}

function fileRow(file, at) {
  // Without the instant: a state can be of another writing than the record that tells its steps.
  const step = file.step === null ? file.instant : `step ${file.step}`;
  const columns = (POOL[file.columns] || []).map(([name, type]) => el("span", {}, name, " ", el("small", {}, type)));
  const meta = file.meta ? el("small", {}, `after ${plural(file.meta, "meta column")}: `) : null;
  const keys = file.keys.join(", ") + (file.deleted.length ? `; deleted: ${file.deleted.join(", ")}` : "");
  return el("tr", {}, el("td", {}, `#${at + 1}`), el("td", {}, el("code", {}, file.path), el("br"), el("small", {}, `file group ${file.group}`)),
    el("td", {}, file.kind), el("td", {}, step), el("td", {}, el("div", { class: "columns" }, meta, columns)), el("td", {}, keys));
}

function filesSection(step) {
  const files = ((step && POOL[step.files]) || []).map((number) => POOL[number]);
  if (!files.length) return null;
  return el("section", {}, el("h3", {}, `Files of the table, the oldest first (${files.length})`), el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "table" },
    el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ["Number", "File", "Kind", "Written by", "Columns in the file's order", "Rows"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, files.map(fileRow)))));
}

function askedSection(cell, reader) {
  const attempts = (POOL[cell.attempts] || []).map(([what, log], at) => el("div", {}, `${at + 1}. ${what}`, log && el("pre", {}, log)));
  return el("section", {}, el("h3", {}, "How it was asked"), pairs(
    ["SQL as sent", POOL[cell.sql] && el("pre", {}, POOL[cell.sql])],
    ["Distribution", `${reader.distribution} (${reader.fidelity})`],
    ["Settings", reader.beside],
    ["Confirmed by the engine", POOL[cell.confirmed]],
    ["Normalised, as declared", cell.evened ? cell.evened.join("; ") : null],
    ["Time", cell.sec !== undefined || cell.reused ? `${cell.sec || 0} s${cell.reused ? ", reused from an identical table state" : ""}` : null],
    ["Attempts without an answer", attempts.length ? attempts : null],
    ["Case", el("code", {}, cell.case)]));
}

function historySection(cell, variant) {
  const steps = [variant.created, ...variant.steps.filter((step) => step.number && step.number <= cell.s)];
  const refused = (step) => step.outcome && step.outcome !== "applied" ? el("b", {}, ` (${step.outcome})`) : null;
  const shown = steps.map((step) => el("li", { value: step.number, class: step.number === cell.s ? "now" : false }, step.text, refused(step)));
  const lines = steps.map((step) => el("li", { value: step.number }, step.text, refused(step),
    step.statements ? el("pre", {}, POOL[step.statements].join(";\n")) : null));
  return el("section", {}, el("h3", {}, "What was written before the question"), el("ol", { class: "steps" }, shown),
    el("details", {}, el("summary", {}, "The statements that were sent"), el("ol", {}, lines)));
}

function sourceSection(variant) {
  return el("section", {}, el("h3", {}, "The table"),
    pairs(["Written by", variant.writers.join(", ")], ["Settings", Object.entries(variant.settings).map(([k, v]) => `${k}=${v}`).join(", ")], ["Source", variant.source]),
    POOL[variant.yaml] ? el("details", {}, el("summary", {}, "Scenario file"), el("pre", {}, POOL[variant.yaml])) : null);
}

function drawCell(cell, buttons) {
  const reader = DATA.readers[cell.r];
  const variant = DATA.variants[cell.v];
  const step = variant.steps.find((each) => each.number === cell.s);
  const where = `${variant.id}, after step ${cell.s}${step ? ` '${step.text}'` : ""}, view ${viewName(cell)}`;
  dialog.replaceChildren(
    el("div", { class: "bar" }, el("div", {}, el("h2", { id: "cell-title" }, reader.reader), el("p", {}, where)), el("div", { class: "buttons" }, buttons)),
    el("div", { class: "body", tabindex: 0, role: "group", "aria-label": "The check" }, el("output", { id: "said-in-cell", "aria-live": "polite" }), verdictSection(cell), causesSection(cell), waysSection(cell), adviceSection(cell),
      historySection(cell, variant), tablesSection(cell, reader), beforeSection(cell), refusalSection(cell), pasteSection(cell), agreementSection(cell), askedSection(cell, reader), filesSection(step), sourceSection(variant)));
}
