"""Where the name mapping of an Iceberg table no longer leads to the columns of a file.

A file without field ids is read by the mapping of names to ids that the table has as a property
(Iceberg table specification, "Column Projection" and "Name Mapping Serialization"). A column's name
is taken out of it when another column gets that name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from harness.formats import parquet, parquet_statistics
from harness.formats.iceberg_statistics import FIELD_ID
from harness.formats.iceberg_table import IcebergTable, Live

PROPERTY: Final = "schema.name-mapping.default"


def lost_names(live: Live, found: IcebergTable) -> tuple[str, ...]:
    """Return the columns, and parts of structs, that readers of a data file do not find.

    By their dotted names in the file. The mapping has them under no id, or under that of another
    column than the table had there when the file became part of it. None of a file with ids.

    Raises:
        FileFactError: the file, or the mapping, cannot be understood.

    """
    stored = found.properties.get(PROPERTY)
    if not stored or live.entry["file_format"] != "PARQUET":
        return ()
    mapped, due = dict(_mapped(json.loads(stored))), found.ids(live.snapshot)
    return tuple(name for name in _without_id(live, found) if mapped.get(name) != due.get(name))


def _mapped(fields: Sequence[Mapping[str, Any]], above: str = "") -> Iterator[tuple[str, int]]:
    """Yield each dotted name with its id; a part stands below every name of its struct."""
    for each in fields:
        for name in each["names"]:
            if "field-id" in each:
                yield above + name, each["field-id"]
            yield from _mapped(each.get("fields", ()), f"{above}{name}.")


def _without_id(live: Live, found: IcebergTable) -> Iterator[str]:
    with parquet.opened(found.folder / live.path) as file:
        for name, leaf in parquet_statistics.leaves(file.schema_arrow):
            if FIELD_ID not in (leaf.metadata or {}):
                yield name
