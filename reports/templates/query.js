// The query language: words, "quoted texts" and key:value, each with a minus in front for the opposite.
const MOST_NAMED = 15; // So many values of a key are named where one is not known.
const plain = (text) => String(text).toLowerCase().replace(/[_\s]+/g, "-");
const yesNo = (value) => (value ? "yes" : "no");
const each = (of) => [...new Set(CELLS.flatMap(of))].map(plain);

// A key: what it means, which values there are, and those of a cell. CHANGED is there where two runs are compared.
const KEYS = {
  is: { about: "the verdict; bad: anything but correct and open; new: bad and in no baseline", values: () => [...Object.keys(DATA.verdicts), "bad", "new", "known"],
    of: (cell) => [cell.k, ...(cell.k === "correct" || cell.k === "open" ? [] : cell.known ? ["bad"] : ["bad", "new"]), ...(cell.known ? ["known"] : [])] },
  kind: { about: "the finding", values: () => Object.keys(DATA.findings).map(plain), of: (cell) => (cell.f || []).map(([kind]) => plain(kind)) },
  reader: { about: "the reader, or a part of its name", values: () => DATA.readers.map((one) => plain(one.reader)), names: () => DATA.readers.map((one) => one.reader), of: (cell) => [plain(DATA.readers[cell.r].reader)] },
  default: { about: "whether the reader has no chosen setting", values: () => ["yes", "no"], of: (cell) => [yesNo(DATA.readers[cell.r].default)] },
  operation: { about: "since which operation it is so; of what is right, the last one before the question", values: () => [...each((cell) => cell.operations), ...DATA.counted.map(([, name]) => plain(name))], of: (cell) => cell.operations.map(plain) },
  cause: { about: "the number of the cause in the list", values: () => DATA.causes.slice(0, DATA.numbered).map((_, at) => String(at + 1)), of: (cell) => (cell.causes || []).map((at) => String(at + 1)) },
  scenario: { about: "the scenario, or a part of its name", values: () => DATA.variants.map((one) => plain(one.scenario)), names: () => DATA.variants.map((one) => one.scenario), of: (cell) => [plain(cell.scenario ?? DATA.variants[cell.v].scenario)] },
  format: { about: "the table's format", values: () => DATA.variants.map((one) => plain(one.format)), of: (cell) => ("v" in cell ? [plain(DATA.variants[cell.v].format)] : []) },
  writer: { about: "who wrote the table", values: () => DATA.variants.flatMap((one) => one.writers.map(plain)), of: (cell) => ("v" in cell ? DATA.variants[cell.v].writers.map(plain) : []) },
  step: { about: "the number of the step after which it was asked", values: () => each((cell) => [cell.s]), of: (cell) => ("s" in cell ? [String(cell.s)] : []) },
  view: { about: "the view that was asked", values: () => each((cell) => [cell.view]), of: (cell) => (cell.view ? [plain(cell.view)] : []) },
  query: { about: "the query; all: the whole table", values: () => each((cell) => [cell.query]), of: (cell) => (cell.query ? [plain(cell.query)] : []) },
  way: { about: "a read strategy that gives the answer", values: () => Object.keys(DATA.ways).map(plain), of: (cell) => (POOL[cell.ways] || []).map(plain) },
  party: { about: "whose doing a finding is", values: () => Object.keys(DATA.parties).filter(Boolean).map(plain), of: (cell) => (cell.f || []).map(([, number]) => plain(POOL[number].party)) },
  flaky: { about: "whether it was answered only when asked again", values: () => ["yes", "no"], of: (cell) => [yesNo(cell.attempts && !cell.refusal)] },
};
if (DATA.changes) {
  KEYS.changed = { about: "what became of the answer; worse: any that is", values: () => [...Object.keys(DATA.changes).map(plain), "worse"], of: (cell) => [plain(cell.changed), ...(DATA.changes[cell.changed]?.worse ? ["worse"] : [])] };
}
const ELSEWHERE = { changed: "this page tells of one run; 'harness compare' writes the page of two runs, which has this key" };

function splitValues(text) {
  return (text.match(/(?:"[^"]*"|[^,"])+/g) || []).map((value) => value.replaceAll('"', ""));
}

