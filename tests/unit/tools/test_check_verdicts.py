"""`tools/check_verdicts.py` decides by its own rules whose doing a wrong place is."""

import datetime
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.core.records import Witness
from harness.model.file_facts import ColumnStatistics, StatisticsSource
from harness.model.query import ALL, Comparison, Condition, Query
from tools import check_verdicts
from tools.check_verdicts import (
    CATALOG,
    COLUMNS,
    FOLDER,
    HISTORY,
    READER,
    STATISTICS,
    UNDECIDED,
    WRITER,
    StoredTable,
)
from tools.table_files import StoredRow, Written

RECORDED = Path(__file__).parents[2] / "recorded"
NULL = "p=__HIVE_DEFAULT_PARTITION__/f"
IS_X = Query(where=Condition("a", Comparison.EQUAL, "x", "string"))
HOW_MANY_X = Query(count=True, where=IS_X.where)
P_IS_2 = Query(where=Condition("p", Comparison.EQUAL, "2", "string"))
P_IS_NULL = Query(where=Condition("p", Comparison.NULL))
B_IS_Y = Query(where=Condition("b", Comparison.EQUAL, "y", "string"))
B_IS_NULL = Query(where=Condition("b", Comparison.NULL))
B_NOT_NULL = Condition("b", Comparison.NOT_NULL)
HOW_MANY_Y = Query(count=True, where=B_IS_Y.where)
BEYOND = ColumnStatistics(StatisticsSource.PARQUET, "f", "a", 1, 0, '"y"', '"z"')


def row(path: str = "f", current: dict[str, object] | None = None, **values: object) -> StoredRow:
    return StoredRow(path, {"id": 1, **values}, current)


@pytest.mark.parametrize(
    ("expected", "shown", "column", "stored", "responsible"),
    [
        ("x", "y", "a", row(a="x", b="y"), READER),  # the reader shows another column
        ("x", None, "a_now", row(a="x"), CATALOG),  # the catalog lists no such column
        ("x", None, "b", row(a="x"), READER),  # under its former name
        ("x", "y", "a", row(a="y"), WRITER),
        ("x", "z", "a", row(a="y"), UNDECIDED),
        (None, "y", "a", row(a="y"), UNDECIDED),
        (None, "y", "a", row(b="y"), READER),
        (None, "y", "a", row(a="y", current={"a": None}), READER),  # it is another column of then
        ("x", "y", "a", row(a="y", b="x", current={"a": "y"}), HISTORY),  # it leads elsewhere
        ("x", "y", "a", row(a="y", current={"a": "y"}), WRITER),
        (1.5, 1, "a.c", row(a={"c": 1.5}), READER),
        ("", None, "p", row(NULL, p=""), FOLDER),  # the folder's name says NULL
        (None, "__HIVE_DEFAULT_PARTITION__", "p", row(NULL), READER),
    ],
)
def test_what_a_table_holds_says_who_is_responsible_for_a_value(
    expected: Any,  # noqa: ANN401
    shown: Any,  # noqa: ANN401
    column: str,
    stored: StoredRow,
    responsible: str,
) -> None:
    table = StoredTable([stored], "id", ("id", "a", "b", "p"))
    witness = Witness("1", column, expected, shown)
    assert check_verdicts.decide("altered_value", witness, table, ALL).who == responsible


@pytest.mark.parametrize(("step", "responsible"), [(1, READER), (3, UNDECIDED), (-1, UNDECIDED)])
def test_a_value_of_a_column_that_was_dropped_since_is_not_of_its_namesake(
    step: int, responsible: str
) -> None:
    sent = [(1, "insert"), (2, "alter table t drop column `s`.`a`"), (4, "alter table t add")]
    stored = StoredRow("f", {"id": 1, "s": {"a": "x"}}, None, step=step)
    witness = Witness("1", "s.a", None, "x")
    table = StoredTable([stored], "id", statements=sent)
    assert check_verdicts.decide("resurrected", witness, table, ALL).who == responsible


def test_a_moment_is_there_where_an_engine_of_milliseconds_would_show_it() -> None:
    moment = datetime.datetime(1969, 12, 31, 23, 59, 59, 123456, datetime.UTC)
    due = moment.replace(microsecond=123000)
    witness = Witness("1", "a", due, moment.replace(microsecond=124000))
    table = StoredTable([row(a=moment)], "id")
    assert check_verdicts.decide("altered_value", witness, table, ALL).who == READER


