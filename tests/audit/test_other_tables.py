"""Tables that other projects wrote: their rows by their files are the answers of those."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import pytest

from harness.audit import table_rows
from harness.formats.api import FileFactError
from harness.formats.delta import change_feed
from harness.formats.delta import read_plan as delta_plan
from harness.formats.files import table_folder
from harness.formats.files.column_parts import ColumnPart
from harness.formats.files.table_folder import TableFolder
from harness.formats.hudi import read_plan as hudi_plan
from harness.formats.read_plan import ReadPlan
from tests.audit import other_tables

_DELTA_WORDS: Final = {
    "int": "integer",
    "bytes": "binary",
    "timestamp-micros": "timestamp",
    "decimal(10, 5)": "decimal(10,5)",
}
"""What Delta calls types of Hudi: the answers have these words."""


def text_of(part: ColumnPart) -> str:
    inside = [text_of(inner) for inner in part.parts]
    if part.type == "struct":
        names = (inner.name for inner in part.parts)
        inside = [f"{name}: {of}" for name, of in zip(names, inside, strict=True)]
    word = re.sub(r"(decimal\(\d+), ", r"\1,", _DELTA_WORDS.get(part.type, part.type))
    return f"{word}<{', '.join(inside)}>" if part.parts else word


def plan_of(folder: TableFolder, format_: str, at: Mapping[str, Any]) -> ReadPlan:
    if format_ == "hudi":
        return hudi_plan.plan(folder, at.get("instant"))
    if "changes_from" in at:
        return change_feed.plan(folder, at["changes_from"], at["to"])
    return delta_plan.plan(folder, at.get("version"))


@pytest.mark.parametrize(
    ("format_", "table"),
    [(format_, table) for format_ in ("delta", "hudi") for table in other_tables.tables(format_)],
)
def test_each_version_has_the_rows_and_the_columns_that_its_project_says(
    format_: str, table: str
) -> None:
    folder = table_folder.at(str(other_tables.folder_of_tables() / table))
    for version in other_tables.versions(table):
        if version.refused:
            with pytest.raises(FileFactError):
                plan_of(folder, format_, version.at)
            continue
        plan = plan_of(folder, format_, version.at)
        for newest in ("latest_version", "latest_instant"):
            assert version.at.get(newest, plan.version) in {plan.version, int(plan.version)}
        columns = tuple((part.name, text_of(part)) for part in plan.columns)
        assert columns == version.columns, version.name
        assert other_tables.multiset(iter(table_rows.read(plan).rows)) == version.rows, version.name
