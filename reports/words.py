"""What verdicts and findings are called, and what each means in one sentence.

All reports use these words, so that one legend fits them all.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from harness.core.errors import printable
from harness.core.records import FindingKind, Party, VerdictKind
from harness.model.canonical import MapValue, Value, text_of
from harness.model.commit import AS_OF, INCREMENTAL
from harness.model.simulation.strategies import (
    CAST,
    CATALOG,
    CUT,
    LEFT_OUT,
    LISTED,
    OVERLAID,
    REKEYED,
    STORED,
    By,
    Given,
    Logs,
)

ANEW: Final = str(By.RENUMBERED).removeprefix(f"{By.ID}, ")
OUTSIDE: Final = str(By.ID_OUTSIDE).removeprefix(f"{By.ID}, ")
META_COUNTED: Final = str(By.COUNTED).removeprefix(f"{By.POSITION}, ")
"""The parts of these ways that by id, and by position alone have not."""
LONGEST: Final = 120
"""Characters of a value or message in a sentence; the HTML report shows it whole."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the legend."""

    label: str
    short: str
    """At most eight characters, for narrow columns."""
    symbol: str
    meaning: str


VERDICTS: Final[Mapping[VerdictKind, Word]] = {
    VerdictKind.CORRECT: Word(
        "correct", "ok", "✓", "The answer is the expected table: every row, value and type."
    ),
    VerdictKind.WRONG: Word(
        "wrong", "wrong", "≠", "The reader answered without an error, and the answer is wrong."
    ),
    VerdictKind.REFUSED: Word(
        "refused", "refused", "!", "The reader answered this question with an error."
    ),
    VerdictKind.UNSUPPORTED: Word(
        "unsupported", "unsupp.", "-", "The reader is declared not to know tables of this version."
    ),
    VerdictKind.UNKNOWN: Word(
        "unknown",
        "UNKNOWN",
        "?",
        "There is no answer, or it is not sure what is right: this is not a pass.",
    ),
}

FINDINGS: Final[Mapping[FindingKind, Word]] = {
    FindingKind.MISALIGNED: Word(
        "misaligned", "misalign", "⇄", "The value of another column stands under this name."
    ),
    FindingKind.RESURRECTED: Word(
        "resurrected", "resurr.", "↺", "The value of a dropped column of the same name came back."
    ),
    FindingKind.STALE: Word(
        "stale", "stale", "◷", "An older value, or the columns of an older schema."
    ),
    FindingKind.PREMATURE: Word(
        "premature",
        "too soon",
        "◴",
        "Newer than the view should show: what log files hold, or later steps.",
    ),
    FindingKind.MISSING_RENAME: Word(
        "missing rename", "rename", "✎", "NULL for a value written under the column's former name."
    ),
    FindingKind.LOST_VALUE: Word(
        "lost value",
        "lost val",
        "∅",
        "NULL for a value, and no former name of its column explains it.",
    ),
    FindingKind.GHOST_ROW: Word(
        "ghost row", "ghost", "+", "A row is answered that was deleted, or is not asked for."
    ),
    FindingKind.LOST_ROW: Word("lost row", "lost row", "−", "A row of the table is not answered."),  # noqa: RUF001
    FindingKind.DUPLICATE: Word(
        "duplicate",
        "twice",
        "×",  # noqa: RUF001
        "A row, or a column, is answered more than once.",
    ),
    FindingKind.ALTERED_VALUE: Word(
        "altered value",
        "altered",
        "≈",
        "The right value with digits, zone, precision, case or such changed.",
    ),
    FindingKind.TYPE_DRIFT: Word(
        "type drift", "type", "τ", "The right value in another type, or a column of another type."
    ),
    FindingKind.UNEXPLAINED: Word(
        "unexplained",
        "unexpl.",
        "¿",
        "Wrong, and nothing that was written explains it, or several things do.",
    ),
}


@dataclass(frozen=True, slots=True)
class Blame:
    """Whose doing a finding is, in words."""

    short: str
    meaning: str


PARTIES: Final[Mapping[Party | None, Blame]] = {
    Party.READER: Blame(
        "the files hold what was written",
        "The reader's doing: the data files hold what was written, and the answer differs.",
    ),
    Party.WRITER: Blame(
        "the files hold it so: the writer's doing",
        "The writer's doing: the data files themselves hold something else than was written, and "
        "the reader shows what is in them.",
    ),
    Party.MODEL: Blame(
        "engines and files agree: check the expected table first",
        "Nobody's doing yet: several engines answer this, and the data files hold it. The expected "
        "table alone says otherwise, so the mistake may be the harness's own.",
    ),
    Party.UNSURE: Blame(
        "the files hold it so: the writer's doing or our own mistake, which is not sure",
        "Not sure whose doing: the data files, as we read them, hold what is answered. But the "
        "statements do not settle that it should not be there, or another engine shows what was "
        "written. So the writer may be to blame, or the harness's own expectation or its reading "
        "of the files.",
    ),
    None: Blame(
        "",
        "Whose doing it is, is not known: the values in the data files could not be looked at, or "
        "the run is older than that check.",
    ),
}


