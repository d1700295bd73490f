r"""A text file of Hive, which says nothing of its columns itself (`LazySimpleSerDe` of Hive 3.1.3).

Each line is a row, `\x01` stands between its values, `\x02` and so on between their parts, `\N` is
NULL, and nothing is escaped: a text with an end of line makes two rows, one with `\x01` two values.
Values and parts that a line lacks are NULL, others beyond its columns are left out (`LazyStruct`),
and what is no value of its type is NULL (`LazyInteger`, `LazyBoolean`, `LazyDate` and the others).
"""

import base64
import decimal
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
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
    "boolean": lambda text: _BOOLEANS[text.lower()],
    **dict.fromkeys(("tinyint", "smallint", "int", "long"), int),
    "float": lambda text: single(float(text)),
    "double": float,
    "string": str,
    "date": day,
    "timestamp": moment,
}
_TIMES: Final = ("date", "timestamp")
_TIME: Final = re.compile(r"[+-]?\d+-\d\d?-\d\d?([ T][\d:.]*)?")
"""Days and moments beyond those of Python stay texts."""


def read(path: Path, key: str, columns: Columns) -> Footer:
    """Return `columns` and the values of the column `key` as text; see `data_files`."""
    names, rows = content(path, columns)
    if key not in names:
        raise FileFactError(f"{path.name}: it has no column {key}")
    at = names.index(key)
    return Footer(tuple(columns), tuple(str(row[at]) for row in rows))


def content(path: Path, columns: Columns) -> FileRows:
    types = tuple(type_of(path, kind) for _, kind in columns)
    try:
        rows = tuple(tuple(_values(line.split("\x01"), types, 1)) for line in _lines(path))
    except ValueError as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem
    return tuple(name for name, _ in columns), rows


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem
    if text and not text.endswith("\n"):
        raise FileFactError(f"{path.name}: its last line has no end")
    return text.split("\n")[:-1]


def type_of(path: Path, kind: str) -> DataType:
    type_ = canonical_type(kind)
    if type_ is None:
        raise FileFactError(f"{path.name}: no value can be read as {kind}")
    return type_


def _values(texts: Sequence[str], types: Sequence[DataType], level: int) -> Iterator[Value]:
    whole = [*texts, *[NULL] * (len(types) - len(texts))]
    for text, type_ in zip(whole, types, strict=False):
        yield _value(text, type_, level)


def _value(text: str, type_: DataType, level: int) -> Value:
    """Return the value of a text; `level`: of what stands between its parts."""
    if text == NULL:
        return None
    match type_:
        case Primitive("binary"):
            return base64.b64decode(text, validate=True)
        case Primitive() | Decimal():
            with suppress(ArithmeticError, KeyError, ValueError):
                return _plain_value(text, type_)
            return None
        case Text():
            return text
    parts = text.split(chr(level + 1)) if text else []
    match type_:
        case Array(element):
            return tuple(_value(part, element, level + 1) for part in parts)
        case Struct(fields):
            values = _values(parts, [kind for _, kind in fields], level + 1)
            return {name: value for (name, _), value in zip(fields, values, strict=True)}
        case Map(key, item):
            pairs = (part.split(chr(level + 2), 1) for part in parts)
            return MapValue.of([tuple(_values(pair, (key, item), level + 2)) for pair in pairs])
    raise ValueError(f"{type_} has no parts")


def _plain_value(text: str, type_: Primitive | Decimal) -> Value:
    if isinstance(type_, Primitive):
        if type_.name in _TIMES and not _TIME.fullmatch(text):
            return None
        return _PRIMITIVES[type_.name](text)
    unit = decimal.Decimal(1).scaleb(-type_.scale)
    return decimal.Decimal(text).quantize(unit, context=decimal.Context(prec=60))
