"""Tables of JSON files: each step writes one, with the columns of then and the rows it changed."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.engines.format_facts import FormatFacts
from harness.formats.api import Changes, Committed, FileFactError, FileRows, Habit, VariantSettings
from harness.model.column_statistics import ColumnStatistics
from harness.model.commit import Moment
from harness.model.file_facts import FileFact, FileKind
from harness.model.identifiers import TABLE
from harness.model.table import Table
from harness.model.truth import Truth, row_values
from harness.runtime.metastore_objects import CatalogEntry
from harness.scenario.definition import Scenario
from harness.scenario.operations import name_of
from harness.scenario.operations.api import Operation
from harness.scenario.statements import LOCATION, Sql, Statement

FACTS = FormatFacts("toy", "toy", "json", keeps_case=True)


@dataclass(frozen=True, slots=True)
class Toy:
    """See `harness.formats.api.Format`."""

    NAME: str = "toy"
    reader_facts: FormatFacts = FACTS
    merge_on_read: bool = False
    views: tuple[str, ...] = ("snapshot",)
    past_views: tuple[str, ...] = ()
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lacks: frozenset[str] = frozenset()
    partitions_last: bool = False
    absolute_paths: bool = False

    def table_for(self, view: str) -> str:
        return {"snapshot": TABLE}[view]

    def cannot(self, operation: Operation) -> str:
        return f"toy has no {name_of(operation)}" if name_of(operation) == "delete" else ""

    def habit(self, settings: VariantSettings) -> Habit:
        return Habit(Changes.REPLACE, partitions=True)

    def cannot_have(self, settings: VariantSettings, scenario: Scenario) -> str:
        return ""

    def session(self, settings: VariantSettings, names: Mapping[str, str]) -> Mapping[str, str]:
        return {}

    def create(self, table: Table, settings: VariantSettings) -> tuple[Statement, ...]:
        return (Sql(f"create {LOCATION}"),)

    def wording(
        self, operation: Operation, before: Truth, after: Truth, settings: VariantSettings
    ) -> tuple[Statement, ...]:
        changed = (row for key, row in after.rows.items() if before.rows.get(key) != row)
        content = {
            "columns": [(each.name, str(each.type)) for each in after.schema.fields],
            "rows": [row_values(row, after.schema) for row in changed],
        }
        return (Sql(f"write {LOCATION}/{after.step} {json.dumps(content)}"),)

    def instants(
        self,
        folder: Path,
        entries: Sequence[CatalogEntry] = (),
    ) -> tuple[str, ...]:
        return tuple(sorted((path.name for path in folder.glob("*")), key=int))

    def committed(self, folder: Path, entries: Sequence[CatalogEntry]) -> Committed:
        return Committed(self.instants(folder))

    def left_half(
        self, folder: Path, key: str, made: Collection[str], rows: Collection[str]
    ) -> str:
        return ""

    def before(self, folder: Path, instant: str) -> tuple[str, ...]:
        return ()

    def moment(self, folder: Path, instant: str) -> Moment:
        raise KeyError(instant)

    def table_version(self, folder: Path) -> str:
        return ""

    def timeline(self, folder: Path) -> tuple[str, ...]:
        return ()

    def schema_history(self, folder: Path) -> None:
        return None

    def kept_metadata(self, folder: Path, instant: str) -> None:
        return None

    def left_undone(self, folder: Path, operation: Operation, before: Sequence[FileFact]) -> str:
        return ""

    def created_wrong(self, folder: Path, settings: VariantSettings) -> str:
        return "" if folder.is_dir() else "there is no folder"

    def file_rows(self, path: Path, fact: FileFact) -> FileRows:
        content = json.loads(path.read_text("utf-8"))
        names = tuple(name for name, _ in content["columns"])
        return names, tuple(map(tuple, content["rows"]))

    def statistics(self, folder: Path, files: Sequence[FileFact]) -> tuple[ColumnStatistics, ...]:
        return ()

    def asked_statistics(self, settings: VariantSettings) -> None:
        return None

    def facts(
        self,
        folder: Path,
        key: str,
        entries: Sequence[CatalogEntry] = (),
    ) -> tuple[FileFact, ...]:
        return tuple(self._fact(folder / name, key) for name in self.instants(folder))

    def _fact(self, path: Path, key: str) -> FileFact:
        content = json.loads(path.read_text("utf-8"))
        columns = tuple((name, type_) for name, type_ in content["columns"])
        names = [name for name, _ in columns]
        if key not in names:
            raise FileFactError(f"{path.name}: it has no column {key}")
        keys = tuple(str(row[names.index(key)]) for row in content["rows"])
        return FileFact(path.name, FileKind.BASE, path.name, path.name, columns, keys)


FORMAT = Toy()
