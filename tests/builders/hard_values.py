"""What makes a history hard: its names, types, partitions, and rows with values of their own.

Each comes by a chance apart from that of the steps, so the plain ones stay. Left out is what no
scenario or notation can have: two names at once that differ only in case, explicit values of
partition columns, the year 0, finer times than microseconds, and names with blanks.
"""

import datetime
import json
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from harness.model.datatypes import Array, DataType, Decimal, Map, Struct, parse_type

NAMES: Final = ("select", "order", "timestamp", "größe", "名前", "e\u0301tat", "o'n", '"n"', "`n`")
"""Keywords, letters beyond ASCII, two ways to write one letter, quotes."""
LONG: Final = "long_" * 30
TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "decimal(12, 2)": ("decimal(38, 10)", "decimal(38, 0)"),
    "array<string>": ("array<struct<a: string, b: int>>", "array<double>"),
    "map<string, long>": ("map<string, array<struct<a: string, b: int>>>", "map<string, double>"),
}
"""Harder ones that may stand in the place of plain ones."""
MORE: Final = (
    *("double", "float", "decimal(38, 10)", "map<string, array<struct<a: string, b: int>>>"),
    *("timestamp", "string", "long", "smallint", "binary", "boolean"),
)
"""Of which one more column may be, with the values that make it hard."""
PLAIN: Final = 0.25
"""So many histories have nothing hard."""
ENDS: Final[Mapping[str, tuple[object, ...]]] = {
    "boolean": (True, False),
    "tinyint": (-128, 127, 0, -1),
    "smallint": (-32_768, 32_767, 0, -1),
    "int": (-(2**31), 2**31 - 1, 0, -1),
    "long": (-(2**63), 2**63 - 1, 0, -1),
    "float": (
        *(float("nan"), float("inf"), float("-inf"), -0.0, 0.0),
        *(2.0**-149, 3.4028234663852886e38),
    ),
    "double": (
        *(float("nan"), float("inf"), float("-inf"), -0.0, 0.0),
        *(5e-324, -1.7976931348623157e308),
    ),
    "string": ("", " ", "NULL", "e\u0301", "é", "\U0001f600"),
    "binary": ("0x", "0x00", "0xff"),
    "date": ("0001-01-02", "1582-10-10", "1969-12-31", "9999-12-31"),
    "timestamp": (
        "0001-01-02 00:00:00.000001",
        "1969-12-31 23:59:59.999999",
        "9999-12-31 23:59:59.999999",
    ),
    "timestamp_ntz": ("1582-10-10 00:00:00", "2024-03-31 02:30:00.000001"),
    "char": ("", "é"),
    "varchar": ("", "e\u0301", " "),
}
"""Values at the ends of types and beside them, as a scenario's file has them."""


