"""Tables that other projects wrote, with their answers; see `tests/audit/test_foreign_iceberg.py`.

They lie in `../shared/tables` beside the checkout and are no part of it: `<source>/<table>/`, what
it is in `<table>.yaml`, its answers in `<table>.expected.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML

from harness.formats.files.column_parts import ColumnPart
from harness.formats.files.locations import Locations
from harness.model.canonical import Value
from tests.audit import other_tables

TABLES: Final = other_tables.home() or Path("shared/tables")
MISSING: Final = "../shared/tables is not there (tables that other projects wrote)"
_INFINITY: Final = {float("inf"): "Infinity", float("-inf"): "-Infinity"}


@dataclass(frozen=True)
class ForeignTable:
    """One of them."""

    name: str

    @property
    def folder(self) -> Path:
        return TABLES / self.name

    @cached_property
    def about(self) -> Mapping[str, Any]:
        about: Mapping[str, Any] = YAML(typ="safe").load(
            (TABLES / f"{self.name}.yaml").read_text(encoding="utf-8")
        )
        return about

    @property
    def versions(self) -> Sequence[Mapping[str, Any]]:
        path = TABLES / f"{self.name}.expected.json"
        versions: Sequence[Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))[
            "versions"
        ]
        return versions

    @property
    def locations(self) -> Locations:
        """Where its files lie, whose old folders `roots` names."""
        roots = self.about.get("location", {}).get("roots", {}).values()
        return Locations({root: str(self.folder) for root in roots if "file not there" not in root})

    def rows(self, version: Mapping[str, Any]) -> list[list[Any]]:
        """Return the rows of a version, which may be some columns of those of another one."""
        if "rows_from" not in version:
            rows: list[list[Any]] = version["rows"]
            return rows
        source = version["rows_from"]
        (other,) = (v for v in self.versions if v["name"] == source["version"])
        names = [column["name"] for column in other["columns"]]
        picked = [None if c in source["null"] else names.index(c) for c in source["columns"]]
        return [[None if at is None else row[at] for at in picked] for row in self.rows(other)]


def tables(format_: str) -> Iterator[ForeignTable]:
    for path in sorted(TABLES.glob("*/*.yaml")):
        table = ForeignTable(str(path.relative_to(TABLES).with_suffix("")))
        if table.about["format"] == format_:
            yield table


def columns(parts: Sequence[ColumnPart]) -> list[dict[str, Any]]:
    return [{"name": part.name, "type": _text(part), "id": part.id} for part in parts]


def _text(part: ColumnPart) -> str:
    inside = [_text(inner) for inner in part.parts]
    match part.type:
        case "struct":
            pairs = zip(part.parts, inside, strict=True)
            return f"struct<{', '.join(f'{inner.name}: {text}' for inner, text in pairs)}>"
        case "array":
            return f"list<{inside[0]}>"
        case "map":
            return f"map<{', '.join(inside)}>"
    return part.type


def plain(value: Value, part: ColumnPart) -> Any:  # noqa: ANN401 - JSON
    """Return a value in the form of the expected answers."""
    if value is None:
        return None
    match part.type:
        case "struct":
            return {inner.name: plain(value[inner.name], inner) for inner in part.parts}
        case "array":
            return [plain(element, part.parts[0]) for element in value]
        case "map":
            return sorted(
                ([plain(k, part.parts[0]), plain(v, part.parts[1])] for k, v in value.pairs),
                key=repr,
            )
        case "variant":
            return _variant(value)
    return _leaf(value, part.type)


def _leaf(value: Value, type_: str) -> Any:  # noqa: ANN401 - JSON
    match value:
        case bool() | int():
            return value
        case float():
            return "NaN" if value != value else _INFINITY.get(value, value)  # noqa: PLR0124
        case Decimal():
            return str(value)
        case bytes():
            return value.hex()
    zone = "+00:00" if type_.startswith("timestamptz") else ""
    if type_.startswith("timestamp"):
        text = value if isinstance(value, str) else value.isoformat(" ", "microseconds")
        return text.replace(" ", "T") + zone
    return str(value)


def _variant(value: Value) -> Any:  # noqa: ANN401 - JSON
    type_, inner = value["t"], value["v"]
    if inner is None:
        shown: Any = None
    elif type_ == "object":
        shown = {name: _variant(part) for name, part in inner.items()}
    elif type_ == "array":
        shown = [_variant(part) for part in inner]
    else:
        shown = _leaf(inner, type_)
    return {"t": type_, "v": shown}
