"""The truth from the files of Iceberg tables of other projects is the answer that they give."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from harness.audit import table_rows
from harness.formats.api import FileFactError
from harness.formats.files import table_folder
from harness.formats.iceberg import read_plan
from harness.formats.read_plan import ReadPlan
from tests.audit import foreign_tables
from tests.audit.foreign_tables import ForeignTable, plain

TABLES = tuple(foreign_tables.tables("iceberg"))
pytestmark = pytest.mark.skipif(not TABLES, reason=foreign_tables.MISSING)


def versions(answer: str) -> list[Any]:
    return [
        pytest.param(table, version, id=f"{table.name} {version['name']}")
        for table in TABLES
        for version in table.versions
        if version["answer"] == answer
    ]


def plan(table: ForeignTable, version: Mapping[str, Any]) -> ReadPlan:
    at = version["at"]
    folder = table_folder.at(str(table.folder))
    snapshot = str(at.get("snapshot", ""))
    return read_plan.plan(folder, at["metadata"], table.locations, snapshot)


@pytest.mark.parametrize(("table", "version"), versions("rows"))
def test_every_version_has_the_rows_and_columns_that_its_project_expects(
    table: ForeignTable, version: Mapping[str, Any]
) -> None:
    made = plan(table, version)
    rows = table_rows.read(made).rows
    assert foreign_tables.columns(made.columns) == version["columns"]
    shown = [[plain(v, part) for v, part in zip(row, made.columns, strict=True)] for row in rows]
    assert Counter(map(json.dumps, shown)) == Counter(map(json.dumps, table.rows(version)))
    assert len(rows) == version["count"]
    at = version["at"]
    assert made.version == str(at.get("snapshot", at.get("latest_snapshot")))


@pytest.mark.parametrize(("table", "version"), versions("refuse"))
def test_what_the_specification_refuses_is_refused_in_one_line(
    table: ForeignTable, version: Mapping[str, Any]
) -> None:
    with pytest.raises(FileFactError) as refusal:
        table_rows.read(plan(table, version))
    assert "\n" not in str(refusal.value)
