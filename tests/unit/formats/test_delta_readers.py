"""Readers of a Delta table that go by the wrong names are told apart, on files of Delta 3.3.2.

These readers are simulated here from the files' own columns, without the harness's way of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.formats.delta import files as delta_files
from harness.formats.files import parquet
from harness.model.canonical import Value
from harness.model.datatypes import parse_type
from harness.model.file_facts import FileFact, FileKind
from harness.model.query import ALL
from harness.model.simulation.matching import Readings
from harness.model.simulation.reader import Simulation
from harness.model.simulation.strategies import ColumnMapping
from harness.model.table import Table
from harness.model.truth import History, row_values
from harness.scenario import expected_history
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.columns import AddColumn, DropColumn, RenameColumn
from harness.scenario.operations.row_writes import Insert, Rewrites, Touch

FOLDER = Path(__file__).parent / "delta_tables" / "mapped_later"
STEPS = {"1": 1, "3": 2, "4": 3, "5": 4, "6": 5, "7": 6, "8": 7}
"""By the version that each made; version 2 switched on column mapping."""
COLUMNS = {"id": "string", "ts": "long", "f1": "string", "f2": "string", "f3": "string"}
OPERATIONS = (
    Insert(keys=(1, 2)),
    Insert(keys=(3,)),
    RenameColumn("f1", "g"),
    Touch(Rewrites.SOME),
    DropColumn("f2"),
    AddColumn("f2", parse_type("string"), after="id"),
    Touch(Rewrites.SOME),
)
NAMES = ("id", "f2", "ts", "g", "f3")
Rows = list[tuple[Value, ...]]


@pytest.fixture(scope="module")
def history() -> History:
    table = Table(tuple((n, parse_type(t)) for n, t in COLUMNS.items()), "id", "ts")
    scenario = Scenario("x", table, tuple(Step(operation) for operation in OPERATIONS))
    done = [True] * len(OPERATIONS)
    return expected_history.history(scenario, merge_on_read=False, applied=done)


@pytest.fixture(scope="module")
def facts() -> tuple[FileFact, ...]:
    return delta_files.facts(FOLDER, "id")


def stored(facts: tuple[FileFact, ...]) -> Iterator[tuple[tuple[str, ...], tuple[Value, ...]]]:
    """Yield each row as its file has it, with the file's own names."""
    for fact in facts:
        if fact.kind is FileKind.BASE:
            names, rows = parquet.content(FOLDER / fact.path)
            yield from ((names, row) for row in rows)


def fitting(history: History, facts: tuple[FileFact, ...], rows: Rows) -> list[str]:
    readings = Readings(Simulation(history, facts, STEPS))
    return [str(strategy) for strategy in readings.fitting(ALL, NAMES, rows)]


def truth(history: History) -> Rows:
    return [row_values(row, history[-1].schema) for row in history[-1].rows.values()]


def test_a_reader_by_id_shows_the_truth(history: History, facts: tuple[FileFact, ...]) -> None:
    assert history[-1].schema.names == NAMES
    assert fitting(history, facts, truth(history)) == [str(ColumnMapping.ID)]


def test_a_reader_by_the_names_of_the_table_is_caught(
    history: History, facts: tuple[FileFact, ...]
) -> None:
    rows: Rows = []
    for names, row in stored(facts):
        found = dict(zip(names, row, strict=True))
        rows.append(tuple(found.get(name) for name in NAMES))
    assert sorted(map(str, rows)) != sorted(map(str, truth(history)))
    assert fitting(history, facts, rows) == [str(ColumnMapping.NAME)]
    by_key = {row[0]: dict(zip(NAMES, row, strict=True)) for row in rows}
    assert (by_key["3"]["f2"], by_key["3"]["g"]) == ("f4s2r3", None)  # resurrected, and lost


def test_a_reader_by_position_is_caught(history: History, facts: tuple[FileFact, ...]) -> None:
    rows = [row for _, row in stored(facts)]
    by_key = {row[0]: row for row in rows}
    assert by_key["3"][1] == 202003  # the ordering value under f2
    found = fitting(history, facts, [(r[0], str(r[1]), *r[2:]) for r in rows])
    assert str(ColumnMapping.NAME) not in found
    assert sorted(map(str, rows)) != sorted(map(str, truth(history)))


def test_every_row_of_the_truth_is_in_the_files(
    history: History, facts: tuple[FileFact, ...]
) -> None:
    assert {key for fact in facts for key in fact.keys} == set(history[-1].rows)
