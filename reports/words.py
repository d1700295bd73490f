"""What all reports call verdicts and findings, and what each means in one sentence."""

import datetime
import decimal
import logging
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, TypeVar

from harness.core.records import Answer, Refusal, Verdict, VerdictKind
from harness.core.texts import printable
from harness.model.canonical import MapValue, Value, text_of
from harness.model.commit import AS_OF, BRANCH, INCREMENTAL, TAG
from harness.model.simulation.strategies import (
    CAST,
    CATALOG,
    CONVERTED,
    CUT,
    LEFT_OUT,
    LISTED,
    NULLS_BY_SCHEMA,
    OVERLAID,
    PARTLESS,
    REKEYED,
    STORED,
    TABLE_ORDER,
    TRUSTED,
    ColumnMapping,
    IncrementalRange,
    Logs,
    parts_of,
)
from harness.run.load_run import RunInfo

NAMED: Final = 3
LITTLE: Final = "gives the same answer, but an answer this small proves nothing"
"""About the only read strategy that gives a count, or an answer without rows."""
LINE: Final = 240
"""Characters of a refusal in a sentence, and of a line of a server's log."""


def answered_text(verdict: Verdict) -> str:
    """Return that a reader answered what it is declared not to know; empty where it did not."""
    return f"declared unsupported ({verdict.disclaimed}), but answered" * bool(verdict.disclaimed)


