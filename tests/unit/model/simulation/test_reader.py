"""What a reader of each strategy shows of files; `simulated_reader` says it independently."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest

from harness.model.canonical import Value
from harness.model.file_facts import FileFact
from harness.model.query import Comparison, Condition
from harness.model.simulation.catalog import CatalogColumns, lists
from harness.model.simulation.reader import Simulation
from harness.model.simulation.strategies import ColumnMapping, Logs, ReadStrategy
from tests.builders.simulated_disk import instant_of
from tests.builders.table_story import Story, history

STEPS = {instant_of(step): step for step in range(40)}


def reading(story: Story) -> Simulation:
    facts: list[FileFact] = [file.fact() for file in story.disk.files]
    return Simulation(story.history, facts, STEPS)


def rows(story: Story, way: ReadStrategy, where: Condition | None = None) -> list[tuple[str, ...]]:
    conditions = (where,) if where else ()
    return [tuple(map(str, row.values)) for row in reading(story).rows(way, conditions)]


def test_log_files_make_ways_of_their_own_where_they_hold_rows() -> None:
    story = history("insert 1,2; upsert 1", mor=True)
    ways = reading(story).strategies()
    assert {way.logs for way in ways} == {*Logs} - {Logs.UNDELETED, Logs.OTHER_MODE}


def test_where_logs_only_delete_a_reader_may_ignore_the_deletes_or_all_logs() -> None:
    story = history("insert 1,2; delete 1", mor=True)
    assert {way.logs for way in reading(story).strategies()} > {Logs.IGNORED, Logs.UNDELETED}


def test_deletes_of_a_format_whose_logs_hold_no_rows_are_ignored_under_one_name() -> None:
    story = history("insert 1,2; delete 1", mor=True)
    truths = history("insert 1,2; delete 1").history
    facts = [file.fact() for file in story.disk.files]
    found = Simulation(truths, facts, STEPS).strategies()
    assert {way.logs for way in found} == {Logs.MERGED, Logs.UNDELETED}


def test_log_files_by_id_and_base_files_by_name_find_a_renamed_column_in_logs_alone() -> None:
    story = history("insert 1,2; upsert 1; rename f1 g", mor=True)
    found = rows(story, ReadStrategy(ColumnMapping.NAME, Logs.BY_ID))
    assert [row[2] for row in found] == ["f3s2r1", "None"]


NESTED = "id string, ts long, f1 string, p struct<a: string, b: string>"


def bare(text: str) -> Simulation:
    """Return the same files without Hudi's meta columns, as another format's are."""
    story = history(text, NESTED)
    facts = [file.fact() for file in story.disk.files]
    return Simulation(story.history, [replace(f, columns=f.columns[5:]) for f in facts], STEPS)


def test_columns_may_be_found_by_id_and_their_parts_by_name() -> None:
    found = bare("insert 1; rename p.a c; rename f1 g")
    shown = {way.mapping: [row.values for row in found.rows(way)] for way in found.strategies()[:4]}
    assert shown[ColumnMapping.ID][0][2:] == ("f3s1r1", {"c": "f5s1r1", "b": "f6s1r1"})
    assert shown[ColumnMapping.ID_OUTSIDE][0][2:] == ("f3s1r1", {"c": None, "b": "f6s1r1"})
    assert shown[ColumnMapping.NAME][0][2:] == (None, {"c": None, "b": "f6s1r1"})


def test_so_they_are_where_part_names_changed_and_in_tables_that_are_not_hudis() -> None:
    other = ("insert 1; rename f1 g", "insert 1; add p.c string")
    assert not any(
        ColumnMapping.ID_OUTSIDE in {way.mapping for way in bare(literal).strategies()}
        for literal in other
    )
    hudis = reading(history("insert 1; rename p.a c", NESTED))
    assert ColumnMapping.ID_OUTSIDE not in {way.mapping for way in hudis.strategies()}
    again = bare("insert 1; drop p.a; add p.a string")
    assert ColumnMapping.ID_OUTSIDE in {way.mapping for way in again.strategies()}


def without_names(text: str) -> Simulation:
    """Return files that say nothing of their columns."""
    story = history(text, NESTED)
    facts = [replace(file.fact(), nameless=True) for file in story.disk.files]
    own = [replace(fact, columns=fact.columns[5:]) for fact in facts]
    return Simulation(story.history, own, STEPS)


def test_in_files_without_names_the_parts_of_a_struct_are_found_by_their_places() -> None:
    found = without_names("insert 1; drop p.a; rename f1 g")
    (row,) = found.rows(ReadStrategy(ColumnMapping.PARTS_TOO))
    assert row.values[2:] == ("f3s1r1", {"b": "f5s1r1"})
    assert {ColumnMapping.POSITION, ColumnMapping.PARTS_TOO} <= {
        way.mapping for way in found.strategies()
    }


def test_so_they_may_be_where_parts_moved_or_have_other_names() -> None:
    moved = ("insert 1; drop p.a", "insert 1; rename p.a c", "insert 1; add p.c string first")
    assert all(
        ColumnMapping.PARTS_TOO in {way.mapping for way in without_names(literal).strategies()}
        for literal in moved
    )
    assert not any(
        ColumnMapping.PARTS_TOO in {way.mapping for way in bare(literal).strategies()}
        for literal in moved
    )
    stay = without_names("insert 1; add p.c string; rename f1 g")
    assert ColumnMapping.PARTS_TOO not in {way.mapping for way in stay.strategies()}


def test_a_file_without_the_column_that_is_taken_is_left_out_whole() -> None:
    story = history("insert 1,2; rename f1 g; insert 3")
    where = Condition("g", Comparison.EQUAL, "f3s1r1", "string")
    assert [
        row[0]
        for row in rows(story, ReadStrategy(ColumnMapping.ID, pruned=ColumnMapping.NAME), where)
    ] == []
    assert [
        row[0]
        for row in rows(story, ReadStrategy(ColumnMapping.ID, pruned=ColumnMapping.POSITION), where)
    ] == ["1", "2"]
    assert [row[0] for row in rows(story, ReadStrategy(ColumnMapping.ID), where)] == ["1", "2", "3"]


def test_a_base_file_whose_log_files_are_merged_is_not_left_out() -> None:
    story = history("insert 1,2; insert 3; upsert 2; rename f1 g", mor=True)
    where, left_out = (
        Condition("g", Comparison.EQUAL, "f3s1r1", "string"),
        ReadStrategy(ColumnMapping.ID, pruned=ColumnMapping.NAME),
    )
    assert [row[0] for row in rows(story, left_out, where)] == ["1", "2"]
    alone = ReadStrategy(ColumnMapping.ID, Logs.IGNORED, pruned=ColumnMapping.NAME)
    assert [row[0] for row in rows(story, alone, where)] == []


def test_statistics_know_nothing_of_a_null_that_a_cast_makes() -> None:
    story = history("insert 1,2; drop f1; add f1 double after ts; insert 3")
    null = Condition("f1", Comparison.NULL)
    cast = ReadStrategy(ColumnMapping.NAME, cast=True)
    left_out = replace(cast, pruned=ColumnMapping.NAME)
    assert [(row[0], row[2]) for row in rows(story, cast, null)][:2] == [
        ("1", "None"),
        ("2", "None"),
    ]
    assert [row[0] for row in rows(story, left_out, null)] == []
    assert {cast, left_out} <= {*reading(story).strategies([null])}


def test_a_partition_column_is_not_looked_for_in_files() -> None:
    columns = "id string, ts long, f1 string, p string"
    story = history("insert 1,2; add f2 string after ts", columns, partition_by=("p",))
    where = Condition("p", Comparison.EQUAL, "p1", "string")
    found = rows(story, ReadStrategy(ColumnMapping.NAME, pruned=ColumnMapping.POSITION), where)
    assert [row[0] for row in found] == ["1"]


@pytest.mark.parametrize("by", [ColumnMapping.NAME, ColumnMapping.FOLDED])
def test_names_that_differ_by_case_are_one_to_a_reader_that_folds_them(by: ColumnMapping) -> None:
    story = history("insert 1; rename f1 F1", "id string, ts long, f1 string")
    assert by in {way.mapping for way in reading(story).strategies()}
    wanted = "f3s1r1" if by is ColumnMapping.FOLDED else "None"
    assert [row[2] for row in rows(story, ReadStrategy(by))] == [wanted]


def by_lists(story: Story, way: ReadStrategy) -> list[tuple[str, ...]]:
    facts = [file.fact() for file in story.disk.files]
    found = Simulation(
        story.history,
        facts,
        STEPS,
        catalog=CatalogColumns((), lists(story.history, facts, range(40))),
    )
    assert way in found.strategies()
    return [tuple(map(str, row.values)) for row in found.rows(way)]


PARTED = "id string, ts long, f1 string, f2 string, p string"


def test_beyond_the_end_of_a_partitions_own_list_all_is_null() -> None:
    story = history("insert 1; add f3 after ts; upsert 1; insert 2", PARTED, partition_by=("p",))
    found = by_lists(story, ReadStrategy(ColumnMapping.NAME, listed=True))
    assert found == [
        ("1", "203001", "f6s3r1", "f3s3r1", "None", "p1"),
        ("2", "204002", "f6s4r2", "f3s4r2", "f4s4r2", "p0"),
    ]


NUMBERS = "id string, ts long, a date, b int, c float"


def test_parts_of_a_struct_are_shown_as_they_are_stored_too() -> None:
    story = history(
        "insert 1; drop s.a; add s.a date", "id string, ts long, s struct<a: int, b: int>"
    )
    assert ReadStrategy(ColumnMapping.NAME, stored=True) in reading(story).strategies()
    (row,) = rows(story, ReadStrategy(ColumnMapping.NAME, stored=True))
    a, b = story.history[1].rows["1"].values[3].values()
    assert row[2] == str({"b": b, "a": datetime.date(1970, 1, 1) + datetime.timedelta(a)})


def test_texts_that_are_no_numbers_are_null_where_they_are_cast() -> None:
    story = history("insert 1,2; drop f1; rename f2 f1; upsert 1", TEXTS, mor=True)
    assert ReadStrategy(ColumnMapping.NAME, cast=True) in reading(story).strategies()
    assert [row[2] for row in rows(story, ReadStrategy(ColumnMapping.NAME))] == ["404001", "f3s1r2"]
    assert [row[2] for row in rows(story, ReadStrategy(ColumnMapping.NAME, cast=True))] == [
        "404001",
        "None",
    ]


TEXTS = "id string, ts long, f1 string, f2 int"


def test_values_are_converted_by_position_in_files_that_are_not_parquet() -> None:
    story = history("insert 1,2; drop f2", CONVERTED)
    assert ReadStrategy(ColumnMapping.POSITION, cast=True) in reading(story).strategies()
    shown = [row[2:] for row in rows(story, ReadStrategy(ColumnMapping.POSITION, cast=True))]
    assert shown == [("30100", "38369", "None", "601001.0"), ("30100", "38406", "None", "601002.0")]
    facts = [replace(f, path=f"{f.path}.parquet") for f in (e.fact() for e in story.disk.files)]
    assert not any(way.cast for way in Simulation(story.history, facts, STEPS).strategies())


CONVERTED = "id string, ts long, f2 int, c char(5), s string, n int, d double"


FINE = "id string, ts long, a int, b int, at timestamp, n int"
ROW = "row id=1 ts=1 a=1 b=0 n=1 at=1969-12-31T23:59:59.123456"


def test_timestamps_are_cut_in_base_files_and_in_logs() -> None:
    story = history(f"{ROW}; row id=2 at=2024-01-01T00:00:00.000001; {ROW}", FINE, mor=True)
    assert [row[4] for row in rows(story, ReadStrategy(ColumnMapping.ID, cut=True))] == [
        "1969-12-31 23:59:59.124000",
        "2024-01-01 00:00:00",
    ]


def test_ids_given_anew_follow_the_order_of_each_base_file_and_logs_are_read_by_id() -> None:
    steps = f"{ROW}; move a after b; row id=2 a=1 b=0; row id=1 a=1 b=0"
    story = history(steps, FINE, mor=True)
    assert story.truth.schema.names[2:4] == ("b", "a")
    found = {row[0]: row[2:4] for row in rows(story, ReadStrategy(ColumnMapping.RENUMBERED))}
    assert found == {"1": ("0", "1"), "2": ("1", "0")}
    only = {
        row[0]: row[2:4]
        for row in rows(story, ReadStrategy(ColumnMapping.RENUMBERED, Logs.IGNORED))
    }
    assert only == found


def test_ids_given_anew_make_a_way_where_a_file_has_another_order() -> None:
    story = history("insert 1; move a after b; insert 2", FINE)
    assert ColumnMapping.RENUMBERED in {way.mapping for way in reading(story).strategies()}
    parted = history("insert 1; move a after b; insert 2", f"{FINE}, p string", partition_by=("p",))
    assert ColumnMapping.RENUMBERED not in {way.mapping for way in reading(parted).strategies()}


@pytest.mark.parametrize(
    ("lowers", "names"),
    [(True, ["id", "ts", "f2", "f1", "extra"]), (False, ["id", "ts", "f2", "F1", "Extra"])],
)
def test_who_has_names_in_lower_case_knows_those_of_later_as_the_ones_of_then(
    *, lowers: bool, names: list[str]
) -> None:
    story = history("insert 1; drop f1; add F1; add Extra")
    then = history("insert 1")
    facts = [file.fact() for file in then.disk.files]
    catalog, later = CatalogColumns(lowers=lowers), story.history[2:]
    found = Simulation(story.history[:2], facts, STEPS, catalog=catalog, later=later)
    assert list(found.schema(ReadStrategy(ColumnMapping.ID, catalog=4)).names) == names
    assert list(found.schema(ReadStrategy(ColumnMapping.ID)).names) == ["id", "ts", "f1", "f2"]


EMPTIED = "insert 1; add s.b string; drop s.a"


def shown_struct(text: str, type_: str, way: ReadStrategy) -> Value:
    (row,) = reading(history(text, f"id string, ts long, s {type_}, f string")).rows(way)
    return row.values[2]


@pytest.mark.parametrize("by", [ColumnMapping.ID, ColumnMapping.NAME, ColumnMapping.POSITION])
def test_a_struct_without_a_part_in_the_file_is_null(by: ColumnMapping) -> None:
    assert shown_struct(EMPTIED, "struct<a: string>", ReadStrategy(by)) == {"b": None}
    assert shown_struct(EMPTIED, "struct<a: string>", ReadStrategy(by, partless=True)) is None


def test_so_is_an_array_of_them_and_a_struct_of_one() -> None:
    way = ReadStrategy(ColumnMapping.ID, partless=True)
    inside = EMPTIED.replace("s.", "s.element.")
    assert shown_struct(inside, "array<struct<a: string>>", way) is None
    deeper = EMPTIED.replace("s.", "s.c.")
    assert shown_struct(deeper, "struct<c: struct<a: string>>", way) is None
    assert shown_struct(deeper, "struct<c: struct<a: string>, d: int>", way) == {
        "c": None,
        "d": 701001,
    }


def test_records_of_log_files_have_their_structs_whatever_is_in_them() -> None:
    story = history(
        f"insert 1,2; upsert 1; {EMPTIED[10:]}", "id string, ts long, s struct<a: string>", mor=True
    )
    rows = {
        row.key: row.values[2]
        for row in reading(story).rows(ReadStrategy(ColumnMapping.ID, partless=True))
    }
    assert rows == {"1": {"b": None}, "2": None}