@pytest.mark.parametrize(
    ("columns", "responsible"),
    [(("id", "a", "b"), READER), (("id", "b", "a"), HISTORY), (("id", "c", "a"), WRITER)],
)
def test_a_field_of_a_text_file_has_the_name_that_the_catalog_gives_its_number(
    columns: tuple[str, ...], responsible: str
) -> None:
    fields = {"0": Written("1"), "1": Written("x" if responsible != WRITER else "z")}
    table = StoredTable([StoredRow("f", fields, None)], "id", columns)
    witness = Witness("1", "a", "x", None)
    assert check_verdicts.decide("lost_value", witness, table, ALL).who == responsible


@pytest.mark.parametrize(
    ("kind", "columns", "responsible"),
    [
        ("lost_row", ("id", "b", "a"), HISTORY),
        ("lost_row", ("id", "a", "b"), READER),
        ("ghost_row", ("id", "b", "a"), UNDECIDED),
        ("ghost_row", ("id", "a", "b"), HISTORY),
    ],
)
def test_a_row_of_a_text_file_is_chosen_by_the_fields_in_the_catalog_s_order(
    kind: str, columns: tuple[str, ...], responsible: str
) -> None:
    fields = {"0": Written("1"), "1": Written("x"), "2": Written("z")}
    table = StoredTable([StoredRow("f", fields, None)], "id", columns)
    place = Witness("1", "", (1, "x"), None)
    assert check_verdicts.decide(kind, place, table, IS_X).who == responsible


def test_rows_that_a_default_may_be_of_are_not_counted() -> None:
    added = 'Iceberg: add_column {"name": "b", "type_": "string", "default": "y"}'
    place = Witness("", "count(*)", 1, 0)
    stored = StoredTable([row(a="x")], "id")
    counted = [
        check_verdicts.decide("lost_row", place, table, Query(count=True, where=B_NOT_NULL)).who
        for table in (stored, stored._replace(statements=[(1, added)]))
    ]
    assert counted == [WRITER, UNDECIDED]


@pytest.mark.parametrize(
    ("kind", "rows", "query", "responsible"),
    [
        ("lost_row", [row(a="x")], ALL, READER),
        ("lost_row", [row(a="z")], ALL, UNDECIDED),
        ("lost_row", [], ALL, WRITER),
        ("lost_row", [row("p=3/f", a="x")], ALL, CATALOG),  # a folder that is not listed
        ("lost_row", [row(NULL, a="x", p="2")], P_IS_2, FOLDER),  # of another name
        ("lost_row", [row(a="x")], IS_X, STATISTICS),
        ("ghost_row", [row(a="x")], ALL, WRITER),
        ("ghost_row", [], ALL, READER),
        ("ghost_row", [row(a="z")], IS_X, READER),
        ("ghost_row", [row(a="x")], IS_X, UNDECIDED),
        ("ghost_row", [row(NULL, p="")], P_IS_NULL, FOLDER),
        ("duplicate", [row()], ALL, READER),
        ("duplicate", [row(), row("g")], ALL, WRITER),
        ("altered_value", [], ALL, UNDECIDED),
        ("lost_row", [StoredRow("f", {"id": 1, "a": "x"}, None, "late")], ALL, UNDECIDED),
    ],
)
def test_what_a_table_holds_says_who_is_responsible_for_a_row(
    kind: str, rows: list[StoredRow], query: Query, responsible: str
) -> None:
    stored = StoredTable(rows, "id", (), frozenset({"", "p=1", NULL[:-2]}), [BEYOND])
    decided = check_verdicts.decide(kind, Witness("1", "", (1, "x"), None), stored, query)
    assert decided.who == responsible


@pytest.mark.parametrize(
    ("expected", "shown", "responsible"),
    [(2, 1, CATALOG), (2, 0, READER), (1, 2, WRITER), (3, 1, UNDECIDED)],
)
def test_a_number_of_rows_is_counted_in_the_files(
    expected: int, shown: int, responsible: str
) -> None:
    rows = [row(a="x"), row("p=3/g", a="x"), row(a="z")]
    witness = Witness("", "count(*)", expected, shown)
    decided = check_verdicts.decide(
        "lost_row", witness, StoredTable(rows, "id", (), frozenset({""})), HOW_MANY_X
    )
    assert decided.who == responsible


