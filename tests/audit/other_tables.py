"""Tables that other projects wrote, beside the checkout, and the answers that must come out.

Their README says the forms. Nothing of them is part of this repository.
"""

from __future__ import annotations

import datetime
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest

from harness.model.canonical import MapValue, Value, look_of

VARIABLE: Final = "LAKE_TABLE_HARNESS_OTHER_TABLES"
"""Names the folder where it is not `../shared/tables`."""
_LIST: Final = re.compile(r"(array|list|map|struct)<(.*)>", re.DOTALL)


def home() -> Path | None:
    """Return the folder of tables; None where it is not there."""
    if VARIABLE in os.environ:
        return Path(os.environ[VARIABLE])
    above = Path(__file__).resolve().parents
    places = (folder / "shared" / "tables" for folder in above)
    return next((folder for folder in places if folder.is_dir()), None)


def folder_of_tables() -> Path:
    folder = home()
    if folder is None or not folder.is_dir():
        pytest.skip("../shared/tables is not there (tables that other projects wrote)")
    return folder


def tables(format_: str) -> list[str]:
    """Return the tables of a format, as `source/table`; one name that skips where none is there."""
    folder = home()
    if folder is None:
        return ["none"]
    files = sorted(folder.glob("*/*.expected.json"))
    read = ((file, json.loads(file.read_text(encoding="utf-8"))) for file in files)
    return [answer["table"] for _, answer in read if answer["format"] == format_]


@dataclass(frozen=True, slots=True)
class ExpectedVersion:
    name: str
    at: Mapping[str, Any]
    refused: bool
    columns: tuple[tuple[str, str], ...]
    rows: Counter[tuple[object, ...]]


def versions(table: str) -> Iterator[ExpectedVersion]:
    answer = json.loads((folder_of_tables() / f"{table}.expected.json").read_text("utf-8"))
    for version in answer["versions"]:
        columns = tuple((column["name"], column["type"]) for column in version["columns"])
        types = [type_ for _, type_ in columns]
        rows = (
            tuple(_value(value, type_) for value, type_ in zip(row, types, strict=True))
            for row in version.get("rows", ())
        )
        yield ExpectedVersion(
            version["name"],
            version["at"],
            version["answer"] == "refuse",
            columns,
            multiset(rows),
        )


def multiset(rows: Iterator[Sequence[Value]]) -> Counter[tuple[object, ...]]:
    return Counter(tuple(map(_exact, row)) for row in rows)


def _exact(value: Value) -> object:
    """Return what is equal for equal values of one type alone, and can be counted."""
    match value:
        case dict():
            return tuple((name, _exact(part)) for name, part in value.items())
        case tuple():
            return tuple(map(_exact, value))
        case MapValue():
            return "map", tuple((_exact(key), _exact(part)) for key, part in value.pairs)
    return type(value).__name__, look_of(value)


def _value(value: Any, type_: str) -> Value:  # noqa: ANN401 - JSON
    if value is None:
        return None
    kind, inside = _split(type_)
    match kind:
        case "array" | "list":
            return tuple(_value(part, inside[0]) for part in value)
        case "map":
            return MapValue.of([(_value(k, inside[0]), _value(v, inside[1])) for k, v in value])
        case "struct":
            parts = (part.partition(": ") for part in inside)
            return {name: _value(value[name], of) for name, _, of in parts}
        case "float" | "double":
            return float(value)
        case "date":
            return datetime.date.fromisoformat(value)
        case "binary":
            return bytes.fromhex(value)
    if kind.startswith("timestamp"):
        return datetime.datetime.fromisoformat(value).replace(tzinfo=None)
    return Decimal(value) if kind.startswith("decimal") else value


def _split(type_: str) -> tuple[str, list[str]]:
    """Return a type and those inside of it."""
    if (match := _LIST.fullmatch(type_)) is None:
        return type_, []
    parts, depth, begin = [], 0, 0
    text = match[2]
    for at, sign in enumerate(text):
        depth += (sign in "<(") - (sign in ">)")
        if sign == "," and not depth:
            parts.append(text[begin:at].strip())
            begin = at + 1
    return match[1], [*parts, text[begin:].strip()]
