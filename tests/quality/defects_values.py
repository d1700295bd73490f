"""Planted readers that change values on the way, or their types, labels and rows."""

import base64
import datetime
import math
import random
import struct
from collections.abc import Callable
from dataclasses import replace
from decimal import Context, Decimal
from typing import Final

from harness.core.records import Column, FindingKind
from harness.model.canonical import MapValue, Value, text_of
from harness.model.conversion import cast_text
from tests.builders.random_story import Plot
from tests.builders.table_story import Story
from tests.builders.traced_answer import Kind, Line, Seen, Token, read, spoil
from tests.quality.planted import having, plant, planted, reordered, with_cell, with_lines

ALTERED, DRIFT, UNEXPLAINED, LOST = (
    FindingKind.ALTERED_VALUE,
    FindingKind.TYPE_DRIFT,
    FindingKind.UNEXPLAINED,
    FindingKind.LOST_VALUE,
)
Change = Callable[[Value], Value]
WIDE = Context(prec=80)
"""For numbers of all digits that a decimal can have."""


_WHOLE = {
    "decimal": "decimal(12, 2)",
    "array": "array<string>",
    "map": "map<string, long>",
    "struct": "struct<a: string, b: int>",
}
"""Types that need more than their first word."""


def _spoilt(name: str, types: str, kind: Kind, change: Change, *, null: bool = False) -> None:
    """Plant a change of all values of some types, of NULLs only with `null`."""

    def defect(story: Story, _: random.Random) -> Seen:
        if_there: Change = (
            change if null else lambda value: None if value is None else change(value)
        )
        return spoil(read(story), types.split(), kind, if_there)

    plant(
        name,
        defect,
        twist=having(_WHOLE.get(types.split(maxsplit=1)[0], types.split(maxsplit=1)[0])),
    )


def _by_worth(old: Value, new: Value) -> FindingKind:
    return DRIFT if text_of(old) == text_of(new) else ALTERED


def _places(places: str) -> Change:
    return lambda value: value.quantize(Decimal(places), context=WIDE)


def _by_size(old: Value, _: Value) -> FindingKind:
    """Return what a digit more is called: next to a small number it may be anybody's."""
    return ALTERED if abs(old) >= 1 else UNEXPLAINED


def _with_zeros(value: Value) -> str:
    text = f"{value:f}"
    return f"{text}0" if "." in text else f"{text}.0"


def moved(by: datetime.timedelta) -> Change:
    """Return what moves times; one at the end of all years stays."""

    def move(value: Value) -> Value:
        try:
            return value + by
        except OverflowError:
            return value

    return move


def _in_eight_digits(old: Value, new: Value) -> FindingKind:
    return DRIFT if math.isnan(old) or float(new) == old else ALTERED


def _nanoseconds(value: Value) -> Value:
    return f"{value.isoformat(sep=' ', timespec='microseconds')}001"


HOUR = datetime.timedelta(hours=1)
DAY = datetime.timedelta(days=1)
MILLISECOND = datetime.timedelta(milliseconds=1)


def _of_blanks(old: Value, _: Value) -> FindingKind:
    """Return what an empty text is called: one of blanks alone is only without its padding."""
    return UNEXPLAINED if str(old).strip(" ") else ALTERED


def _of_one(old: Value, new: Value) -> FindingKind:
    """Return what a cut text is called: of one letter nothing is left, which may be anybody's."""
    return ALTERED if new else _of_blanks(old, new)


def _of_all(_: Value, new: Value) -> FindingKind:
    """Return what an array is called that was cut: where nothing is left, its elements are lost."""
    return UNEXPLAINED if new else LOST