// The values of a key that are meant: the one so called, else all of which it is a part.
function meantBy(key, value) {
  const known = [...new Set(KEYS[key].values())];
  const wanted = plain(value);
  return known.includes(wanted) ? [wanted] : known.filter((one) => one.includes(wanted));
}

function keyTerm(not, key, text, problems) {
  if (!Object.hasOwn(KEYS, key)) {
    problems.push(`There is no key '${key}'${ELSEWHERE[key] ? `: ${ELSEWHERE[key]}` : `; the keys are ${Object.keys(KEYS).join(", ")}`}. To search for the text, put it in quotes.`);
    return null;
  }
  const meant = splitValues(text).map((value) => {
    const found = meantBy(key, value);
    const known = [...new Set(KEYS[key].values())];
    if (!found.length) problems.push(`Nothing here has ${key}:${value}; ${key} can be ${known.slice(0, MOST_NAMED).join(", ")}${known.length > MOST_NAMED ? " and others" : ""}.`);
    return found;
  });
  const accepted = new Set(meant.flat());
  return { not, test: (cell) => KEYS[key].of(cell).some((value) => accepted.has(value)) };
}

// A text is looked for in the cell's name, its step, and whatever its verdict says.
function textTerm(not, text) {
  const wanted = text.toLowerCase();
  const has = (said) => said.toLowerCase().includes(wanted);
  const hits = new Set();
  POOL.forEach((item, at) => {
    if (typeof item === "string" ? has(item) : item && !Array.isArray(item) && has([item.text, item.kind, item.code, item.message, item.cause].join("\n"))) hits.add(at);
  });
  const inSteps = STEPS.map((steps) => new Map([...steps].map(([number, step]) => [number, has(step.text)])));
  const inVariant = DATA.variants.map((variant) => has(variant.about));
  const kinds = new Set(Object.entries(DATA.findings).filter(([, word]) => has(word.label)).map(([kind]) => kind));
  return { not, test: (cell) => has(cell.case) || inVariant[cell.v] || inSteps[cell.v].get(cell.s) || hits.has(cell.because) || hits.has(cell.refusal) || hits.has(cell.known)
    || (cell.f || []).some(([kind, number]) => kinds.has(kind) || hits.has(number)) };
}

// What a query means, and what is wrong with it; a query with something wrong finds nothing.
function parseQuery(text) {
  const problems = [];
  const terms = [];
  if ((text.match(/"/g) || []).length % 2) problems.push('A quote (") is not closed.');
  for (const [, minus, key, value] of text.matchAll(/(-)?(?:([A-Za-z][\w-]*):)?((?:"[^"]*"|[^\s"])+)/g)) {
    const term = key ? keyTerm(Boolean(minus), key.toLowerCase(), value, problems) : textTerm(Boolean(minus), value.replaceAll('"', ""));
    if (term) terms.push(term);
  }
  for (const [, key] of text.matchAll(/(?:^|\s)-?([A-Za-z][\w-]*):(?=\s|$)/g)) problems.push(`After '${key}:' a value is missing.`);
  return { problems, empty: !terms.length && !problems.length, test: problems.length ? () => false : (cell) => terms.every((term) => term.test(cell) !== term.not) };
}

const quoted = (value) => (/^[\w.-]+$/.test(value) ? value : `"${value}"`);

// A query with a term in place of what it said of that key.
function withTerm(text, key, value) {
  const rest = text.replace(new RegExp(`(^|\\s)${key}:(?:"[^"]*"|[^\\s"])+`, "g"), " ").trim().replace(/\s+/g, " ");
  return [rest, value && `${key}:${quoted(value)}`].filter(Boolean).join(" ");
}

function queryHelp() {
  return el("dl", { class: "pairs" }, Object.entries(KEYS).map(([key, { about, values, names }]) => {
    const known = [...new Set((names || values)())];
    return [el("dt", {}, el("code", {}, `${key}:`)), el("dd", {}, `${about} `, el("small", {}, `(${known.slice(0, 6).join(", ")}${known.length > 6 ? ", …" : ""})`))];
  }));
}
