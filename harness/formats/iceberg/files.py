"""What the live files of an Iceberg table say of its rows.

Source: Iceberg table specification, "Scan Planning" and "Column Projection".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from harness.formats.files import data_files
from harness.formats.iceberg import deletes as iceberg_deletes
from harness.formats.iceberg import name_mapping as iceberg_name_mapping
from harness.formats.iceberg.deletes import DataFile
from harness.formats.iceberg.table import FileContent, IcebergTable, identity_columns, table
from harness.model.canonical import Value
from harness.model.file_facts import FileFact, FileKind
from harness.runtime.metastore_objects import CatalogEntry

_FIRST_SPEC: Final = 0
"""The id of the partition spec that a table is created with."""


def facts(folder: Path, key: str, entries: Iterable[CatalogEntry] = ()) -> tuple[FileFact, ...]:
    """Return a fact for each live data file, older rows first, and for what is deleted of each.

    A data file is a group of its own. What deletes rows becomes a log fact for each data file of
    which it does, with their keys; what it says of files that are no longer part of the table is
    left out.
    """
    newest = table(folder, entries)
    if newest is None:
        return ()
    live = sorted(newest.live(), key=lambda live: (live.sequence, live.path))
    data = {
        file.path: DataFile(file, data_files.read_footer(folder / file.path, key))
        for file in live
        if file.content is FileContent.DATA
    }
    bases = [_base(file, newest) for file in data.values()]
    deletes = [file for file in live if file.path not in data]
    logs = (fact for delete in deletes for fact in iceberg_deletes.delete_facts(delete, newest, data, key))
    return (*bases, *logs)


def partition_values(folder: Path, path: str) -> Mapping[str, Value]:
    """Return the partition values of a live data file by their columns, as its manifest has them.

    Readers take them from there, whatever the file holds (Iceberg table specification, "Column
    Projection").
    """
    newest = table(folder)
    live = [live for live in newest.live() if live.path == path] if newest else []
    if newest is None or not live:
        return {}
    pairs = zip(identity_columns(newest.metadata, live[0].spec), live[0].partition, strict=False)
    return {name: value for name, value in pairs if name}


def _base(file: DataFile, newest: IcebergTable) -> FileFact:
    # Other formats leave the partition columns of a table out of data files, and what reads facts
    # counts on it. A field that the spec got later is made of a column like any other.
    live, metadata = file.live, newest.metadata
    begun, written = (set(identity_columns(metadata, spec)) for spec in (_FIRST_SPEC, live.spec))
    columns = tuple(column for column in file.footer.columns if column[0] not in begun & written)
    keys, wrong = file.footer.keys, iceberg_name_mapping.wrong_names(live, newest)
    made = live.path, FileKind.BASE, live.path, live.snapshot, columns, keys
    return FileFact(*made, lost_names=wrong.lost, misled_names=wrong.misled)
