r"""A text file of Hive, which says nothing of its columns itself (`LazySimpleSerDe` of Hive 3.1.3).

Each line is a row, `\x01` stands between its values, `\x02` and so on between their parts, `\N` is
NULL, and nothing is escaped: a text with an end of line makes two rows, one with `\x01` two values.
"""

from __future__ import annotations

import base64
import decimal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from harness.engines.hive.values import canonical_type
from harness.formats.api import FileFactError, FileRows
from harness.formats.files.parquet import Footer
from harness.model.canonical import MapValue, Value, day, moment, single
from harness.model.datatypes import Array, DataType, Decimal, Map, Primitive, Struct, Text

NULL: Final = r"\N"
Columns = Sequence[tuple[str, str]]
"""Names and Hive's types."""
_BOOLEANS: Final = {"true": True, "false": False}
_PRIMITIVES: Final[Mapping[str, Callable[[str], Value]]] = {
    "boolean": _BOOLEANS.__getitem__,
    **dict.fromkeys(("tinyint", "smallint", "int", "long"), int),
    "float": lambda text: single(float(text)),
    "double": float,
    "string": str,
    "binary": lambda text: base64.b64decode(text, validate=True),
    "date": day,
    "timestamp": moment,
}


def read(path: Path, key: str, columns: Columns) -> Footer:
    """Return `columns` and the values of the column `key` as text; see `parquet.read`."""
    names, rows = content(path, columns)
    if key not in names:
        raise FileFactError(f"{path.name}: it has no column {key}")
    at = names.index(key)
    return Footer(tuple(columns), tuple(str(row[at]) for row in rows))


def content(path: Path, columns: Columns) -> FileRows:
    types = tuple(_type(path, kind) for _, kind in columns)
    rows = tuple(_row(path, number, line, types) for number, line in enumerate(_lines(path), 1))
    return tuple(name for name, _ in columns), rows


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem
    if text and not text.endswith("\n"):
        raise FileFactError(f"{path.name}: its last line has no end")
    return text.split("\n")[:-1]


def _type(path: Path, kind: str) -> DataType:
    type_ = canonical_type(kind)
    if type_ is None:
        raise FileFactError(f"{path.name}: no value can be read as {kind}")
    return type_


def _row(path: Path, number: int, line: str, types: Sequence[DataType]) -> tuple[Value, ...]:
    texts = line.split("\x01")
    if len(texts) != len(types):
        counts = f"line {number} has {len(texts)} values for {len(types)} columns"
        raise FileFactError(f"{path.name}: {counts}; in a text, \\n ends a row and \\x01 a value")
    try:
        return tuple(_value(text, type_, 1) for text, type_ in zip(texts, types, strict=True))
    except (ArithmeticError, KeyError, ValueError) as problem:
        raise FileFactError(f"{path.name}: line {number}: {problem}") from problem


def _value(text: str, type_: DataType, level: int) -> Value:
    """Return the value of a text; `level`: of what stands between its parts."""
    if text == NULL:
        return None
    match type_:
        case Primitive(name):
            return _PRIMITIVES[name](text)
        case Text():
            return text
        case Decimal(_, scale):
            return decimal.Decimal(text).quantize(
                decimal.Decimal(1).scaleb(-scale), context=decimal.Context(prec=60)
            )
    parts = text.split(chr(level + 1)) if text else []
    match type_:
        case Array(element):
            return tuple(_value(part, element, level + 1) for part in parts)
        case Struct(fields):
            children = zip(fields, parts, strict=True)
            return {name: _value(text, kind, level + 1) for (name, kind), text in children}
        case Map(key, item):
            pairs = (part.split(chr(level + 2)) for part in parts)
            return MapValue.of(
                [(_value(k, key, level + 2), _value(v, item, level + 2)) for k, v in pairs]
            )
    raise ValueError(f"{type_} has no parts")
