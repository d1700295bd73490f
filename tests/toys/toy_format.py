"""Tables of JSON files: each step writes one, with the columns of then and the rows it changed."""

import json
from collections.abc import Sequence
from pathlib import Path

from harness.engines.format_facts import FormatFacts
from harness.formats.api import (
    NO_CATALOG,
    Committed,
    FileFactError,
    FileRows,
    Format,
    VariantSettings,
)
from harness.model.file_facts import FileFact, FileKind
from harness.model.schema import Table
from harness.model.truth import Truth, row_values
from harness.runtime.metastore_objects import CatalogEntry, CatalogHistory
from harness.scenario.operations import name_of
from harness.scenario.operations.api import Operation
from harness.scenario.statements import LOCATION, Sql, Statement


class Toy(Format):
    NAME = "toy"
    reader_facts = FormatFacts("toy", "toy", "json", keeps_case=True)

    def unsupported(self, operation: Operation) -> str:
        return f"toy has no {name_of(operation)}" if name_of(operation) == "delete" else ""

    def create(self, table: Table, settings: VariantSettings) -> tuple[Statement, ...]:
        return (Sql(f"create {LOCATION}"),)

    def wording(
        self, operation: Operation, before: Truth, after: Truth, settings: VariantSettings
    ) -> tuple[Statement, ...]:
        changed = (row for key, row in after.rows.items() if before.rows.get(key) != row)
        content = {
            "columns": [(field.name, str(field.type)) for field in after.schema.fields],
            "rows": [row_values(row, after.schema) for row in changed],
        }
        return (Sql(f"write {LOCATION}/{after.step} {json.dumps(content)}"),)

    def instants(self, folder: Path, entries: Sequence[CatalogEntry] = ()) -> tuple[str, ...]:
        return tuple(sorted((path.name for path in folder.glob("*")), key=int))

    def committed(self, folder: Path, entries: Sequence[CatalogEntry]) -> Committed:
        return Committed(self.instants(folder))

    def creation_problem(self, folder: Path, settings: VariantSettings) -> str:
        return "" if folder.is_dir() else "there is no folder"

    def file_rows(self, path: Path, fact: FileFact) -> FileRows:
        content = json.loads(path.read_text("utf-8"))
        names = tuple(name for name, _ in content["columns"])
        return names, tuple(map(tuple, content["rows"]))

    def facts(
        self, folder: Path, key: str, catalog: CatalogHistory = NO_CATALOG
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
