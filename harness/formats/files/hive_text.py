r"""A text file of Hive, which says nothing of its columns itself.

Each line is a row, `\x01` stands between its values, `\x02` and so on between their parts, and `\N`
is NULL, unless the properties of the table say otherwise: a text with an end of line makes two
rows, one with `\x01` two values. Values and parts that a line lacks are NULL, others beyond its
columns are left out (`LazyStruct`), and what is no value of its type is NULL (`LazyInteger`,
`LazyBoolean`, `LazyDate` and the others).

Sources: `LazySerDeParameters`, `LazySimpleSerDe` and `OpenCSVSerde` of Hive 3.1.3; `LineReader` and
`CompressionCodecFactory` of Hadoop.
"""

from __future__ import annotations

import base64
import bz2
import csv
import decimal
import gzip
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from harness.engines.arrow_values import arrow_type
from harness.engines.hive.values import canonical_type
from harness.formats.api import FileFactError, FileRows
from harness.formats.files import typed_text
from harness.formats.files.parquet import Footer
from harness.model.canonical import MapValue, Value, day, moment, single
from harness.model.datatypes import Array, DataType, Decimal, Map, Struct, Text

NULL: Final = r"\N"
Columns = Sequence[tuple[str, str]]
"""Names and Hive's types."""
_CODECS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "gz": gzip.decompress,
    "bz2": bz2.decompress,
}
"""Hadoop knows how a file is compressed by the end of its name."""
_OTHER_CODECS: Final = frozenset({"deflate", "lz4", "lzo", "snappy", "zst"})
_LINE_ENDS: Final = re.compile(r"\r\n|\n|\r")
SEPARATORS: Final = "\x01\x02\x03\x04\x05\x06\x07\x08"
CSV: Final = "org.apache.hadoop.hive.serde2.OpenCSVSerde"


@dataclass(frozen=True, slots=True)
class TextForm:
    """How the rows of a table's text files are written."""

    separators: str = SEPARATORS
    """Between values, between the parts of these, and so on."""
    null: str = NULL
    escape: str = ""
    first_lines: int = 0
    """So many lines at the beginning of a file are no rows."""
    last_lines: int = 0
    encoding: str = "utf-8"
    csv: tuple[str, str, str] | None = None
    """What stands between values, around them, and before what is no such sign."""

    @classmethod
    def of(cls, serde: str, properties: Mapping[str, str]) -> TextForm:
        """Return the form that the properties of a table and of its serializer say."""
        quoting = None
        if serde == CSV:
            signs = {"separatorChar": ",", "quoteChar": '"', "escapeChar": "\\"}
            quoting = tuple(properties.get(name, sign)[:1] for name, sign in signs.items())
        separators = SEPARATORS
        names = (("field.delim", "serialization.format"), ("colelction.delim", "collection.delim"))
        for at, keys in enumerate((*names, ("mapkey.delim",))):
            texts = [properties[key] for key in keys if properties.get(key)]
            sign = _sign(texts[0]) if texts else separators[at]
            separators = separators[:at] + sign + separators[at + 1 :]
        return cls(
            separators,
            properties.get("serialization.null.format", NULL),
            _sign(properties.get("escape.delim", "")),
            int(properties.get("skip.header.line.count", 0)),
            int(properties.get("skip.footer.line.count", 0)),
            properties.get("serialization.encoding", "utf-8"),
            (quoting[0], quoting[1], quoting[2]) if quoting else None,
        )

    def value(self, text: str, type_: DataType) -> Value:
        """Return the value of a text without parts; ValueError: it stands for none."""
        plain = text
        if self.escape:  # see `LazyUtils.copyAndEscapeStringDataToText`
            escaped = f"{re.escape(self.escape)}(.)"
            plain = re.sub(escaped, lambda match: _ENDS.get(match[1], match[1]), text)
        if isinstance(type_, Text):
            return plain[: type_.length].rstrip(" " * (type_.name == "char"))
        if str(type_) == "binary":
            return base64.b64decode(plain, validate=True)
        return typed_text.value(plain, arrow_type(type_))


def _sign(text: str) -> str:
    """Return the sign that a property says: a number is that of the sign (`LazyUtils.getByte`)."""
    return chr(int(text) % 256) if re.fullmatch(r"-?\d{1,3}", text) else text[:1]


@dataclass(frozen=True, slots=True)
class TextRows:
    """The rows of a file, by the rules of Hive."""

    rows: tuple[tuple[Value, ...], ...]
    odd: str = ""
    """Of which type a text is no value, which Hive shows as NULL; not the text itself."""
    most: int = 0
    """The number of values in the longest line."""


def rows(content: bytes, name: str, columns: Columns, form: TextForm) -> TextRows:
    """Read a file as Hive does; raises FileFactError.

    What stands for no value is NULL, and so is what a line lacks; what it has beyond is left out.
    """
    suffix = name.rpartition(".")[2].lower()
    if suffix in _OTHER_CODECS:
        raise FileFactError(f"{name}: text that is compressed by {suffix} is not read")
    try:
        text = _CODECS.get(suffix, bytes)(content).decode(form.encoding, "replace")
    except (OSError, EOFError, LookupError, ValueError) as problem:
        raise FileFactError(f"{name}: {problem}") from problem
    lines = _LINE_ENDS.split(text)
    if not lines[-1]:
        lines.pop()
    lines = lines[form.first_lines : len(lines) - form.last_lines or None]
    types = tuple(_type_of(name, "string" if form.csv else kind) for _, kind in columns)
    reader = _LineReader(form, form.value)
    made = [reader.row(line, types) for line in lines]
    most = max((len(reader.values(line)) for line in lines), default=0)
    return TextRows(tuple(made), next(iter(reader.odd), ""), most)