@pytest.mark.parametrize(
    ("kind", "place", "query", "responsible"),
    [
        ("lost_value", Witness("1", "b", "y", None), ALL, COLUMNS),
        ("lost_value", Witness("1", "a", "x", None), ALL, READER),  # the list has it
        ("lost_value", Witness("1", "n", "z", None), ALL, COLUMNS),  # a text under a number
        ("altered_value", Witness("1", "b", "y", "z"), ALL, READER),  # no list gives that
        ("missing_rename", Witness("1", "b_new", "y", None), ALL, UNDECIDED),
        ("lost_row", Witness("1", "", (1, "x"), None), B_IS_Y, COLUMNS),
        ("lost_row", Witness("1", "", (1, "x"), None), IS_X, READER),
        ("ghost_row", Witness("1", "", None, (1, "x")), B_IS_NULL, COLUMNS),
        ("lost_row", Witness("", "count(*)", 1, 0), HOW_MANY_Y, COLUMNS),
        ("lost_row", Witness("", "count(*)", 1, 2), HOW_MANY_Y, READER),
    ],
)
def test_what_a_list_of_a_partition_leaves_is_the_doing_of_who_left_it_so(
    kind: str, place: Witness, query: Query, responsible: str
) -> None:
    now = [(name, "string") for name in ("id", "a", "n", "b", "b_new")]
    lists = {"p=1": [("id", "string"), ("a", "string"), ("n", "int")]}
    table = StoredTable([row("p=1/f", a="x", b="y", n="z")], "id", lists=lists, list_of_table=now)
    assert check_verdicts.decide(kind, place, table, query).who == responsible


def test_lists_of_partitions_count_for_the_reader_that_goes_by_them_alone() -> None:
    [variant] = check_verdicts.variants(RECORDED / "lists")
    cells = [cell for cell in variant.cells if cell.responsible]
    others = [cell._replace(cell=replace(cell.cell, reader="trino-476")) for cell in cells]
    results = [
        {check_verdicts.check(variant, cell)["result"] for cell in some} for some in (cells, others)
    ]
    assert results == [{"agrees"}, {"disagrees"}]


def test_the_same_seed_draws_the_same_cells_and_so_many_of_every_format_and_responsible() -> None:
    every = check_verdicts.named(check_verdicts.variants(RECORDED / "plain_hive"))
    drawn = check_verdicts.draw(every, 25, 10, "abc")
    assert drawn == check_verdicts.draw(every, 25, 10, "abc") != sorted(every)[:25]
    strata = Counter(
        (every[case][0].format, who) for case in drawn for who in every[case][1].responsible
    )
    assert len(drawn) == 25
    assert min(strata.values()) >= 10


def test_a_recording_is_checked_and_its_verdicts_agree() -> None:
    every = check_verdicts.named(check_verdicts.variants(RECORDED / "plain_hive"))
    results = [
        check_verdicts.check(*every[case]) for case in check_verdicts.draw(every, 10, 5, "abc")
    ]
    assert {result["result"] for result in results} == {"agrees"}
    assert {result["files"] for result in results} == {"recorded"}


def test_a_table_in_the_cache_is_read_with_what_its_catalog_lists(tmp_path: Path) -> None:
    table = tmp_path / "table"
    (table / "p=1").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist([{"id": 1, "a": "x"}]), table / "p=1" / "f")
    location = {"sd": {"location": "file:{location}/p=2", "cols": [{"name": "id"}]}}
    columns = {"sd": {"cols": [{"name": "id"}, {"name": "a"}]}, "partitionKeys": [{"name": "p"}]}
    entry = {"name": "t", "table": columns, "partitions": [location], "write_ids": None}
    (tmp_path / "state.json").write_text(json.dumps({"entries": [entry]}))
    stored = check_verdicts.stored_table(table, "id", "snapshot")
    assert stored.columns == ("id", "a", "p")
    assert stored.lists == {"p=2": [("id", "")]}
    decided = check_verdicts.decide("lost_row", Witness("1", "", (1, "x"), None), stored, ALL)
    assert decided.who == CATALOG
