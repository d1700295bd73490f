"""Where the name mapping of an Iceberg table no longer leads to the columns of a file.

A file without field ids is read by the mapping of names to ids that the table has as a property
(Iceberg table specification, "Column Projection" and "Name Mapping Serialization"). A column's name
is taken out of it when another column gets that name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from harness.formats.files import avro, orc, parquet
from harness.formats.iceberg.statistics import FIELD_ID
from harness.formats.iceberg.table import IcebergTable, Live

if TYPE_CHECKING:
    import pyarrow

PROPERTY: Final = "schema.name-mapping.default"
_ID_OF: Final[Mapping[str, bytes]] = {"PARQUET": FIELD_ID, "ORC": b"iceberg.id"}
"""What a column's id is called in two kinds of files (Iceberg specification, "Parquet", "ORC")."""
AVRO: Final = "AVRO"
_ID_IN_AVRO: Final = "field-id"
"""The same of a field in an Avro schema (Iceberg specification, "Avro")."""


@dataclass(frozen=True, slots=True)
class WrongNames:
    """Columns, and parts of structs, by their dotted names in a data file without field ids."""

    lost: tuple[str, ...] = ()
    """Those that readers do not find: the mapping has them under no id, or under that of another
    column than the table had there when the file became part of it."""
    misled: tuple[str, ...] = ()
    """Those of them that have the id of another column."""


def wrong_names(live: Live, table: IcebergTable) -> WrongNames:
    """Return the names by which columns of a data file are not found; none of a file with ids."""
    stored = table.properties.get(PROPERTY)
    if not stored or live.entry["file_format"] not in {*_ID_OF, AVRO}:
        return WrongNames()
    mapped, due = dict(_mapped(json.loads(stored))), table.ids(live.snapshot)
    lost = [name for name in _without_id(live, table) if mapped.get(name) != due.get(name)]
    return WrongNames(tuple(lost), tuple(name for name in lost if name in mapped))


def _mapped(fields: Sequence[Mapping[str, Any]], above: str = "") -> Iterator[tuple[str, int]]:
    """Yield each dotted name with its id; a part stands below every name of its struct."""
    for field in fields:
        for name in field["names"]:
            if "field-id" in field:
                yield above + name, field["field-id"]
            yield from _mapped(field.get("fields", ()), f"{above}{name}.")


def _without_id(live: Live, table: IcebergTable) -> Iterator[str]:
    kind = live.entry["file_format"]
    if kind == AVRO:
        fields = avro.leaves(avro.written_schema(table.folder / live.path))
        yield from (name for name, field in fields if _ID_IN_AVRO not in field)
        return
    for name, leaf in parquet.leaves(_schema(table.folder / live.path, kind)):
        if _ID_OF[kind] not in (leaf.metadata or {}):
            yield name


def _schema(path: Path, kind: str) -> pyarrow.Schema:
    if kind == "ORC":
        return orc.schema(path)
    with parquet.opened(path) as file:
        return file.schema_arrow