_spoilt("decimals without their fraction", "decimal", _by_worth, _places("1"))
_spoilt("decimals with one digit less", "decimal", _by_worth, _places("0.1"))
_spoilt("decimals with more zeros", "decimal", _by_worth, _places("0.0001"))
_spoilt("decimals with a digit more", "decimal", _by_size, lambda v: WIDE.add(v, Decimal("0.001")))
_spoilt("decimals as floating numbers", "decimal", _by_worth, float)
_spoilt("decimals as texts with more zeros", "decimal", DRIFT, _with_zeros)
_spoilt("timestamps eight hours off", "timestamp", ALTERED, moved(8 * HOUR))
_spoilt("timestamps of a zone with half hours", "timestamp", ALTERED, moved(-5.5 * HOUR))
_spoilt("timestamps cut to seconds", "timestamp", ALTERED, lambda v: v.replace(microsecond=0))
_spoilt("timestamps a millisecond early", "timestamp", ALTERED, moved(-MILLISECOND))
_spoilt("timestamps as texts", "timestamp", DRIFT, lambda v: v.isoformat(sep=" "))
_spoilt("timestamps as texts of a cast", "timestamp", DRIFT, cast_text)
_spoilt("timestamps as texts with nanoseconds", "timestamp", ALTERED, _nanoseconds)
_spoilt("dates one day early", "date", ALTERED, moved(-DAY))
_spoilt("dates one day late", "date", ALTERED, moved(DAY))
_spoilt(
    "dates as timestamps", "date", DRIFT, lambda v: datetime.datetime.combine(v, datetime.time())
)
_spoilt("integers as texts", "int long", DRIFT, str)
_spoilt("integers as floating numbers", "int long", _by_worth, float)
_spoilt("integers with the other sign", "int long", UNEXPLAINED, lambda v: -v)
_spoilt("integers of 16 bits", "int long", UNEXPLAINED, lambda v: v - (v >> 16 << 16) - 32768)
_spoilt(
    "floating numbers as decimals",
    "double",
    DRIFT,
    lambda v: Decimal(str(v)) if math.isfinite(v) else v,
)
_spoilt(
    "floating numbers as texts with an exponent", "double", _in_eight_digits, lambda v: f"{v:.8e}"
)
_spoilt("texts cut off", "string", _of_one, lambda v: v[:-1])
_spoilt("texts in capitals", "string", ALTERED, lambda v: v.upper() if v[:1] == "f" else v)
_spoilt("texts padded like CHAR", "string", ALTERED, lambda v: f"{v:<40}")
_spoilt("texts backwards", "string", UNEXPLAINED, lambda v: f"{v[::-1]}?")
_spoilt("texts as empty ones", "string", _of_blanks, lambda _: "")
_spoilt("NULL as empty text", "string", ALTERED, lambda v: "" if v is None else v, null=True)
_spoilt(
    "NULL as the text NULL", "string", UNEXPLAINED, lambda v: "NULL" if v is None else v, null=True
)
_spoilt("NULL as 0", "int long", UNEXPLAINED, lambda v: 0 if v is None else v, null=True)
_spoilt("NULL as 0.0", "double float", UNEXPLAINED, lambda v: 0.0 if v is None else v, null=True)
_spoilt(
    "NULL as 1970",
    "date",
    UNEXPLAINED,
    lambda v: datetime.date(1970, 1, 1) if v is None else v,
    null=True,
)
_spoilt("arrays without their last element", "array", _of_all, lambda v: v[:-1])
_spoilt(
    "arrays with their elements in one text",
    "array",
    UNEXPLAINED,
    lambda v: (", ".join(map(text_of, v)),) if len(v) > 1 else v,
)
_spoilt("maps without entries", "map", LOST, lambda v: MapValue(()) if v.pairs else v)
_spoilt("booleans as numbers", "boolean", UNEXPLAINED, int)


@planted("a whole column NULL")
def _all_null(story: Story, by_chance: random.Random) -> Seen:
    return _nulled(read(story), by_chance, lambda line: True)


@planted("a whole column NULL in one file")
def _null_in_one(story: Story, by_chance: random.Random) -> Seen | None:
    seen = read(story)
    if not seen.lines:
        return None
    file = by_chance.choice(seen.lines).file
    return _nulled(seen, by_chance, lambda line: line.file == file)


def _nulled(seen: Seen, by_chance: random.Random, which: Callable[[Line], bool]) -> Seen:
    fixed = ("id", *seen.story.disk.table.partition_by)
    at = by_chance.choice([n for n, name in enumerate(seen.names) if name not in fixed])
    return with_lines(seen, lambda line: with_cell(line, at, None, None) if which(line) else line)


@planted("a double declared as float")
def _narrow(story: Story, _: random.Random) -> Seen:
    seen = read(story)
    other = {"double": "float", "int": "long", "date": "timestamp", "timestamp_ntz": "timestamp"}
    columns = [replace(c, canonical=other.get(c.canonical, c.canonical)) for c in seen.columns]
    return replace(seen, columns=tuple(columns))


