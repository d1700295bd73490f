"""A second opinion on the truth: the same tables, worked out in another and much simpler way.

Nothing of `harness` is used. A column is an object that keeps its identity through renames, moves
and changes of type, as the Iceberg specification has it ("Schema Evolution": changes are made by
id and have no side effects) and Hudi's documentation ("Schema Evolution"). A row is a dict from
such objects to what was last written into them; nothing is ever computed from file layouts. Made
values follow the rule that the docstring of `harness.model.values` states; explicit ones are read
as docs/scenarios.md says they are written.
"""

from __future__ import annotations

import datetime
import decimal
import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class Column:
    """A column or a part of one; two are the same only if they are the same object."""

    name: str
    type: str
    number: int = 0
    parts: list[Column] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    """Every type it ever takes, by the end of the story."""

    def takes(self, type_: str) -> None:
        """Note a type that it takes."""
        self.type = type_
        if type_ not in self.types:
            self.types.append(type_)


@dataclass
class Line:
    """A row as written last."""

    values: dict[Column, object]
    group: tuple[int, str]
    """The step that inserted it, and its partition."""
    seen: tuple[int, str] = (-1, "")
    """What it was seen as last, and after how many changes of the columns that was."""


@dataclass
class Table:
    """The table as the story goes on."""

    columns: list[Column]
    types: dict[int, list[str]]
    """Every type that each column or part takes in the whole story, by its number."""
    mor: bool
    partitions: tuple[str, ...] = ()
    dry: bool = False
    """Whether values are left out: only the types and the keys are looked for."""
    numbers: int = 0
    """The greatest number of a column or part so far."""
    step: int = 0
    lines: dict[int, Line] = field(default_factory=dict)
    base: dict[int, Line] = field(default_factory=dict)
    rows: dict[int, int] = field(default_factory=dict)
    """The number of each key's row, in the order of first writing."""
    named: int = 0
    """The greatest key that the story names."""
    touches: int = 0
    changes: int = 0
    """How often the columns were changed."""


@dataclass(frozen=True)
class Seen:
    """A table as people would see it: names, types, and rows by key."""

    names: tuple[tuple[str, str], ...]
    snapshot: dict[str, str]
    read_optimized: dict[str, str]
    """By key, the row as Python writes it: 1 is not True, and 1.0 is not 1."""


def tell(columns: str, story: str, *, mor: bool, partition_by: tuple[str, ...]) -> list[Seen]:
    """Work out what the table shows after its creation and after each step."""
    steps = [each.split() for each in story.split(";")]
    # Twice: a value depends on every type its column will ever have.
    types: dict[int, list[str]] = {}
    first, again = (Table([], types, mor, partition_by, dry) for dry in (True, False))
    _create(first, columns)
    for words in steps:
        _do(first, words)
    _create(again, columns)
    again.named = first.named
    seen = [_seen(again)]
    for words in steps:
        _do(again, words)
        seen.append(_seen(again))
    return seen


def _create(table: Table, columns: str) -> None:
    table.columns = [_column(each) for each in _split(columns)]
    for each in table.columns:
        table.numbers += 1
        each.number = table.numbers
    for each in table.columns:
        _number_parts(table, each)


def _column(text: str) -> Column:
    name, type_ = text.split(" ", 1)
    return Column(name, type_)


