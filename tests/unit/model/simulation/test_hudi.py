"""Hudi's columns in the places of the table's: of which rows, which, and where it is tried."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from harness.model.simulation.column_resolution import WrittenFiles
from harness.model.simulation.hudi import NO_META, Meta, rekeyed, taken_for
from harness.model.simulation.reader import Simulation
from harness.model.simulation.strategies import ColumnMapping, Logs, ReadStrategy
from tests.builders.simulated_disk import instant_of
from tests.builders.simulated_reader import Reader, rows_of
from tests.builders.table_story import Story, history

COLUMNS = "id string, ts long, f1 string, f2 string, f3 string"
STORY = "insert 1,2; insert 3; rename f3 g; upsert 1"
OVERLAID = ReadStrategy(ColumnMapping.ID, overlaid=True)


def reading(story: Story, *, bare: bool = True) -> Simulation:
    meta: Meta = {
        file.path: [tuple(file.added(key).values()) for key in file.records]
        for file in story.disk.files
    }
    return Simulation(story.history, story.facts, story.steps, meta if bare else NO_META)


def rows(story: Story) -> dict[str, tuple[object, ...]]:
    return {row.key: row.values for row in reading(story).rows(OVERLAID)}


def test_rows_of_base_files_show_them_first_third_and_fourth_and_those_of_logs_do_not() -> None:
    result = rows(history(STORY, COLUMNS, mor=True))
    assert result == {
        "1": ("1", 204001, "f3s4r1", "f4s4r1", "f5s4r1"),
        "2": (instant_of(1), 201002, "2", "", "f5s1r2"),
        "3": (instant_of(2), 202003, "3", "", "f5s2r3"),
    }


@pytest.mark.parametrize("change", ["drop f1", "move f3 after id", "add g string first"])
@pytest.mark.parametrize("parts", [(), ("p",)])
def test_a_simulated_reader_shows_the_same(change: str, parts: tuple[str, ...]) -> None:
    columns = "id string, ts string, p string, f1 string, f2 string, f3 string"
    story = history(f"insert 1..3; {change}; upsert 1", columns, mor=True, partition_by=parts)
    reader = Reader("id", overlaid=True)
    expected = rows_of(story.disk, story.truth.step, story.truth.schema, reader)
    assert rows(story) == {str(read.key): read.values for read in expected}


@pytest.mark.parametrize(
    ("mor", "bare", "steps", "tried"),
    [
        (True, True, STORY, True),
        (True, False, STORY, False),
        (True, True, f"{STORY}; compact", False),
        (True, True, "insert 1,2; insert 3", False),
    ],
)
def test_it_is_tried_where_log_files_are_merged_and_the_catalog_lists_none_of_them(
    *, mor: bool, bare: bool, steps: str, tried: bool
) -> None:
    ways = reading(history(steps, COLUMNS, mor=mor), bare=bare).strategies()
    assert any(strategy.overlaid for strategy in ways) is tried
    assert any(strategy.rekeyed for strategy in ways) is tried


KEYED = "id string, ts long, f1 string, f2 string"
KEYED_STORY = "insert 1,2; insert 3; upsert 1"
REKEYED = ReadStrategy(ColumnMapping.ID, rekeyed=True)
REKEYED_BY_NAME = ReadStrategy(ColumnMapping.NAME, Logs.BY_ID, rekeyed=True)


def keyed_rows(story: Story, strategy: ReadStrategy = REKEYED) -> list[tuple[object, ...]]:
    return sorted((row.values for row in reading(story).rows(strategy)), key=str)


def test_rows_of_base_files_are_beside_those_of_their_log_files() -> None:
    assert keyed_rows(history(KEYED_STORY, KEYED, mor=True)) == [
        ("1", 201001, "f3s1r1", "f4s1r1"),
        ("1", 203001, "f3s3r1", "f4s3r1"),
        ("2", 201002, "f3s1r2", "f4s1r2"),
        ("3", 202003, "f3s2r3", "f4s2r3"),
    ]


def test_a_record_changes_or_deletes_all_rows_that_have_its_key_in_the_third_column() -> None:
    keys = "row id=1 f1=2; row id=2 f1=2; row id=3 f1=1"
    story = history(f"insert 1..3; {keys}; compact; upsert 2; delete 1", KEYED, mor=True)
    newer = ("2", 206002, "f3s6r2", "f4s6r2")
    assert keyed_rows(story) == [newer, newer]


@pytest.mark.parametrize("change", ["drop f1", "rename f2 g", "move f1 after id"])
@pytest.mark.parametrize("parts", [(), ("p",)])
@pytest.mark.parametrize("by", ["id", "name"])
def test_a_simulated_reader_takes_the_same_keys(
    change: str, parts: tuple[str, ...], by: str
) -> None:
    columns = "id string, p string, ts string, f1 string, f2 string"
    steps = f"insert 1..3; insert 4; {change}; upsert 1; delete 4"
    story = history(steps, columns, mor=True, partition_by=parts)
    reader = Reader(by, logs_by="id", rekeyed=True)
    expected = rows_of(story.disk, story.truth.step, story.truth.schema, reader)
    result = keyed_rows(story, REKEYED if by == "id" else REKEYED_BY_NAME)
    assert result == sorted((read.values for read in expected), key=str)


@pytest.mark.parametrize(
    ("columns", "steps"),
    [(KEYED, "insert 1,2; add g after ts; upsert 1"), ("id string, ts long", KEYED_STORY)],
)
def test_nothing_is_predicted_where_the_third_column_is_null_or_is_not_there(
    columns: str, steps: str
) -> None:
    with pytest.raises(ValueError, match=r"NULL is taken|not in list"):
        keyed_rows(history(steps, columns, mor=True))


@pytest.mark.parametrize(
    ("value", "shown"), [("1", ["new"]), (1, ["new"]), (1.0, ["old", "new"]), (2, ["old", "new"])]
)
def test_a_value_is_the_key_that_java_writes_so(value: str | float, shown: list[str]) -> None:
    assert list(rekeyed([(value, "old")], {"1": "new"})) == shown


ORDERED = "id string, ts long, f1 string, f2 string, f3 string"
STEPS = {instant_of(step): step for step in range(9)}


def names(steps: str, catalog: str, newest: Sequence[str] = ()) -> dict[str, str]:
    story = history(steps, ORDERED)
    facts = [file.fact() for file in story.disk.files]
    if newest:
        columns = dict(facts[-1].columns)
        meta = [name for name in columns if name.startswith("_hoodie")]
        columns_of_fact = tuple((name, columns[name]) for name in (*meta, *newest))
        facts[-1] = replace(facts[-1], columns=columns_of_fact)
    result = taken_for(WrittenFiles(story.history, facts, STEPS), catalog.split())
    called = {field.id: field.name for field in story.truth.schema.fields}
    return {called[shown]: called[actual] for shown, actual in result.items()}


@pytest.mark.parametrize(
    ("steps", "catalog", "shown"),
    [
        ("insert 1; move f1 after f2", "id ts f1 f2 f3", {"f1": "f2", "f2": "f1"}),
        ("insert 1; move f1 after f2", "id ts F1 F2 F3", {"f1": "f2", "f2": "f1"}),
        ("insert 1; move f1 after f2", "id ts f2 f1 f3", {}),
        ("insert 1; move f1 after f2", "id ts f1 f2", {}),
        ("insert 1; move f1 after f2", "", {}),
    ],
)
def test_a_move_that_the_catalog_was_not_told_changes_what_is_under_its_names(
    steps: str, catalog: str, shown: dict[str, str]
) -> None:
    assert names(steps, catalog) == shown


def test_a_write_that_orders_the_columns_anew_makes_that_the_tables_order() -> None:
    result = names("insert 1; insert 2", "id ts f1 f2 f3", ("id", "ts", "f3", "f1", "f2"))
    assert result == {"f1": "f3", "f2": "f1", "f3": "f2"}
