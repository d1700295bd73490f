"""What the folder of a data file says of the partition that its rows are of. Pure.

A folder is called `column=value`, or by the value alone (Hudi without hive-style partitioning). In
the value every sign that a path could misunderstand is `%` and its two hexadecimal digits; the name
`__HIVE_DEFAULT_PARTITION__` stands for NULL. Source: Apache Hive, `FileUtils.escapePathName` and
`hive.exec.default.partition.name`; Apache Hudi, `PartitionPathEncodeUtils`, has the same.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from harness.model.canonical import Value, same
from harness.model.conversion import convert
from harness.model.datatypes import DataType
from harness.model.schema import Field
from harness.model.truth import Truth

NULL: Final = "__HIVE_DEFAULT_PARTITION__"
NULL_IN_TEXT: Final = "\\N"
"""What Hive writes for NULL into files of text; Trino 476 shows it for such a folder of Hudi's."""
_ESCAPED: Final = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_WRITE: Final = re.compile(r"(?:^|/)(?:base|(?:delete_)?delta_\d{7,})_\d{7,}(?:_\d{4})?(?:_v\d+)?$")
"""The folder of a write of a transactional table (`AcidUtils` of Hive 3.1.3 and 4.0.1)."""

Texts = tuple[str | None, ...]
"""Of each partition column the text of its value; None for NULL."""
ListedAs = tuple[tuple[str, Texts], ...]
"""Folders with the texts that the catalog gives to their values, where their names give others."""


def folder_of(path: str) -> str:
    """Return the folder of a partition's file, both relative to the table's; empty for its own.

    In a transactional table each write has a folder in that of the partition.
    """
    return _WRITE.sub("", path.rpartition("/")[0])


def levels(folder: str, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the value of each partition column as it stands in a folder's name.

    Nothing where the folder has not one level for each: then its name tells nothing.
    """
    parts = folder.split("/") if folder else []
    if len(parts) != len(columns):
        return ()
    return tuple(_value_in(part, name) for part, name in zip(parts, columns, strict=True))


def texts(folder: str, columns: Sequence[str]) -> Texts:
    """Return the text that a folder's name gives to each partition column; nothing as above."""
    return with_nulls([unescaped(level) for level in levels(folder, columns)])


def as_they_stand(folder: str, columns: Sequence[str]) -> Texts:
    return with_nulls(levels(folder, columns))


def with_nulls(names: Sequence[str]) -> Texts:
    return tuple(None if text == NULL else text for text in names)


def forms(folder: str, columns: Sequence[str], column: str) -> frozenset[str]:
    """Return the texts that a folder's name may be shown as for a column, other than its value.

    They are its level of the name, the value as it stands there, and what comes of it where escapes
    are replaced once more than they were made; of NULL also what files of text have.
    """
    raw_values = dict(zip(columns, levels(folder, columns), strict=False))
    if column not in raw_values:
        return frozenset()
    level, raw = folder.split("/")[list(columns).index(column)], raw_values[column]
    result = (level, raw, unescaped(raw), unescaped(unescaped(raw)))
    return frozenset((*result, NULL_IN_TEXT) if raw == NULL else result)


def is_null(folder: str, columns: Sequence[str], column: str) -> bool:
    return dict(zip(columns, texts(folder, columns), strict=False)).get(column, "") is None


def unescaped(text: str) -> str:
    """Return a value from its form in a path: its bytes are UTF-8, or else a letter each."""

    def letters(escaped: re.Match[str]) -> str:
        result = bytes.fromhex(escaped[0].replace("%", ""))
        try:
            return result.decode()
        except UnicodeDecodeError:
            return result.decode("latin-1")

    return _ESCAPED.sub(letters, text)


def value_of(text: str | None, type_: DataType) -> Value:
    """Return the value of a partition column that a path's text stands for.

    Raises ValueError: it stands for none of the column's type.
    """
    if str(type_) == "boolean" and text in {"true", "false"}:
        return text == "true"
    return convert(text, type_)


def says(folder: str, columns: Sequence[str], field: Field, shown: Value) -> bool:
    value_texts = dict(zip(columns, texts(folder, columns), strict=False))
    if field.name not in value_texts:
        return False
    if isinstance(shown, str) and shown in forms(folder, columns, field.name):
        return True
    try:
        return same(value_of(value_texts[field.name], field.type), shown)
    except ValueError:
        return False


def values(texts: Texts, truth: Truth) -> Mapping[int, Value]:
    """Return the values of the partition columns by their ids; nothing where there is no text.

    Raises ValueError: a text stands for no value of its column's type.
    """
    fields = [truth.schema.find(name) for name in truth.table.partition_by]
    pairs = zip(fields, texts, strict=True) if texts else ()  # ValueError: others than there are
    return {field.id: value_of(text, field.type) for field, text in pairs}


def _value_in(part: str, column: str) -> str:
    name, sign, value = part.partition("=")
    return value if sign and unescaped(name).lower() == column.lower() else part