@planted("labels of two columns swapped")
def _labels(story: Story, by_chance: random.Random) -> Seen:
    seen = read(story)
    a, b = by_chance.sample(range(len(seen.names)), 2)
    columns = list(seen.columns)
    columns[a] = replace(columns[a], name=seen.names[b])
    columns[b] = replace(columns[b], name=seen.names[a])
    return replace(seen, columns=tuple(columns))


@planted("a column without its label")
def _unlabelled(story: Story, by_chance: random.Random) -> Seen:
    seen = read(story)
    at = by_chance.randrange(len(seen.names))
    columns = list(seen.columns)
    columns[at] = replace(columns[at], name=f"_col{at}")
    return replace(seen, columns=tuple(columns))


@planted("a meta column shown")
def _extra(story: Story, _: random.Random) -> Seen:
    seen = read(story)
    columns = (Column("_hoodie_record_key", "string", "string"), *seen.columns)
    return replace(
        with_lines(
            seen,
            lambda line: replace(
                line, values=(line.key, *line.values), tokens=(Token(0, -1, ""), *line.tokens)
            ),
        ),
        columns=columns,
    )


@planted("a column absent")
def _absent(story: Story, by_chance: random.Random) -> Seen:
    seen = read(story)
    order = list(range(len(seen.names)))
    order.remove(by_chance.choice([n for n in order if seen.names[n] != "id"]))
    return _in_order(seen, order)


def _doubled(story: Story, by_chance: random.Random) -> Seen:
    seen = read(story)
    order = list(range(len(seen.names)))
    return _in_order(seen, [*order, by_chance.choice(order)])


plant("a column twice", _doubled)


@planted("a column twice, and of another type")
def _twice_otherwise(story: Story, by_chance: random.Random) -> Seen:
    seen = _doubled(story, by_chance)
    name, kind = seen.names[-1], seen.columns[-1].canonical
    other = "binary" if kind == "string" else "string"
    columns = [replace(c, canonical=other) if c.name == name else c for c in seen.columns]
    return replace(seen, columns=tuple(columns))


def _in_order(seen: Seen, order: list[int]) -> Seen:
    changed = with_lines(seen, lambda line: reordered(line, order))
    return replace(changed, columns=tuple(seen.columns[at] for at in order))


@planted("rows and columns in another order (right)", harmless=True)
def _shuffled(story: Story, by_chance: random.Random) -> Seen:
    seen = read(story)
    order, lines = list(range(len(seen.names))), list(seen.lines)
    by_chance.shuffle(order)
    by_chance.shuffle(lines)
    return _in_order(replace(seen, lines=tuple(lines)), order)


@planted("a row twice")
def _row_twice(story: Story, by_chance: random.Random) -> Seen | None:
    seen = read(story)
    if not seen.lines:
        return None
    return replace(seen, lines=(*seen.lines, by_chance.choice(seen.lines)))


@planted("every row twice")
def _rows_twice(story: Story, _: random.Random) -> Seen:
    seen = read(story)
    return replace(seen, lines=seen.lines * 2)


@planted("a file lost")
def _file_lost(story: Story, by_chance: random.Random) -> Seen | None:
    if not story.disk.files:
        return None
    group = by_chance.choice(story.disk.files).group
    return read(story, files=lambda file: None if file.group == group else file)


@planted("rows of nothing but NULLs")
def _empty(story: Story, by_chance: random.Random) -> Seen | None:
    seen = read(story)
    if not seen.lines:
        return None
    file, nothing = by_chance.choice(seen.lines).file, (None,) * len(seen.columns)
    return with_lines(
        seen,
        lambda line: replace(line, values=nothing, tokens=nothing) if line.file == file else line,
    )


@planted("a row lost")
def _row_lost(story: Story, by_chance: random.Random) -> Seen | None:
    seen = read(story)
    if not seen.lines:
        return None
    at = by_chance.randrange(len(seen.lines))
    return replace(seen, lines=(*seen.lines[:at], *seen.lines[at + 1 :]))


@planted("a row nobody wrote")
def _invented(story: Story, _: random.Random) -> Seen:
    seen = read(story)
    key = "777" if seen.columns[seen.names.index("id")].canonical == "string" else 777
    values = tuple(key if name == "id" else None for name in seen.names)
    tokens = tuple(Token(0, -1, "777") for _ in seen.names)
    return replace(seen, lines=(*seen.lines, Line("777", story.truth.step, "", values, tokens)))