def _type_of(name: str, kind: str) -> DataType:
    type_ = canonical_type(kind)
    if type_ is None:
        raise FileFactError(f"{name}: no value can be read as {kind}")
    return type_


@dataclass(frozen=True, slots=True)
class _LineReader:
    form: TextForm
    plain: Callable[[str, DataType], Value]
    """Makes a value of a text without parts; its error says that the text stands for none."""
    odd: list[str] = field(default_factory=list)
    """What stands for no value."""

    def row(self, line: str, types: Sequence[DataType]) -> tuple[Value, ...]:
        made = [self._value(text, type_, 1) for text, type_ in self._pairs(line, types)]
        return (*made, *[None] * (len(types) - len(made)))

    def _pairs(self, line: str, types: Sequence[DataType]) -> Iterable[tuple[str, DataType]]:
        return zip(self.values(line), types, strict=False)

    def values(self, line: str) -> list[str]:
        if self.form.csv is None:
            return self._parts(line, 0)
        between, around, before = self.form.csv
        escape = before if before != around else None
        read = csv.reader([line], delimiter=between, quotechar=around, escapechar=escape)
        return next(read, [""])

    def _value(self, text: str, type_: DataType, level: int) -> Value:
        if self.form.csv is not None:
            return text
        if text == self.form.null:
            return None
        match type_:
            case Array(element):
                parts = self._parts(text, level) if text else []
                return tuple(self._value(part, element, level + 1) for part in parts)
            case Struct(fields):
                parts = self._parts(text, level)
                parts += [self.form.null] * (len(fields) - len(parts))
                return {
                    name: self._value(part, kind, level + 1)
                    for (name, kind), part in zip(fields, parts, strict=False)
                }
            case Map(key, item):
                entries = (self._parts(p, level + 1) for p in self._parts(text, level) if p)
                between, null = self.form.separators[level + 1], self.form.null
                both = [(first, between.join(rest) if rest else null) for first, *rest in entries]
                return MapValue.of(
                    [
                        (self._value(k, key, level + 2), self._value(v, item, level + 2))
                        for k, v in both
                    ]
                )
        try:
            return self.plain(text, type_)
        except (ArithmeticError, LookupError, ValueError):
            self.odd.extend([f"a text is no {type_}"] if text else [])
            return None

    def _parts(self, text: str, level: int) -> list[str]:
        between = self.form.separators[level]
        if not self.form.escape:
            return text.split(between)
        sign, escape = re.escape(between), re.escape(self.form.escape)
        ends = [m.start() for m in re.finditer(f"{escape}.|{sign}", text) if m[0] == between]
        begins = [0, *(end + 1 for end in ends)]
        return [text[begin:end] for begin, end in zip(begins, [*ends, None], strict=True)]


_ENDS: Final = {"r": "\r", "n": "\n"}


def read(path: Path, key: str, columns: Columns) -> Footer:
    """Return `columns` and the values of the column `key` as text; see `data_files`."""
    names, made = content(path, columns)
    if key not in names:
        raise FileFactError(f"{path.name}: it has no column {key}")
    at = names.index(key)
    return Footer(tuple(columns), tuple(str(row[at]) for row in made))


def content(path: Path, columns: Columns) -> FileRows:
    """Return the rows as they were written, by the usual separators; raises FileFactError."""
    types = tuple(_type_of(path.name, kind) for _, kind in columns)
    reader = _LineReader(TextForm(), _written)
    try:
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem
    *lines, end = text.split("\n")
    if end:
        raise FileFactError(f"{path.name}: its last line has no end")
    return tuple(name for name, _ in columns), tuple(reader.row(line, types) for line in lines)


_BOOLEANS: Final = {"true": True, "false": False}
_PRIMITIVES: Final[Mapping[str, Callable[[str], Value]]] = {
    "boolean": lambda text: _BOOLEANS[text.lower()],
    **dict.fromkeys(("tinyint", "smallint", "int", "long"), int),
    "float": lambda text: single(float(text)),
    "double": float,
    "date": day,
    "timestamp": moment,
}
_TIMES: Final = ("date", "timestamp")
_TIME: Final = re.compile(r"[+-]?\d+-\d\d?-\d\d?([ T][\d:.]*)?")
"""Days and moments beyond those of Python stay texts."""


def _written(text: str, type_: DataType) -> Value:
    """Return the value of a text as it was written, also where an engine shows another."""
    if isinstance(type_, Decimal):
        unit = decimal.Decimal(1).scaleb(-type_.scale)
        return decimal.Decimal(text).quantize(unit, context=decimal.Context(prec=60))
    name = str(type_)
    if name == "binary":
        try:
            return base64.b64decode(text, validate=True)
        except ValueError as problem:
            raise FileFactError(f"a text is no binary: {problem}") from problem
    if name in _TIMES and not _TIME.fullmatch(text):
        return None
    return _PRIMITIVES.get(name, str)(text)
