"""Delta tables that other projects wrote: their rows by their files are the answers of those."""

from __future__ import annotations

import pytest

from harness.audit import table_rows
from harness.formats.delta import read_plan
from harness.formats.files import table_folder
from harness.formats.files.column_parts import ColumnPart
from tests.audit import other_tables


def text_of(part: ColumnPart) -> str:
    inside = [text_of(inner) for inner in part.parts]
    if part.type == "struct":
        names = (inner.name for inner in part.parts)
        inside = [f"{name}: {of}" for name, of in zip(names, inside, strict=True)]
    return f"{part.type}<{', '.join(inside)}>" if part.parts else part.type


@pytest.mark.parametrize("table", other_tables.tables("delta"))
def test_each_version_has_the_rows_and_the_columns_that_its_project_says(table: str) -> None:
    folder = table_folder.at(str(other_tables.folder_of_tables() / table))
    for version in other_tables.versions(table):
        if "changes_from" in version.at:
            continue
        plan = read_plan.plan(folder, version.at.get("version"))
        if "latest_version" in version.at:
            assert plan.version == str(version.at["latest_version"])
        columns = tuple((part.name, text_of(part)) for part in plan.columns)
        assert columns == version.columns, version.name
        assert other_tables.multiset(iter(table_rows.read(plan).rows)) == version.rows, version.name
