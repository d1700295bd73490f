"""The lists of columns that the catalog keeps of partitions, and what is beyond their end."""

from dataclasses import replace
from decimal import Decimal

import pytest

from harness.model.canonical import MapValue, Unpredicted, Value
from harness.model.datatypes import parse_type
from harness.model.simulation.catalog import CATALOGS, Lists, lists, other_catalogs, recorded_lists
from harness.model.simulation.column_resolution import META, WrittenFiles
from harness.model.simulation.strategies import ColumnMapping
from tests.builders.table_story import Story, history

COLUMNS = "id string, ts long, f1 string, f2 string, p string"


def parted(text: str, columns: str = COLUMNS) -> Story:
    return history(text, columns, partition_by=("p",))


def listed(one: Story, *bare: int) -> Lists:
    result = lists(one.history, one.facts, bare)
    assert result is not None
    return result


def partition_types(catalog_lists: Lists) -> dict[str, tuple[str, ...]]:
    return {
        str(value): tuple(map(str, types)) for (value,), types in catalog_lists.partitions.items()
    }


def test_a_partition_keeps_the_columns_of_the_step_that_first_wrote_into_it() -> None:
    one = parted("insert 1; add f3 int after ts; insert 2; drop f1; upsert 1,2")
    result = listed(one, *range(6))
    assert partition_types(result) == {
        "p1": ("string", "long", "string", "string"),
        "p0": ("string", "long", "int", "string", "string"),
    }
    assert (result.ahead, len(result.table), result.differ) == (0, 4, True)


def test_the_lists_begin_with_hudis_columns_where_the_catalog_has_them() -> None:
    result = listed(parted("insert 1; add f3 int"), 1)
    assert (result.ahead, len(result.table)) == (len(META), len(META) + 5)
    assert partition_types(result) == {"p1": ("string", "long", "string", "string")}


def test_a_sync_that_finds_the_tables_list_otherwise_sets_those_of_partitions_right() -> None:
    one = parted("insert 1; add f3 int; insert 2")
    now = "string", "long", "string", "string", "int"
    assert partition_types(listed(one, 1, 3)) == {"p1": now, "p0": now}
    columns = partition_types(listed(one, 1))
    assert len(columns["p1"]) == 4
    assert len(columns["p0"]) == len(META) + 5


def test_tables_without_partitions_and_those_that_hudi_does_not_sync_have_no_such_lists() -> None:
    flat, one = history("insert 1; add f3"), parted("insert 1; add f3")
    plain = [replace(fact, columns=fact.columns[len(META) :]) for fact in one.facts]
    assert lists(flat.history, flat.facts, ()) is None
    assert lists(one.history, plain, ()) is None


def through(value: Value, now: str, was: str) -> Value:
    row = parted("insert 1").history[-1].rows["1"]
    types = Lists(0, (parse_type(now),), {("p1",): (parse_type(was),) if was else ()})
    return types.shown(value, 0, row)


@pytest.mark.parametrize(
    ("value", "now", "was", "shown"),
    [
        ("x", "string", "string", "x"),
        ("x", "string", "", None),
        (None, "string", "int", None),
        (7.5, "double", "string", 7.5),
        ("f3s1r1", "double", "string", None),
        (Decimal("7.50"), "decimal(4, 2)", "string", Decimal("7.50")),
        (
            {"a": 1, "c": 3, "b": 2},
            "struct<a: int, c: int, b: int>",
            "struct<a: int, b: int>",
            {"a": 1, "c": 3, "b": None},
        ),
        (
            ({"a": 1, "b": 2},),
            "array<struct<a: int, b: int>>",
            "array<struct<a: int>>",
            ({"a": 1, "b": None},),
        ),
        (
            MapValue.of([("k", {"a": 1, "b": 2})]),
            "map<string, struct<a: int, b: int>>",
            "map<string, struct<a: int>>",
            MapValue.of([("k", {"a": 1, "b": None})]),
        ),
        ({"a": 1}, "struct<a: int>", "struct<a: int, b: int>", {"a": 1}),
    ],
)
def test_what_is_beyond_the_end_is_null_at_any_depth(
    value: Value, now: str, was: str, shown: Value
) -> None:
    assert through(value, now, was) == shown


@pytest.mark.parametrize(
    ("value", "now", "was"),
    [
        (1, "long", "int"),
        ("7", "string", "int"),
        ("7", "int", "string"),
        ({"a": 1}, "struct<a: long>", "struct<a: int>"),
    ],
)
def test_a_value_that_passes_through_another_type_is_not_predicted(
    value: Value, now: str, was: str
) -> None:
    assert isinstance(through(value, now, was), Unpredicted)


def test_partitions_of_a_plain_table_keep_the_lists_they_were_made_with_where_these_stay() -> None:
    one = parted("insert 1; add f3 int after ts; insert 2; insert 3")
    plain = [replace(fact, columns=fact.columns[len(META) :]) for fact in one.facts]
    assert lists(one.history, plain, ()) is None
    result = lists(one.history, plain, (), stay=True)
    assert result is not None
    assert partition_types(result) == {
        "p1": ("string", "long", "string", "string"),
        "p0": ("string", "long", "int", "string", "string"),
    }
    assert (result.ahead, result.differ) == (0, True)


def test_later_schemas_are_tried_where_a_view_goes_back() -> None:
    truths = history("insert 1; drop f2; insert 2; add f3").history
    assert other_catalogs(truths[:2], truths[2:], ColumnMapping.ID) == (4, 2)
    assert other_catalogs(truths, (), ColumnMapping.ID) == (2, 0)


def test_a_schema_that_was_there_and_comes_again_is_tried_as_both() -> None:
    truths = history("add f3; insert 1; drop f3").history
    assert other_catalogs(truths[:3], truths[3:], ColumnMapping.NAME) == (3, 0)
    assert other_catalogs(truths, (), ColumnMapping.NAME) == (1,)


def test_so_many_are_tried_on_either_side_and_no_more() -> None:
    before = [f"add c{at}" for at in range(CATALOGS + 3)]
    after = [f"add d{at}" for at in range(CATALOGS + 3)]
    truths = history("; ".join((*before, "insert 1", *after))).history
    middle = len(before) + 2
    result = other_catalogs(truths[:middle], truths[middle:], ColumnMapping.ID)
    assert sum(number < middle for number in result) == CATALOGS
    assert sum(number >= middle for number in result) == CATALOGS


def test_lists_that_were_recorded_are_those_of_the_folders_of_files() -> None:
    one = parted("insert 1; add f3 int after ts; insert 2")
    facts = [
        replace(fact, path=f"{fact.path.partition('-')[2][:2]}/{fact.path}") for fact in one.facts
    ]
    steps = {fact.instant: at for fact, at in zip(facts, (1, 3), strict=True)}
    now = [("id", "string"), ("ts", "long"), ("f3", "int"), ("f1", ""), ("F2", "string")]
    files = WrittenFiles(one.history, facts, steps)
    lists = recorded_lists(files, now, {"p1": now[:2], "p7": now[:1]})
    assert lists is not None
    assert (lists.ahead, lists.recorded, lists.differ) == (0, True, True)
    types = tuple(str(parse_type(type_)) if type_ else "" for _, type_ in now)
    assert partition_types(lists) == {"p1": ("string", "long"), "p0": types}
    assert recorded_lists(files, now[1:], {}) is None
    meta = [(name, "string") for name in META]
    with_meta = recorded_lists(files, [*meta, *now], {})
    assert with_meta is not None
    assert (with_meta.ahead, with_meta.differ) == (len(META), False)