def refusal_text(refusal: Refusal, longest: int = LINE) -> str:
    code = f" ({refusal.code})" if refusal.code else ""
    text = f"{refusal.kind}{code}: {refusal.message}"
    if refusal.cause in refusal.message and len(text) <= longest:
        return short(text, longest)
    cause = f"; cause: {refusal.cause}" if refusal.cause else ""
    rest = max(longest - len(cause), longest // 2)
    return short(short(text, rest) + cause, longest)


def log_text(answer: Answer | None) -> str:
    """Return the end of the server's log after the last try at what is unknown, its lines cut."""
    if answer is None or not answer.unknown or not answer.attempts:
        return ""
    lines = answer.attempts[-1].log.splitlines()
    shown = [f"  {short(line, LINE)}" for line in lines if line.strip()]
    return "\n".join(["the end of the server's log:", *shown]) if shown else ""


def mapping_text(reproduces: tuple[str, ...], claimed: str) -> str:
    """Return the read strategy that gives the same answer; only a claimed one is a diagnosis."""
    if not reproduces:
        return ""
    if claimed:
        return f"reads {claimed}"
    if len(reproduces) == 1:
        return f"none is claimed: {reproduces[0]} {LITTLE}"
    if len(reproduces) > NAMED:
        return f"{len(reproduces)} read strategies give the same answer, so none is claimed"
    return f"none is claimed: the same answer comes from {'; '.join(reproduces)}"


def metastore_lines(info: RunInfo) -> Iterator[str]:
    """Say through which metastore the readers asked; nothing where it is the usual one."""
    if info.metastore is None:
        return
    older = info.metastore.upgraded_from
    made = f", whose database {older} had made with the tables in it" if older else ""
    yield f"all asked through {info.metastore.distribution}{made}"
    yield from (f"{name}: {fidelity}" for name, fidelity in info.metastore.fidelity.items())


T = TypeVar("T")

LOG: Final = logging.getLogger("harness.reports")
NOT_WORDED: Final = "the harness could not word this check; its log, harness.log, says why"
"""Stands where the words of a cell should be. Its verdict is as it was judged."""
ANEW: Final = parts_of(ColumnMapping.RENUMBERED)[1]
OUTSIDE: Final = parts_of(ColumnMapping.ID_OUTSIDE)[1]
ALONE: Final = parts_of(ColumnMapping.ID_ALONE)[1]
PARTS_TOO: Final = parts_of(ColumnMapping.PARTS_TOO)[1]
META_COUNTED: Final = parts_of(ColumnMapping.COUNTED)[1]
"""What these strategies do beside finding columns by id, or by position."""
LONGEST: Final = 120
"""Characters of a value or message in a sentence; the HTML report shows it whole."""


@dataclass(frozen=True, slots=True)
class Word:
    label: str
    short: str
    """At most eight characters, for narrow columns."""
    symbol: str
    meaning: str


VERDICTS: Final[Mapping[VerdictKind, Word]] = {
    VerdictKind.CORRECT: Word("correct", "ok", "✓", "Every row, value and type is as expected."),
    VerdictKind.WRONG: Word(
        "wrong", "wrong", "≠", "The reader reported no error, but its answer is wrong."
    ),
    VerdictKind.REFUSED: Word("refused", "refused", "!", "The reader answered with an error."),
    VerdictKind.OPEN: Word(
        "open",
        "open",
        "~",
        "Not what was written; the specification leaves it open. Neither a pass nor an error.",
    ),
    VerdictKind.UNSUPPORTED: Word(
        "unsupported",
        "unsupp.",
        "-",
        "The reader is declared not to support tables of this version.",
    ),
    VerdictKind.UNKNOWN: Word(
        "unknown",
        "UNKNOWN",
        "?",
        "There is no answer, or the right answer is in doubt. This is not a pass.",
    ),
}

DEFAULT: Final = "default"
TRACED: Final = (
    "Values made by the harness say where they belong: f3s1r2, or 301002, is field 3, step 1, "
    "row 2."
)
VIEWS: Final[Mapping[str, str]] = {
    "snapshot": "the table as it is now",
    "read_optimized": "a merge-on-read table's base files alone, without the changes that are "
    "still in log files",
    "base_name": "a merge-on-read table, queried by its plain name",
    AS_OF: "the table as it was after the named step",
    INCREMENTAL: "what was written after the named step",
    TAG: "the table as it was when the named step tagged it, asked for by the tag",
    BRANCH: "the table as it will be with what the named step staged in a branch",
}
STRATEGIES: Final[Mapping[str, str]] = {
    ColumnMapping.ID: "columns are found by field id, which stays the same when they are renamed "
    "or moved",
    ColumnMapping.NAME: "columns are looked up in each file by their current name",
    ColumnMapping.FOLDED: "columns are looked up in each file by their current name, ignoring case",
    ColumnMapping.POSITION: "the table's first column is read from the file's first column, and "
    "so on, whatever their names",
    PARTS_TOO: "the first part of a struct is read from its first part in the file, and so on",
    ANEW: "the columns of each file are numbered afresh, as in a newly created table",
    OUTSIDE: "what is inside a column is looked up by its current name",
    ALONE: "rows that are older than a column have no value there, whatever its default is",
    META_COUNTED: "the columns that Hudi puts first in each file are counted too",
    Logs.IGNORED: "newer values and deletes in log files are ignored",
    Logs.BY_ID: "columns of log files are found by field id",
    Logs.BY_NAME: "columns of log files are looked up by their current name",
    Logs.UNDELETED: "deleted rows are still shown",
    Logs.OTHER_MODE: "versions of rows are merged as another merge mode would have it",
    CATALOG: "the columns are those after that step, not the current ones (0: the creation)",
    LEFT_OUT: "files are skipped by the statistics of the column that is found this way",
    TRUSTED: "rows are left out that are there, because the stored statistics of a column say that "
    "they are not",
    NULLS_BY_SCHEMA: "where the schema forbids NULL, `is null` is taken to hold for no row, "
    "and `is not null` for every one, whatever the values are",
    LISTED: "the catalog keeps a column list for each partition too, and columns beyond the end of "
    "an older, shorter list are NULL",
    STORED: "stored values are taken for values of the table's type, whatever type the file "
    "declares",
    CAST: "strings in a file are cast where the table's column is numeric",
    CONVERTED: "values in a file are converted to the type of the table's column: text that does "
    "not fit is cut, and what cannot be converted is NULL",
    PARTLESS: "a struct or an array is NULL where the file has none of the parts that are read",
    CUT: "fractions of a millisecond are cut off, towards 1970",
    OVERLAID: "where the catalog does not list Hudi's columns, the commit time, the record key and "
    "the partition path of rows from base files appear under their first, third and fourth column",
    TABLE_ORDER: "each row's values stand in the order of the table's own schema, and are named in "
    "the order in which the catalog lists the columns",
    REKEYED: "where the catalog does not list Hudi's columns, the third column of a row from a "
    "base file is taken for its record key, so newer values and deletes in log files miss it",
    IncrementalRange.ALL: "rows written before the step are shown too, however old they are",
    IncrementalRange.EARLIER: "rows written in the step itself are shown too",
    IncrementalRange.LATER: "rows written in the next step are left out",
    IncrementalRange.NOTHING: "no row written after the step is shown",
}
"""What a reader does that reads so; a strategy may have several of these parts."""


def strategy_text(strategy: str) -> str:
    """Return what a read strategy is, part by part.

    >>> strategy_text("by name, base files only")
    'columns are looked up in each file by their current name; \
newer values and deletes in log files are ignored'
    """
    return "; ".join(STRATEGIES[part] for part in strategy_parts(strategy))


def strategy_parts(strategy: str) -> tuple[str, ...]:
    """Name the parts of a read strategy as `STRATEGIES` does.

    >>> strategy_parts("by name in any case, catalog of step 3")
    ('by name in any case', 'catalog of step')
    """
    known = ([name for name in STRATEGIES if part.startswith(name)] for part in parts_of(strategy))
    return tuple(str(max(names, key=len)) for names in known if names)


@dataclass(frozen=True, slots=True)
class LoggedFailure(AbstractContextManager[None]):
    """A report goes on where a cell cannot be worded; the log has why."""

    case: str

    def __exit__(self, _: object, problem: BaseException | None, __: object) -> bool:
        if not isinstance(problem, Exception):
            return False
        LOG.error("cannot word %s", self.case, exc_info=problem)
        return True


def shown(value: Value) -> str:
    """Return a value as a sentence shows it: text in quotes, NULL bare.

    >>> shown("f1s1r1"), shown(None), shown(7)
    ("'f1s1r1'", 'NULL', '7')
    """
    return f"'{short(value)}'" if isinstance(value, str) else short(exact(value))


def exact(value: Value) -> str:
    """Return the text of a value with every digit of its type, and text inside of others in quotes.

    >>> exact(7.0), exact(decimal.Decimal("12.50")), exact({"a": "NULL", "b": None})
    ('7.0', '12.50', "{a: 'NULL', b: NULL}")
    """
    match value:
        case str():  # first, as most are
            return value
        case float():
            return repr(value)
        case decimal.Decimal():
            return f"{value:f}"
        case tuple():
            return f"[{', '.join(map(_inside, value))}]"
        case dict():
            return f"{{{', '.join(f'{name}: {_inside(part)}' for name, part in value.items())}}}"
        case MapValue():
            pairs = ", ".join(f"{_inside(key)} → {_inside(pair)}" for key, pair in value.pairs)
            return f"{{{pairs}}}"
    return text_of(value)


def _inside(value: Value) -> str:
    return f"'{value}'" if isinstance(value, str) else exact(value)


def short(text: str, longest: int = LONGEST) -> str:
    """Return a text on one line and not longer than that, the cut marked."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= longest else line[: longest - 1] + "…"


def kind_of(value: Value) -> str:
    names: tuple[tuple[type, str], ...] = (
        (type(None), "NULL"),
        (bool, "boolean"),
        (int, "integer"),
        (float, "floating-point number"),
        (str, "string"),
        (decimal.Decimal, "decimal"),
        (datetime.datetime, "timestamp"),
        (datetime.date, "date"),
        (bytes, "binary"),
        (dict, "struct"),
        (tuple, "array"),
        (MapValue, "map"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), "value")
