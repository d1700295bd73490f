// A pasted answer: which read strategy gives it. Tables are taken as engines' command lines print
// them: drawn with bars (Trino, Hive, Spark), separated by tabs, or as CSV, with or without names.
const NULLS = new Set(["null", "\\n", "<null>", "(null)", "[null]", "none", ""]);
const RULE = /^[\s|+=-]*[+-]{2,}[\s|+=-]*$/;

function csvFields(line) {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, inQuotes, bare]) => (inQuotes === undefined ? bare : inQuotes.replaceAll('""', '"')));
}

function splitLines(lines) {
  const drawn = lines.some((line) => RULE.test(line)) || lines.every((line) => /^\s*\|.*\|\s*$/.test(line));
  if (drawn) return lines.filter((line) => !RULE.test(line)).map((line) => line.trim().replace(/^\||\|$/g, "").split("|"));
  if (lines.some((line) => line.includes("\t"))) return lines.map((line) => line.split("\t"));
  return lines.map(csvFields);
}

function pastedRows(text) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() && !/^\(?\d+ rows?( selected)?\b.*\)?$/i.test(line.trim()) && !/^Time taken:/.test(line.trim()));
  return splitLines(lines).map((row) => row.map((value) => value.trim()));
}

const nameOf = (text) => text.replace(/^.*\./, "").replace(/^["`]|["`]$/g, "").toLowerCase();

// The columns of an answer in the order of the labels, Hudi's own left out; without names they must be in that order.
function columnsOf(rows, labels) {
  const wanted = labels.map((label) => label.toLowerCase());
  const heads = (rows[0] || []).map(nameOf);
  const named = wanted.every((label) => heads.includes(label));
  if (named && heads.every((head) => wanted.includes(head) || head.startsWith("_hoodie_"))) return { rows: rows.slice(1), order: wanted.map((label) => heads.indexOf(label)) };
  return { rows, order: rows.every((row) => row.length === labels.length) ? labels.map((_, at) => at) : null };
}

// A number without zeros that say nothing; any other text as it stands, but for upper case of what has a name.
function bareValue(text) {
  if (/^[+-]?\d+(\.\d*)?[eE][+-]?\d+$/.test(text)) return String(Number(text));
  if (/^[+-]?\d+(\.\d*)?$/.test(text)) return text.replace(/^\+/, "").replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
  if (/^[+-]?(true|false|null|nan|inf(inity)?)$/i.test(text)) return text.toLowerCase().replace("infinity", "inf");
  return text.replace(/(:\d\d\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

// A value without what command lines spell otherwise: quotes, brackets, and names in structs; of a map they are keys.
function spelling(text, named) {
  const pieces = text.trim().replace(/\bUTC$|Z$/, "").replace(/(\d)T(\d\d:)/g, "$1 $2").split(/[{}()[\],→]|\bROW\b/i);
  const parts = pieces.flatMap((piece) => {
    const [, name, value] = piece.match(/^\s*["'`]?(\w+)["'`]?\s*[=:]\s*(?!\d\d\b)(.*)$/) || [];
    return value === undefined ? [piece] : named ? [name, value] : [value];
  });
  return parts.map((part) => bareValue(part.trim().replace(/^["']|["']$/g, "").trim())).filter(Boolean).join("\u0001");
}

function sameValue(shown, pasted) {
  if (shown === null) return NULLS.has(pasted.toLowerCase());
  const inBrackets = /^[[{]/.test(shown);
  return shown === pasted || spelling(shown, false) === spelling(pasted, inBrackets && shown.includes("→"));
}

// Rows may come in any order: each pasted one must find one of its own.
function sameRows(rows, pasted) {
  if (rows.length !== pasted.length) return false;
  const free = [...pasted];
  return rows.every((row) => {
    const at = free.findIndex((other) => row.every((value, column) => sameValue(value, other[column])));
    if (at >= 0) free.splice(at, 1);
    return at >= 0;
  });
}

function isThis(table, pasted) {
  const { rows, order } = columnsOf(pasted, table.columns.map(([name]) => name));
  return Boolean(order) && sameRows(table.rows, rows.map((row) => order.map((at) => row[at] ?? "")));
}

const namesOf = (ways) => ways.map((way) => [el("b", {}, way), `: ${DATA.ways[way] || "a read strategy"}.`]);

// The smallest read strategies that give a pasted answer.
function waysOf(cell, pasted) {
  return (POOL[cell.read] || []).filter(([number]) => isThis(tableOf(number), pasted)).flatMap(([, names]) => POOL[names]);
}

// What can be said of a pasted answer; where several ways give it, none is claimed.
function pastedVerdict(cell, text) {
  const pasted = pastedRows(text);
  const want = tableOf(cell.want);
  if (!pasted.length || !want) return el("p", {}, want ? "Paste the rows that your engine printed." : "The expected answer to this question is not known here.");
  const labels = want.columns.map(([name]) => name);
  const right = isThis(want, pasted);
  const ways = waysOf(cell, pasted);
  if (!right && !ways.length && !columnsOf(pasted, labels).order) return el("p", {}, `These are not the columns of the question: ${labels.join(", ")}. Paste these columns in this order, or with their names in the first line.`);
  const small = cell.query !== "all" && labels.length === 1 && want.rows.length <= 1 || columnsOf(pasted, labels).rows.length === 0;
  return [el("p", {}, el("b", {}, right ? "This is the expected answer." : "This is not the expected answer.")), ...waysOfPasted(cell, ways, small, right), sameReaders(cell, pasted)];
}

function waysOfPasted(cell, ways, small, right) {
  if (!cell.read) return [el("p", {}, "Nobody in this run got this question wrong, so the page does not hold what each read strategy would answer. 'harness explain' shows it:"), el("pre", {}, commandOf("explain", cell))];
  if (!ways.length) return [el("p", {}, "None of the read strategies that were tried gives this answer.")];
  if (ways.length > 1) return [el("p", {}, "Several read strategies give exactly this answer, so none is claimed:"), el("ul", { class: "ways" }, namesOf(ways).map((way) => el("li", {}, way)))];
  if (small || right) return [el("p", {}, `One read strategy gives this answer, but ${right ? "a right answer" : "one this small"} proves nothing, so none is claimed: `, namesOf(ways))];
  return [el("p", {}, "This is exactly the answer of a reader that reads ", namesOf(ways))];
}

// Who in this run gave the same answer.
function sameReaders(cell, pasted) {
  const asked = CELLS.filter((other) => other.v === cell.v && other.s === cell.s && other.view === cell.view && other.query === cell.query && other.got);
  const same = asked.filter((other) => isThis(tableOf(other.got), pasted)).map((other) => DATA.readers[other.r].reader);
  return el("p", { class: "facts" }, same.length ? `In this run the same was answered by ${same.join("; ")}.` : "No reader of this run gave this answer.");
}

function pasteSection(cell) {
  if (!cell.want || !DATA.explains) return null;
  const found = el("div", { "aria-live": "polite", class: "pasted" });
  const field = el("textarea", { id: "pasted", rows: 6, spellcheck: "false", "aria-describedby": "pasted-help", oninput: () => found.replaceChildren(...[pastedVerdict(cell, field.value)].flat(Infinity)) });
  return el("section", { class: "pasting" }, el("h3", {}, el("label", { for: "pasted" }, "Paste the answer that you saw")),
    el("p", { class: "facts", id: "pasted-help" }, "Ask your engine the same (the SQL is below) and paste what its command line prints: a drawn table, CSV, or columns with tabs between. The page says which read strategy gives it; nothing leaves this page."), field, found);
}
