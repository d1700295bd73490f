"""Findings in words: an entry of `FINDINGS` says what a kind is called, means and describes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from harness.core.records import Finding, FindingKind, Responsible, Verdict, Witness
from harness.core.texts import counted
from harness.judge.recorded_by_table import LATEST, SHOWN
from harness.model.canonical import text_of
from harness.model.query import AGGREGATE
from harness.reports.words import Word, exact, kind_of, short, shown


@dataclass(frozen=True, slots=True)
class FindingWord(Word):
    origin: str = "the value of {name}{row} written at step {step}"
    row: str = "is not as expected"
    missing_row: str = ""
    """What is said of a row that the answer lacks; empty: the kind says nothing else of it."""
    of_parts: bool = False
    """Whether a part of a struct may have it that is absent or added."""
    of_types: bool = False
    repeats: bool = False
    """Whether the first of several rows with a key is right."""
    sentence: Callable[[Witness], str] | None = None
    """Describes a place instead of all this."""


def _two_answers(witness: Witness) -> str:
    cell = bool(witness.key and witness.column) or bool(AGGREGATE.fullmatch(witness.column))
    where = f"in row {witness.key}, {witness.column}" if witness.key else witness.column
    if not cell:
        where = f"column {where}" if witness.column else f"row {witness.key}".rstrip()
    before, now = (
        shown(value) if cell or value is not None else "absent"
        for value in (witness.actual, witness.expected)
    )
    return f"{where}: {before} after other questions to the server, {now} on a fresh server"


def _reused_id(witness: Witness) -> str:
    if not witness.key:
        return f"the history has {witness.actual} of one version_id"
    due = "an id of its own" if witness.expected is None else f"that of {text_of(witness.expected)}"
    return f"column {witness.column} has id {witness.key}, that of {witness.actual}; expected {due}"


def _other_schema(witness: Witness) -> str:
    value, due = text_of(witness.actual), text_of(witness.expected)
    what = witness.column if witness.column == LATEST else f"column {witness.column}"
    return f"by the table's own record {what} is {value}; expected {due}"


def _metadata(witness: Witness) -> str:
    shown_by = "show_commit_extra_metadata" if witness.key == SHOWN else "the commit's file"
    due = "nothing of that name" if witness.expected is None else repr(witness.expected)
    value = "no extra metadata" if witness.actual is None else repr(witness.actual)
    return f"of {witness.column} {shown_by} has {value}; expected {due}"


FINDINGS: Final[Mapping[FindingKind, FindingWord]] = {
    FindingKind.ORDER_DEPENDENT: FindingWord(
        "order dependent",
        "by order",
        "↻",
        "The same question had another answer on a server that had answered others before.",
        sentence=_two_answers,
    ),
    FindingKind.MISALIGNED: FindingWord(
        "misaligned", "misalign", "⇄", "Another column's value appears under this name."
    ),
    FindingKind.RESURRECTED: FindingWord(
        "resurrected",
        "resurr.",
        "↺",
        "A dropped column's value came back under a column of the same name.",
        origin="the value of the dropped column {name}{row} written at step {step}",
    ),
    FindingKind.STALE: FindingWord(
        "stale",
        "stale",
        "◷",
        "An older value, one that was taken back, or the columns of an older schema.",
        origin="the old value{row} written at step {step}",
        of_parts=True,
    ),
    FindingKind.PREMATURE: FindingWord(
        "premature",
        "too soon",
        "◴",
        "Newer than this view should show: from log files, or from a later step.",
        origin="the newer value{row} written at step {step}",
        row="is in the answer as in a newer table",
        missing_row="is missing, as in a newer table; the view should show {expected}",
        of_parts=True,
    ),
    FindingKind.MISSING_RENAME: FindingWord(
        "missing rename",
        "rename",
        "✎",
        "NULL instead of a value that was written under the column's former name.",
    ),
    FindingKind.LOST_VALUE: FindingWord(
        "lost value",
        "lost val",
        "∅",
        "NULL instead of a value, or no such column, and no former name or schema explains it.",
    ),
    FindingKind.GHOST_ROW: FindingWord(
        "ghost row",
        "ghost",
        "+",
        "A row that was deleted, or that the query does not ask for.",
        row="is in the answer although it was deleted or is not asked for",
    ),
    FindingKind.LOST_ROW: FindingWord(
        "lost row",
        "lost row",
        "−",  # noqa: RUF001
        "A row is missing from the answer.",
        missing_row="is not in the answer; expected {expected}",
    ),
    FindingKind.DUPLICATE: FindingWord(
        "duplicate",
        "twice",
        "×",  # noqa: RUF001
        "A row or a column appears more than once.",
        row="is in the answer more than once",
        repeats=True,
    ),
    FindingKind.ALTERED_VALUE: FindingWord(
        "altered value",
        "altered",
        "≈",
        "The right value with changed digits, time zone, precision, case or the like.",
    ),
    FindingKind.TYPE_DRIFT: FindingWord(
        "type drift",
        "type",
        "τ",
        "The right value in the wrong type, or a column of the wrong type.",
        of_types=True,
    ),
    FindingKind.REUSED_ID: FindingWord(
        "reused id",
        "used id",
        "⧉",
        "By the table's own history of its schema a column is another one: it has that one's id.",
        sentence=_reused_id,
    ),
    FindingKind.LOST_ID: FindingWord(
        "lost id",
        "lost id",
        "⌀",
        "By the table's own history of its schema a column is a new one, and it is not.",
        sentence=lambda witness: (
            f"column {witness.column} has the new id {witness.key}; expected that of "
            f"{text_of(witness.expected)}"
        ),
    ),
    FindingKind.LOW_MAX_ID: FindingWord(
        "low max id",
        "low max",
        "↧",
        "The table's max_column_id is below an id that it gave: the next column gets that one.",
        sentence=lambda w: (
            f"max_column_id is {w.actual}; expected at least {w.expected}, the id of {w.column}"
        ),
    ),
    FindingKind.LOST_VERSION: FindingWord(
        "lost version",
        "lost ver",
        "⊖",
        "The table's history of its schema lacks a version that its commits have.",
        sentence=lambda w: f"the history of the schema lacks {text_of(w.expected)}",
    ),
    FindingKind.OTHER_SCHEMA: FindingWord(
        "other schema",
        "schema",
        "⊜",
        "What the table says of its schema is not its schema: a column, a type or the order.",
        sentence=_other_schema,
    ),
    FindingKind.LOST_METADATA: FindingWord(
        "lost metadata",
        "no meta",
        "⊘",
        "The commit lacks extra metadata that the write was given.",
        sentence=_metadata,
    ),
    FindingKind.OTHER_METADATA: FindingWord(
        "other metadata",
        "metadata",
        "⊙",
        "The commit has extra metadata with another value, or that the write was not given.",
        sentence=_metadata,
    ),
    FindingKind.UNEXPLAINED: FindingWord(
        "unexplained",
        "unexpl.",
        "¿",
        "Wrong, and nothing that was written explains it, or more than one thing does.",
        row="is in the answer although it was never written",
        of_parts=True,
    ),
}


def witness_text(kind: FindingKind, witness: Witness) -> str:
    word = FINDINGS[kind]
    if word.sentence:
        return word.sentence(witness)
    if not witness.column:
        return _row_text(word, witness)
    if not witness.key and (named := AGGREGATE.fullmatch(witness.column)):
        what = named["extreme"] or "the count"
        return f"{what} is {shown(witness.actual)}; expected {shown(witness.expected)}"
    if _is_about_column(word, witness):
        return _column_text(word, witness)
    value, expected = shown(witness.actual), shown(witness.expected)
    if word.of_types:
        value += f" ({kind_of(witness.actual)})"
        expected += f" ({kind_of(witness.expected)})"
    whose = ""
    if origin := witness.origin:
        row = f" of row {origin.key}" if origin.key != witness.key else ""
        whose = f", {word.origin.format(name=origin.name, row=row, step=origin.step)}"
    whose += f", from the folder's name {short(witness.folder)}" if witness.folder else ""
    return f"in row {witness.key}, {witness.column} shows {value}{whose}; expected {expected}"


def _row_text(word: FindingWord, witness: Witness) -> str:
    row = f"row {witness.key}" if witness.key else "a row without a key"
    if word.missing_row and witness.actual is None:
        return f"{row} {word.missing_row.format(expected=short(exact(witness.expected)))}"
    return f"{row} {word.row}: {short(text_of(witness.actual))}"


def _is_about_column(word: FindingWord, witness: Witness) -> bool:
    # A part of a struct that is absent or added is seen in a row, but it is no wrong value: whose a
    # value is has the whole path.
    if not witness.key:
        return True
    name = witness.column.rpartition(".")[2]
    part = word.of_parts and (witness.origin is None or witness.origin.name == name)
    # A tuple of the two: a value with parts has no hash.
    return part and (witness.expected, witness.actual) in ((name, None), (None, name))


def _column_text(word: FindingWord, witness: Witness) -> str:
    if word.of_types:
        declared, expected = text_of(witness.actual), text_of(witness.expected)
        return f"column {witness.column} is declared as {declared}; expected {expected}"
    if witness.actual is None:
        return f"column {witness.column} is not in the answer"
    return f"column {witness.column} should not be in the answer, or is there twice"


def engine_text(witness: Witness) -> str:
    """Return the engine's own text of a wrong place; empty where it says no more than the value."""
    same = not witness.raw or witness.raw == text_of(witness.actual)
    return "" if same else f"the engine's own text: {short(witness.raw)}"


