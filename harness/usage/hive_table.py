"""What one old file of a plain or a transactional Hive table says beside the catalog's columns."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from harness.formats.files import column_parts, data_files
from harness.formats.files.column_parts import ColumnPart
from harness.formats.files.data_files import DataFooter
from harness.formats.files.table_folder import ListedFile, TableFolder, UnreadableError
from harness.formats.hive_acid.format import FOLDER
from harness.usage import schema_changes as diff
from harness.usage.catalog_table import CatalogTable
from harness.usage.usage_file import Doubts, Fact, UsedChange, UsedFormat, UsedTable

_NUMBERED: Final = re.compile(r"_col\d+")
"""What Hive before version 2 calls all columns in ORC files (HIVE-4243)."""


def read(folder: TableFolder, table: CatalogTable) -> UsedTable:
    """Read the footer of the oldest file, by its time of modification."""
    if not folder.exists():
        raise UnreadableError("its folder is gone")
    doubts, files = Doubts(), list[ListedFile]()
    try:
        for listed in folder.walk():
            files += listed
    except UnreadableError as problem:
        doubts.add(Fact.SCHEMA_CHANGES, f"{problem}; not all were looked at")
    oldest = _footer(folder, table, files, doubts)
    names = [column.name for column in oldest.columns] if oldest else []
    nameless = bool(names) and all(map(_NUMBERED.fullmatch, names))
    features = {*_features(table, files), *(["files-without-column-names"] if nameless else [])}
    return UsedTable(
        table.name,
        table.format,
        partitioned=bool(table.partition_keys),
        features=tuple(sorted(features)),
        writers=oldest.writers if oldest else (),
        schema_changes=() if nameless else _changes(table, oldest),
        unknown=doubts.unknown,
        why=doubts.why,
    )


def _footer(
    folder: TableFolder, table: CatalogTable, files: Sequence[ListedFile], doubts: Doubts
) -> DataFooter | None:
    shown = (file for file in files if file.size and file.name[0] not in "._")
    first = min(shown, key=lambda file: (file.modified, file.path), default=None)
    if first is None:
        if table.partition_keys:
            doubts.add(
                Fact.SCHEMA_CHANGES,
                "no file lies below its location; its partitions may lie elsewhere",
            )
        return None
    if not table.columns:
        doubts.add(Fact.SCHEMA_CHANGES, "no catalog says which columns it has today")
    if table.format is UsedFormat.HIVE_TEXT:
        doubts.add(Fact.SCHEMA_CHANGES, "text files do not say which columns they have")
        return None
    try:
        return data_files.read_data_footer(folder, first.path)
    except UnreadableError as problem:
        doubts.add(Fact.SCHEMA_CHANGES, f"{first.path}: {problem}")
        return None


def _features(table: CatalogTable, files: Sequence[ListedFile]) -> Iterator[str]:
    if table.format is not UsedFormat.HIVE_ACID:
        return
    yield "insert-only" if table.insert_only else "full-acid"
    folders = {part for file in files for part in file.path.split("/")[:-1]}
    kinds = {name["kind"] for name in map(FOLDER.fullmatch, folders) if name}
    yield from ({"delta": "deltas", "delete_delta": "delete-deltas"}.get(e, "base") for e in kinds)


def _changes(table: CatalogTable, oldest: DataFooter | None) -> tuple[UsedChange, ...]:
    if oldest is None or not table.columns:
        return ()
    after = column_parts.of_catalog(table.columns)
    before: tuple[ColumnPart, ...] = column_parts.without(oldest.columns, table.partition_keys)
    return tuple(diff.by_names(column_parts.comparable(before, after), after))
