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

    Raises:
        FileFactError: a file cannot be understood, or rows are deleted by other values than keys.

    """
    found = table(folder, entries)
    if found is None:
        return ()
    live = sorted(found.live(), key=lambda each: (each.sequence, each.path))
    data = {
        each.path: DataFile(each, data_files.read_footer(folder / each.path, key))
        for each in live
        if each.content is FileContent.DATA
    }
    bases = [_base(each, found) for each in data.values()]
    deletes = [each for each in live if each.path not in data]
    logs = (fact for each in deletes for fact in iceberg_deletes.facts(each, found, data, key))
    return (*bases, *logs)


def partition_values(folder: Path, path: str) -> Mapping[str, Value]:
    """Return the partition values of a live data file by their columns, as its manifest has them.

    Readers take them from there, whatever the file holds (Iceberg table specification, "Column
    Projection").

    Raises:
        FileFactError: a manifest cannot be understood.

    """
    found = table(folder)
    live = [each for each in found.live() if each.path == path] if found else []
    if found is None or not live:
        return {}
    pairs = zip(identity_columns(found.metadata, live[0].spec), live[0].partition, strict=False)
    return {name: value for name, value in pairs if name}


def _base(file: DataFile, found: IcebergTable) -> FileFact:
    # Other formats leave the partition columns of a table out of data files, and what reads facts
    # counts on it. A field that the spec got later is made of a column like any other.
    live, metadata = file.live, found.metadata
    begun, own = (set(identity_columns(metadata, spec)) for spec in (_FIRST_SPEC, live.spec))
    columns = tuple(each for each in file.footer.columns if each[0] not in begun & own)
    keys, wrong = file.footer.keys, iceberg_name_mapping.wrong_names(live, found)
    made = live.path, FileKind.BASE, live.path, live.snapshot, columns, keys
    return FileFact(*made, lost_names=wrong.lost, misled_names=wrong.misled)