@dataclass
class Hard:
    chance: random.Random
    type_names: Mapping[str, str]
    """The types that stand for plain ones."""
    names: bool
    case: bool
    """Whether names come back in capitals: a table of Iceberg's, which has no log files here."""
    rows: bool
    partitions: int
    """Of how many columns a partitioned table's partitions are."""
    more: str = ""
    """The type of one more column, if there is one."""
    left: list[str] = field(default_factory=lambda: list(NAMES))
    made: int = 0

    def name(self, plain: str) -> str:
        if not self.names or self.chance.random() < 0.3:
            return plain
        if self.left and self.chance.random() < 0.6:
            return self.left.pop(self.chance.randrange(len(self.left)))
        return self.chance.choice((f"ñ{plain}", f"{LONG}{plain}", f"{plain}_日"))

    def renamed(self, name: str) -> str | None:
        """Return the name that differs only in case, now and then."""
        other = name.swapcase()
        same = other.casefold() == name.casefold() and other != name
        return other if self.case and same and self.chance.random() < 0.6 else None

    def inserted(self) -> bool:
        return self.rows and self.chance.random() < 0.3

    def row(self, key: int, columns: Mapping[str, DataType]) -> dict[str, object]:
        row: dict[str, object] = {"id": key}
        for name, type_ in columns.items():
            if self.chance.random() < 0.85:
                row[name] = None if self.chance.random() < 0.15 else self.value(type_)
        return row

    def value(self, type_: DataType) -> object:
        match type_:
            case Struct(fields):
                return {name: self._part(part) for name, part in fields}
            case Array(element):
                return [self._part(element) for _ in range(self.chance.choice((0, 1, 2, 2)))]
            case Map(_, value):
                some = self.chance.sample(("", "k", "ключ"), k=self.chance.randint(0, 2))
                return {name: self._part(value) for name in some}
        return self._end(type_) if self.chance.random() < 0.3 else self._free(type_)

    def _part(self, type_: DataType) -> object:
        return None if self.chance.random() < 0.2 else self.value(type_)

    def _end(self, type_: DataType) -> object:
        if isinstance(type_, Decimal):
            most = 10**type_.precision - 1
            return _places(self.chance.choice((most, -most, 0, -1)), type_.scale)
        return self.chance.choice(ENDS[str(type_).partition("(")[0]])

    def _free(self, type_: DataType) -> object:
        """Return a value that occurs nowhere else, where the type has enough values."""
        self.made += 1
        if isinstance(type_, Decimal):
            most = 10**type_.precision
            return _places(most // MOST * self.made - most + 1, type_.scale)
        return FREE_VALUES[str(type_).partition("(")[0]](self.made)


def _places(digits: int, scale: int) -> str:
    """Return a number as text, its last digits behind the point."""
    text = f"{abs(digits):0{scale + 1}}"
    whole, fraction = text[: len(text) - scale], text[len(text) - scale :]
    return f"{'-' if digits < 0 else ''}{whole}{'.' if scale else ''}{fraction}"


def _day(number: int) -> str:
    return str(datetime.date(1500, 1, 1) + datetime.timedelta(days=37 * number))


def _moment(number: int) -> str:
    back = datetime.timedelta(days=37 * number, seconds=7 * number, microseconds=7 * number)
    return str(datetime.datetime(1969, 12, 31, 23, 59, 59, 123_456) - back)  # noqa: DTZ001


MOST: Final = 1_009
"""More values of their own no history has; numbers lie so far apart that none is another one with
less precision."""
FREE_VALUES: Final[Mapping[str, Callable[[int], object]]] = {
    "boolean": lambda number: number % 3 == 0,
    "tinyint": lambda number: -(number * 37 % 127),
    "smallint": lambda number: -(number * 37 % 32_749),
    "int": lambda number: -(2**31) // MOST * number,
    "long": lambda number: -(2**63) // MOST * number,
    "float": lambda number: -(2.0**-20) * (number * 2 + 1),
    "double": lambda number: -(number + 0.1),
    "string": lambda number: f"é{number} שלום",
    "binary": lambda number: f"0x00ff{number:04x}",
    "date": _day,
    "timestamp": _moment,
    "timestamp_ntz": _moment,
    "char": lambda number: f"é{number:03}",
    "varchar": lambda number: f"名{number}",
}
"""Hard values that tell their origin, by a number of their own."""


def hard(seed: int) -> Hard:
    """Draw what is hard in the history of a seed: nothing in every fourth."""
    chance = random.Random(f"hard {seed}")  # noqa: S311 - nothing is kept secret by it
    if chance.random() < PLAIN:
        return Hard(chance, {}, names=False, case=False, rows=False, partitions=1)
    types, names, case, rows = (chance.random() < rate for rate in (0.4, 0.4, 0.2, 0.75))
    other_types = {plain: chance.choice(others) for plain, others in TYPES.items()} if types else {}
    more = chance.choice(MORE) if chance.random() < 0.6 else ""
    return Hard(chance, other_types, names, case, rows, chance.choice((1, 2)), more)


def written(rows: Iterable[Mapping[str, object]]) -> str:
    """Return rows as JSON without blanks and without the separators of words and steps."""
    text = json.dumps(list(rows), separators=(",", ":"))
    return text.replace(" ", "\\u0020").replace(";", "\\u003b")


def rows_of(text: str) -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(text))


def typed(
    columns: Mapping[str, str], parts: Mapping[str, Mapping[str, str]]
) -> dict[str, DataType]:
    """Return the types of columns from their texts; `parts`: those of structs, as they are now."""
    result = {name: parse_type(text) for name, text in columns.items()}
    now = {
        name: Struct(tuple((part, parse_type(text)) for part, text in inner.items()))
        for name, inner in parts.items()
    }
    return result | {name: now.get(name, type_) for name, type_ in result.items()}