TRACED: Final = (
    "Values that the harness makes tell what they were written for: f3s1r2, or 301002, is field 3, "
    "step 1, row 2."
)
VIEWS: Final[Mapping[str, str]] = {
    "snapshot": "the table as it is now",
    "read_optimized": "of a merge-on-read table, what its base files hold, without the changes "
    "that are in log files still",
    "base_name": "a merge-on-read table, asked by its plain name",
    AS_OF: "the table as it was after the step that is named",
    INCREMENTAL: "what was written after the step that is named",
}
"""What of a table each view shows."""
WAYS: Final[Mapping[str, str]] = {
    By.ID: "a column is found by its field id, which a rename or a move does not change",
    By.NAME: "a column is looked for in each file under the name that it has today",
    By.FOLDED: "the same, upper and lower case being one",
    By.POSITION: "the table's first column is taken from the first of a file, and so on, whatever "
    "their names are",
    ANEW: "each file's columns get the ids that they would have in a table that was created so",
    OUTSIDE: "what is inside a column is looked for under the name that it has today",
    META_COUNTED: "the columns that Hudi puts first in each file count as well",
    Logs.IGNORED: "newer values and deletes in log files are left out",
    Logs.BY_ID: "columns of log files are found by field id",
    Logs.UNDELETED: "deleted rows are not left out",
    CATALOG: "the columns are those after that step, not today's (0: the creation)",
    LEFT_OUT: "files are skipped by the statistics of the column that is found so",
    LISTED: "the catalog keeps a list of columns of each partition "
    "too, and what stands beyond the end of an older, shorter one is NULL",
    STORED: "what a file stores is taken for a value of the table's type, "
    "whatever type the file says",
    CAST: "texts of a file are cast where the table's column has numbers",
    CUT: "what is less than a millisecond is cut off, towards 1970",
    OVERLAID: "where the catalog does not list Hudi's columns, the commit time, the record key and "
    "the partition path of rows from base files stand under its first, third and fourth column",
    REKEYED: "where the catalog does not list Hudi's columns, the third column of a row from a "
    "base file is taken for its record key, so that log files' newer values and deletes miss it",
    Given.ALL: "rows are shown that were written before the step as well, whenever that was",
    Given.EARLIER: "rows are shown that were written in the step itself as well",
    Given.LATER: "rows are left out that were written in the next step",
    Given.NOTHING: "no row that was written after the step is shown",
}
"""What a reader does that reads in such a way; a way may have several of these parts."""


def way_text(way: str) -> str:
    """Return what a way of reading is, part by part.

    >>> way_text("by name, base files only")
    'a column is looked for in each file under the name that it has today; \
newer values and deletes in log files are left out'
    """
    return "; ".join(WAYS[part] for part in way_parts(way))


def way_parts(way: str) -> tuple[str, ...]:
    """Name the parts of a way of reading as `WAYS` does.

    >>> way_parts("by name in any case, catalog of step 3")
    ('by name in any case', 'catalog of step')
    """
    known = ([name for name in WAYS if part.startswith(name)] for part in way.split(", "))
    return tuple(str(max(names, key=len)) for names in known if names)


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
        case float():
            return repr(value)
        case decimal.Decimal():
            return f"{value:f}"
        case tuple():
            return f"[{', '.join(map(_inside, value))}]"
        case dict():
            return f"{{{', '.join(f'{name}: {_inside(each)}' for name, each in value.items())}}}"
        case MapValue():
            pairs = ", ".join(f"{_inside(key)} → {_inside(each)}" for key, each in value.pairs)
            return f"{{{pairs}}}"
    return text_of(value)


def _inside(value: Value) -> str:
    return f"'{value}'" if isinstance(value, str) else exact(value)


def short(text: str, longest: int = LONGEST) -> str:
    """Return a text on one line and not longer than that, the cut marked."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= longest else line[: longest - 1] + "…"


def kind_of(value: Value) -> str:
    """Return the type of a value in a word, to tell `1` from `1`."""
    names: tuple[tuple[type, str], ...] = (
        (type(None), "NULL"),
        (bool, "boolean"),
        (int, "whole number"),
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


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "cell"), counted(6, "cell")
    ('1 cell', '6 cells')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
