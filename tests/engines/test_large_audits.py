"""Errors planted in the files that a reader is given are found by sums of hashes in its own SQL.

The truth comes from other files, so that the reader is wrong by what was planted, and nothing else.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.artifacts.cache import Cache
from harness.audit import audit as auditing
from harness.audit.audit import AuditLimits
from harness.audit.comparison import TableDifferenceKind
from harness.audit.readers import AuditReaders, Entries
from harness.audit.records import AuditedAnswer
from harness.audit.tables import PinnedTable, pinned
from harness.core.progress import Progress
from harness.core.records import VerdictKind
from harness.model.query import ALL
from harness.scenario.cells import Reader

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

FILES, ROWS, PLANTED = 10, 10_000, 25
"""Of a table, of a file, and errors for each reader."""
READERS = ("duckdb-1.5.5", "datafusion-54.1.0-hudi-0.5.0")


def rows_of(number: int) -> pa.Table:
    ids = range(number * ROWS, (number + 1) * ROWS)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "name": pa.array([("", None, "a", f"b{at}")[at % 4] for at in ids]),
            "one": pa.array([at % 11 for at in ids], pa.int64()),
            "two": pa.array([at % 13 for at in ids], pa.int64()),
            "x": pa.array([at / 7 for at in ids], pa.float64()),
        }
    )


def _with(rows: pa.Table, name: str, changed: dict[int, Any]) -> pa.Table:
    values = rows[name].to_pylist()
    for at, value in changed.items():
        values[at] = value
    return rows.set_column(rows.column_names.index(name), name, pa.array(values, rows[name].type))


def value_changed(rows: pa.Table, at: int) -> pa.Table:
    return _with(rows, "x", {at: -1.5})


def row_lost(rows: pa.Table, at: int) -> pa.Table:
    return pa.concat_tables([rows.slice(0, at), rows.slice(at + 1)])


def row_twice(rows: pa.Table, at: int) -> pa.Table:
    return pa.concat_tables([rows, rows.slice(at, 1)])


def columns_swapped(rows: pa.Table, at: int) -> pa.Table:
    del at
    names = ["id", "name", "two", "one", "x"]
    return rows.rename_columns(names).select(rows.column_names)


def null_for_empty_text(rows: pa.Table, at: int) -> pa.Table:
    return _with(rows, "name", {at // 4 * 4: None})


def values_swapped(rows: pa.Table, at: int) -> pa.Table:
    other = (at + 5) % ROWS
    one, two = (rows["one"][index].as_py() for index in (at, other))
    return _with(rows, "one", {at: two, other: one})


PLANTS: tuple[Callable[[pa.Table, int], pa.Table], ...] = (
    value_changed, row_lost, row_twice, columns_swapped, null_for_empty_text, values_swapped,
)  # fmt: skip


@dataclass
class PlantedReaders:
    """Readers that are given another folder than the table's."""

    folder: Path
    given: Path

    def __call__(self, entries: Entries, stack: ExitStack) -> AuditReaders:
        moved = {}
        for database, entry in entries.items():
            storage = {**entry.table["sd"], "location": str(self.given)}
            moved[database] = replace(entry, table={**entry.table, "sd": storage})
        cache = Cache.default(offline=True)
        return AuditReaders(cache, self.folder, Progress(), moved, stack)


@dataclass
class Asked:
    """A table and a server that is asked about it again and again."""

    table: Any
    engine: Any
    server: Any
    reader: Reader

    def whole(self) -> AuditedAnswer:
        asked = replace(self.table, queries=(ALL,))
        (answer,) = auditing.ask(asked, self.reader, self.engine, self.server)
        return answer


@pytest.fixture(scope="module", params=READERS)
def planted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Asked, Path]]:
    folder = tmp_path_factory.mktemp("planted")
    right, given = folder / "right", folder / "given"
    right.mkdir()
    for number in range(FILES):
        pq.write_table(rows_of(number), right / f"{number}.parquet")
    shutil.copytree(right, given)
    reader = Reader(request.param)
    (table,) = pinned(str(right), ())
    assert isinstance(table, PinnedTable)
    plan, entry = auditing._pin(table)
    truth = auditing._truth("audit_1", table, plan, AuditLimits())
    (folder / "work").mkdir()
    with ExitStack() as stack:
        readers = PlantedReaders(folder / "work", given)({"audit_1": entry}, stack)
        yield Asked(truth, *readers.serve(reader.distribution), reader), given


def test_each_of_many_planted_errors_is_found_with_its_row_and_file(
    planted: tuple[Asked, Path],
) -> None:
    asked, given = planted
    assert asked.whole().verdict is VerdictKind.CORRECT
    draw = random.Random(47)  # noqa: S311 - the same each time
    for number in range(PLANTED):
        plant, file, at = PLANTS[number % len(PLANTS)], draw.randrange(FILES), draw.randrange(ROWS)
        path = given / f"{file}.parquet"
        pq.write_table(plant(rows_of(file), at), path)
        answer = asked.whole()
        pq.write_table(rows_of(file), path)
        case = plant.__name__, file, at, answer
        assert answer.verdict is VerdictKind.WRONG, case
        places = {(shown.file, shown.position) for shown in answer.differences}
        name = f"{file}.parquet"
        if plant is row_twice:
            (extra,) = answer.differences
            assert extra.kind is TableDifferenceKind.EXTRA_ROW, case
            assert extra.row.startswith(f"[{file * ROWS + at},"), case
        elif plant is columns_swapped:
            assert {shown_file for shown_file, _ in places} == {name}, case
            assert {shown.column for shown in answer.differences} == {"one", "two"}, case
        else:
            assert (name, at // 4 * 4 if plant is null_for_empty_text else at) in places, case
            assert len(places) == (2 if plant is values_swapped else 1), case
    assert asked.whole().verdict is VerdictKind.CORRECT
