"""What the files of a table tell after a step, and how the catalog fits them.

It is worked out anew whenever a state is recorded: what an earlier harness made of the same files
says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.formats.api import FileFactError, Format
from harness.model import partition_paths
from harness.model.file_facts import FileFact, FileKind
from harness.model.partition_paths import ListedAs
from harness.model.simulation.column_resolution import META
from harness.runtime import metastore_objects
from harness.runtime.metastore_objects import CatalogEntry, CatalogHistory


@dataclass(frozen=True, slots=True)
class TableFiles:
    """The data files of a table, and its catalog entries."""

    entries: tuple[CatalogEntry, ...] = ()
    facts: tuple[FileFact, ...] = ()
    layout: str = ""
    """Why there are no facts; empty when there are."""

    @property
    def unlisted(self) -> tuple[str, ...]:
        """The folders of data files that some catalog entry has no partition for."""
        with_rows = [fact.path for fact in self.facts if fact.keys]
        return metastore_objects.unlisted_folders(self.entries, with_rows)

    def listed_as(self, partition_by: Sequence[str]) -> ListedAs:
        """Return the folders to whose values the catalog gives other texts than their names do.

        Where files have the values too (Hudi), names need not be escaped: then these are the texts
        that stand there, and of a name that looks escaped only the catalog says what it means.
        Where entries differ among themselves nothing is said.
        """
        stored = {name for fact in self.facts for name, _ in fact.columns}
        escaped = not stored & set(partition_by)
        listed = metastore_objects.listed_values(self.entries)
        values_of = {
            f: partition_paths.with_nulls(values[0])
            for f, values in listed.items()
            if not values[1:]
        }
        plain, stand = partition_paths.texts, partition_paths.as_they_stand
        return tuple(
            (folder, listed_)
            for folder, listed_ in values_of.items()
            if listed_ != plain(folder, partition_by)
            or (not escaped and listed_ != stand(folder, partition_by))
        )

    @property
    def bare(self) -> bool:
        """Whether base files begin with Hudi's meta columns and no catalog entry lists these."""
        listed = {name for entry in self.entries for name, _ in entry.columns}
        bases = (fact for fact in self.facts if fact.kind is FileKind.BASE)
        stored = {name for fact in bases for name, _ in fact.columns}
        return bool(META.keys() & stored) and not META.keys() & listed


def read_files(shape: Format, folder: Path, key: str, catalog: CatalogHistory) -> TableFiles:
    """Return what the files in a table's folder tell; `key` is the key column."""
    try:
        return TableFiles(catalog.now, shape.facts(folder, key, catalog))
    except FileFactError as problem:
        return TableFiles(catalog.now, layout=str(problem))