def witnesses_text(finding: Finding) -> str:
    more = len(finding.witnesses) - 1
    rest = f" (and {counted(more, 'more place')})" if more else ""
    return witness_text(finding.kind, finding.witness) + rest


def finding_text(finding: Finding) -> str:
    whose = BLAME[finding.responsible].short
    return witnesses_text(finding) + (f"; {whose}" if whose else "")


def findings_text(verdict: Verdict) -> str:
    return "; ".join(map(finding_text, verdict.findings))


def kinds_text(verdict: Verdict) -> str:
    return ", ".join(dict.fromkeys(FINDINGS[finding.kind].label for finding in verdict.findings))


@dataclass(frozen=True, slots=True)
class Blame:
    short: str
    meaning: str


BLAME: Final[Mapping[Responsible | None, Blame]] = {
    Responsible.READER: Blame(
        "the files hold what was written",
        "The reader is to blame: the data files hold what was written, and the answer differs.",
    ),
    Responsible.WRITER: Blame(
        "the files hold the same: the writer is to blame",
        "The writer is to blame: the data files themselves differ from what was written, and the "
        "reader shows what they hold.",
    ),
    Responsible.CATALOG: Blame(
        "the catalog does not list the partition: the writer is to blame",
        "The writer is to blame: the data files hold these rows, but no step entered their "
        "partition in the catalog, and whoever goes by the catalog cannot find them.",
    ),
    Responsible.COLUMNS: Blame(
        "the catalog has other columns: the writer is to blame",
        "The writer is to blame: it left the catalog with other columns than the table has, and "
        "whoever goes by the catalog shows those.",
    ),
    Responsible.HISTORY: Blame(
        "the table's own record of its columns is wrong: the writer is to blame",
        "The writer is to blame: what the table itself says of its columns does not fit older "
        "files: a column has the id of another one there, or its place. Whoever goes by it shows "
        "that one's values, or none.",
    ),
    Responsible.COMMIT: Blame(
        "the commit has other metadata: the writer is to blame",
        "The writer is to blame: the record of its commit, or what it shows of that, has other "
        "extra metadata than the write was given.",
    ),
    Responsible.STATISTICS: Blame(
        "stored statistics exclude the rows: the writer is to blame",
        "The writer is to blame: the data files hold these rows, but the stored statistics of a "
        "column say that they cannot, and whoever leaves out files by these loses them.",
    ),
    Responsible.FOLDER: Blame(
        "the name of the folder says the same: the writer is to blame",
        "The writer is to blame: the name of the folder, by which readers know the value of a "
        "partition, says something else than was written, and whoever goes by it shows that.",
    ),
    Responsible.MODEL: Blame(
        "engines and files agree: check the expected table first",
        "Nobody is blamed yet: several engines give this answer, and the data files hold it. Only "
        "the expected table disagrees, so the mistake may be the harness's own.",
    ),
    Responsible.UNSURE: Blame(
        "the files hold the same: the mistake is the writer's or our own",
        "It is not certain who is to blame: the data files, as we read them, hold this answer. But "
        "the statements do not prove it wrong, or another engine shows what was written. The "
        "mistake may be the writer's, or the harness's: in what it expects, or in how it reads "
        "the files.",
    ),
    None: Blame(
        "",
        "It is not known who is to blame: the values in the data files or the statistics of their "
        "columns could not be checked, or the run is older than that check. Or stored statistics "
        "exclude the rows, and the reader may have lost them in another way as well. Or the "
        "table's history takes the column of a condition for another one.",
    ),
}