@planted("structs of NULLs for NULL", twist=having("string, y struct<a: string, b: int>"))
def _hollow(story: Story, _: random.Random) -> Seen:
    seen = read(story)

    def filled(line: Line) -> Line:
        values, tokens = list(line.values), list(line.tokens)
        for at, field in enumerate(story.truth.schema.fields):
            if field.type.__class__.__name__ == "Struct" and values[at] is None:
                values[at] = {child.name: None for child in field.children}
                tokens[at] = Token(0, 0, line.key, spoilt=ALTERED)
        return replace(line, values=tuple(values), tokens=tuple(tokens))

    return with_lines(seen, filled)


def _text(value: Value) -> Value:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value  # what is no text stays bytes


DEEP: Final = "map<string, array<struct<a: string, b: int>>>"


def _deep(**changes: Change) -> Change:

    def part(name: str, value: Value) -> Value:
        return changes[name](value) if name in changes and value is not None else value

    def inside(value: Value) -> Value:
        match value:
            case MapValue():
                return MapValue(tuple((key, inside(pair)) for key, pair in value.pairs))
            case tuple():
                return tuple(map(inside, value))
            case dict():
                return {name: part(name, inner) for name, inner in value.items()}
        return value

    return inside


SPOILT: Final[dict[str, tuple[str, FindingKind, Change]]] = {
    "small integers as texts": ("smallint", DRIFT, str),
    "small integers as floating numbers": ("smallint", DRIFT, float),
    "small integers of 8 bits": ("smallint", UNEXPLAINED, lambda v: -1 - v % 128),
    "small integers with the other sign": ("tinyint", UNEXPLAINED, lambda v: -v or None),
    "times without a zone eight hours off": ("timestamp_ntz", ALTERED, moved(-8 * HOUR)),
    "times without a zone as texts": ("timestamp_ntz", DRIFT, lambda v: v.isoformat(sep=" ")),
    "bytes as texts": ("binary", DRIFT, _text),
    "bytes as hexadecimal digits": ("binary", DRIFT, bytes.hex),
    "bytes as base64": ("binary", DRIFT, lambda v: base64.b64encode(v).decode()),
    "bytes cut off": ("binary", ALTERED, lambda v: v[:-1]),
    # Zeros alone may as well be another one's: they tell nothing.
    "bytes padded with zeros": ("binary", ALTERED, lambda v: v + b"\0\0" if v.strip(b"\0") else v),
    "bytes backwards": ("binary", UNEXPLAINED, lambda v: v[::-1]),
    "char without its blanks": ("char(12)", ALTERED, str.rstrip),
    "char with a blank too many": ("char(12)", ALTERED, lambda v: f"{v} "),
    "varchar padded like char": ("varchar(12)", ALTERED, lambda v: v.ljust(12)),
    "deep numbers as texts": (DEEP, DRIFT, _deep(b=str)),
    "deep numbers with the other sign": (DEEP, UNEXPLAINED, _deep(b=lambda v: -v)),
    "deep texts in capitals": (DEEP, ALTERED, _deep(a=str.upper)),
    "deep texts as NULL": (DEEP, LOST, _deep(a=lambda _: None)),
}


def _plant(name: str, type_: str, kind: FindingKind, change: Change) -> None:
    def defect(story: Story, _: random.Random) -> Seen:
        return spoil(read(story), (type_,), kind, lambda v: None if v is None else change(v))

    plant(name, defect, twist=having(type_))


for _name, (_type, _kind, _change) in SPOILT.items():
    _plant(_name, _type, _kind, _change)


def _precise(plot: Plot, _: random.Random) -> Plot:
    columns = plot.columns.replace("ts long, ", "ts long, x double, ", 1)
    steps = f"{plot.steps}; row id=401 x=0.1; row id=402 x=1234567.891; touch some"
    return replace(plot, columns=columns, steps=steps)


def _as_float(value: Value) -> Value:
    if value is None:
        return None
    try:
        (short,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:  # Python refuses where Java's cast gives infinity
        return math.copysign(math.inf, value)
    return value if short == value else short


@planted("doubles with the digits of a float", twist=_precise)
def _short(story: Story, _: random.Random) -> Seen:
    return spoil(read(story), ["double"], FindingKind.ALTERED_VALUE, _as_float)
