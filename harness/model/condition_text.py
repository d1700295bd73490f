"""Conditions as people write them in profiles, scenario files and names of checks.

`g = old`, `g not in 1, null`, `"a b" starts with "x"`, `is null`: a column, a sign, and values. A
value is written as in JSON, or is a word for one of the column's own, which change with the story.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from harness.model.query import VALUES, Comparison

SIGNS: Final = {
    "is null": Comparison.NULL,
    "is not null": Comparison.NOT_NULL,
    "is nan": Comparison.NAN,
    "is not nan": Comparison.NOT_NAN,
    "starts with": Comparison.STARTS_WITH,
    "not in": Comparison.NOT_IN,
    "in": Comparison.IN,
    "between": Comparison.BETWEEN,
    "not =": Comparison.NOT,
    "<>": Comparison.NOT_EQUAL,
    "<=": Comparison.AT_MOST,
    ">=": Comparison.AT_LEAST,
    "<": Comparison.LESS,
    ">": Comparison.GREATER,
    "=": Comparison.EQUAL,
}
SIGN_OF: Final = {test: sign for sign, test in SIGNS.items()}
_IN_SIGNS: Final = frozenset(word for sign in SIGNS for word in sign.split())
OLD: Final = "old"
NEW: Final = "new"
FINE: Final = "fine"
WORDS: Final = {
    OLD: "the value of a row that has lain longest in a file which nobody rewrote",
    NEW: "the value of the row that was written last",
    FINE: "the first moment that is finer than milliseconds",
}
NAME: Final = r'[^\s"]+|"(?:[^"\\]|\\.)+"'
_TEXT: Final = re.compile(
    rf"(?:(?P<path>{NAME}) )??(?P<sign>{'|'.join(map(re.escape, SIGNS))})(?: (?P<values>.+))?"
)
_VALUE: Final = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^\s,"]+)\s*(?:,|$)')
_FORM: Final = "a column, a sign and values, as in f1 = old, f1 between 1, 5, f1 is null"


@dataclass(frozen=True, slots=True)
class ColumnWord:
    name: str


Written = str | int | bool | Decimal | ColumnWord | None


@dataclass(frozen=True, slots=True)
class ConditionText:
    path: str
    """Dotted; empty for each column that the story touched."""
    test: Comparison
    values: tuple[Written, ...] = ()

    def __str__(self) -> str:
        parts = (path_text(self.path), SIGN_OF[self.test], ", ".join(map(_text, self.values)))
        return " ".join(part for part in parts if part)


def parse(text: str) -> ConditionText:
    """Read a condition.

    >>> str(parse("f1 in old,2")), str(parse("is null")), parse('"a b" = "x"').path
    ('f1 in old, 2', 'is null', 'a b')

    Raises ValueError: it is none.
    """
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' is not a condition; write {_FORM}; signs: {', '.join(SIGNS)}")
    test, path = SIGNS[match["sign"]], match["path"] or ""
    values = tuple(_values(match["values"] or ""))
    allowed = VALUES[test]
    if len(values) not in allowed:
        count = f"{allowed[0]}" if len(allowed) == 1 else f"{allowed[0]} to {allowed[-1]}"
        raise ValueError(f"'{text}': '{match['sign']}' has {count} values; given: {len(values)}")
    if values and (values[0] is None or (None in values and test is Comparison.BETWEEN)):
        raise ValueError(f"'{text}': null can stand in a list alone, and not first; write is null")
    return ConditionText(json.loads(path) if path.startswith('"') else path, test, values)


def path_text(path: str) -> str:
    """Return a column as it is written: in quotes, where it could be taken for something else."""
    plain = re.fullmatch(r'[^\s",()]+', path) and path not in _IN_SIGNS
    return path if plain or not path else json.dumps(path, ensure_ascii=False)


def _values(text: str) -> Iterator[Written]:
    at = 0
    while at < len(text):
        match = _VALUE.match(text, at)
        if match is None:
            raise ValueError(f"'{text}' are not values; separate them by commas")
        yield _value(match[1])
        at = match.end()
    if text.rstrip().endswith(","):
        raise ValueError(f"'{text}' ends with a comma; a value is missing")


def _value(text: str) -> Written:
    if text in WORDS:
        return ColumnWord(text)
    try:
        value = json.loads(text, parse_float=Decimal)
    except ValueError:
        value = ()
    if not isinstance(value, str | int | Decimal | None):
        words = ", ".join(WORDS)
        raise ValueError(  # noqa: TRY004 - whoever wrote it gave a text
            f"'{text}' is not a value; allowed: a number, true, false, null, {words}, or a text, "
            f'date or moment in double quotes: "{text}"'
        )
    return value


def _text(value: Written) -> str:
    if isinstance(value, ColumnWord):
        return value.name
    return str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)