def _split(text: str) -> list[str]:
    """Split at the commas that are not inside brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [each.strip() for each in found]


def _number_parts(table: Table, column: Column) -> None:
    """Number the parts of a column in a row, each followed by its own: depth first."""
    column.types = table.types.setdefault(column.number, [])
    column.takes(column.type)
    kind, _, inside = column.type.partition("<")
    if inside:
        inner = _split(inside[:-1])
        column.type = kind
        labels = {"array": ["element"], "map": ["key", "value"]}.get(kind)
        pairs = zip(labels, inner, strict=True) if labels else (i.split(": ", 1) for i in inner)
        for name, type_ in pairs:
            table.numbers += 1
            part = Column(name, type_, table.numbers)
            column.parts.append(part)
            _number_parts(table, part)


def _do(table: Table, words: list[str]) -> None:
    table.step += 1
    match words:
        case ["insert" | "upsert", keys]:
            _write(table, _keys(keys))
        case ["rows", text]:
            for row in json.loads(text):
                _write(table, [row["id"]], given=row)
        case ["update", keys, "set", name]:
            _update(table, _keys(keys), name)
        case ["delete", keys]:
            _delete(table, _keys(keys))
        case ["merge", "update", changed, "delete", gone, "insert", new]:
            _write(table, [*_keys(changed), *_keys(new)])
            _delete(table, _keys(gone))
        case ["touch", how]:
            _touch(table, how)
        case ["compact"]:
            table.base = dict(table.lines)
        case _:
            _alter(table, words)
    if not table.mor:
        table.base = dict(table.lines)


def _keys(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def _write(
    table: Table, keys: list[int], *, touch: bool = False, given: dict[str, Any] | None = None
) -> None:
    for key in keys:
        row = table.rows.setdefault(key, len(table.rows) + 1)
        table.named = table.named if touch else max(table.named, key)
        old = table.lines.get(key)
        values = {each: _new(table, each, key, row) for each in table.columns}
        said = given or {}
        own = {each: _own(each, said[each.name]) for each in values if each.name in said}
        values |= {each: value for each, value in own.items() if each.name != "id"}
        where = "".join(str(row >> n & 1) for n, _ in enumerate(table.partitions))
        line = Line(values, old.group if old else (table.step, where))
        table.lines[key] = line
        table.base.setdefault(key, line)


def _update(table: Table, keys: list[int], name: str) -> None:
    for key in keys:
        old = table.lines[key]
        changed = {
            each: _new(table, each, key, table.rows[key])
            for each in table.columns
            if each.name in (name, "ts")
        }
        table.lines[key] = Line({**old.values, **changed}, old.group)


def _delete(table: Table, keys: list[int]) -> None:
    for key in keys:
        del table.lines[key]


def _touch(table: Table, how: str) -> None:
    table.touches += 1
    groups: dict[tuple[int, str], int] = {}
    for key, line in table.lines.items():
        groups.setdefault(line.group, key)
    firsts = [groups[each] for each in sorted(groups)]
    again = {"none": [], "some": firsts[::2], "all": firsts}[how]
    _write(table, [*again, table.named + table.touches], touch=True)


def _alter(table: Table, words: list[str]) -> None:
    table.changes += 1
    siblings, name = table.columns, words[1]
    if "." in name:
        whole, _, name = name.partition(".")
        siblings = next(each for each in table.columns if each.name == whole).parts
    column = next((each for each in siblings if each.name == name), None)
    match words[0]:
        case "add":
            _add(table, siblings, name, words[2:])
        case "drop" if column:
            siblings.remove(column)
        case "rename" if column:
            column.name = words[2]
        case "type" if column:
            column.takes(" ".join(words[2:]))
        case "move" if column:
            siblings.remove(column)
            siblings.insert(_place(siblings, words[2:]), column)


def _add(table: Table, siblings: list[Column], name: str, rest: list[str]) -> None:
    at = next((n for n, each in enumerate(rest) if each in ("first", "after")), len(rest))
    column = Column(name, " ".join(rest[:at]))
    siblings.insert(_place(siblings, rest[at:]), column)
    table.numbers += 1
    column.number = table.numbers
    _number_parts(table, column)


def _place(siblings: list[Column], words: list[str]) -> int:
    match words:
        case ["first"]:
            return 0
        case ["after", name]:
            return [each.name for each in siblings].index(name) + 1
    return len(siblings)


def _new(table: Table, column: Column, key: int, row: int) -> object:
    """Return what a write of this step puts into a column."""
    if table.dry:
        return None
    if column.name == "id":
        return str(key) if column.type == "string" else key
    if column.name in table.partitions:
        half = row >> table.partitions.index(column.name) & 1
        return f"p{half}" if column.type == "string" else half
    return _value(column, table.step, row, never_null=column.name == "ts")


def _value(column: Column, step: int, row: int, *, never_null: bool = False) -> object:
    if row % 5 == 0 and column.number % 2 == 0 and not never_null:
        return None
    match column.type:
        case "struct":
            return {part: _value(part, step, row) for part in column.parts}
        case "array":
            return [_value(column.parts[0], step, each) for each in (row, row + 500)]
        case "map":
            key, value = (_value(part, step, row) for part in column.parts)
            return {} if key is None else {key: value}
    return _leaf(column, step, row)


def _leaf(column: Column, step: int, row: int) -> object:
    code = column.number * 100_000 + step * 1_000 + row
    changes = len(column.types) > 1
    match column.type:
        case "int" | "long":
            return code
        case "tinyint" | "smallint" | "char(4)" | "binary":
            return _small(column.type, code, f"f{column.number}s{step}r{row}")
        case "float" | "double":
            return float(code) if "int" in column.types else code + 0.5
        case "boolean":
            return (row // 2 ** (column.number % 3)) % 2 != step % 2
        case "date":
            return datetime.date(1970, 1, 1) + datetime.timedelta(
                days=column.number * 40_000 + step * 1_000 + row
            )
        case "timestamp" | "timestamp_ntz":
            return datetime.datetime(2001, 1, 1) + datetime.timedelta(seconds=code + 0.25)  # noqa: DTZ001
        case "string" if any(t in ("int", "long", "double") for t in column.types):
            return str(code)
        case "string" if changes:  # once a decimal; the fraction would not be read back
            return str(code)
        case "string" | "varchar(12)":
            return f"f{column.number}s{step}r{row}"
    return _scaled(column.type, decimal.Decimal(code) + decimal.Decimal("0.25"))


def _scaled(type_: str, number: decimal.Decimal) -> decimal.Decimal:
    """Return a number with the places of its type; one without any has the whole number."""
    digits, places = map(int, type_.removeprefix("decimal(").removesuffix(")").split(","))
    with decimal.localcontext(prec=digits, rounding=decimal.ROUND_DOWN):
        return number.quantize(decimal.Decimal((0, (1,), -places)))


def _own(column: Column, given: Any) -> object:  # noqa: ANN401 - as JSON has it
    """Return an explicit value in the form of its type."""
    if given is None:
        return None
    match column.type:
        case "struct":
            return {part: _own(part, given.get(part.name)) for part in column.parts}
        case "array":
            return [_own(column.parts[0], each) for each in given]
        case "map":
            key, value = column.parts
            return {_own(key, k): _own(value, v) for k, v in sorted(given.items())}
        case "float" | "double":
            return float(given)
        case "binary":
            return bytes.fromhex(given[2:])
        case "date":
            return datetime.date.fromisoformat(given)
        case "timestamp" | "timestamp_ntz":
            return datetime.datetime.fromisoformat(given)
    if column.type.startswith("decimal"):
        return _scaled(column.type, decimal.Decimal(given))
    return f"{given:<4}" if column.type == "char(4)" else given


def _small(type_: str, code: int, text: str) -> object:
    """Return bytes, or the rest of a code by the greatest prime that fits; rows are 37 apart."""
    match type_:
        case "binary":
            return text.encode()
        case "tinyint":
            return code * 37 % 127
        case "smallint":
            return code * 37 % 32_749
    return f"{code * 37 % 9_973:<4}"


def _seen(table: Table) -> Seen:
    names = tuple((each.name, _type(each)) for each in table.columns)
    return Seen(names, _rows(table, table.lines), _rows(table, table.base))


def _rows(table: Table, lines: dict[int, Line]) -> dict[str, str]:
    for line in lines.values():
        if line.seen[0] != table.changes:
            line.seen = table.changes, repr(_row(table, line))
    return {str(key): line.seen[1] for key, line in lines.items()}


def _row(table: Table, line: Line) -> tuple[object, ...]:
    return tuple(_show(each, line.values.get(each)) for each in table.columns)


def _type(column: Column) -> str:
    inner = [_type(each) for each in column.parts]
    match column.type:
        case "struct":
            named = zip(column.parts, inner, strict=True)
            return f"struct<{', '.join(f'{part.name}: {type_}' for part, type_ in named)}>"
        case "array" | "map":
            return f"{column.type}<{', '.join(inner)}>"
    return column.type


def _show(column: Column, value: object) -> object:
    """Show a stored value under the names and in the types of now."""
    match column.type, value:
        case _, None:
            return None
        case "struct", dict():
            return {part.name: _show(part, value.get(part)) for part in column.parts}
        case "array", list():
            return tuple(_show(column.parts[0], each) for each in value)
        case "map", dict():
            key, part = column.parts
            return tuple((_show(key, k), _show(part, v)) for k, v in value.items())
        case "string", _:
            return str(value)
        case "double", int():
            return float(value)
    return value
