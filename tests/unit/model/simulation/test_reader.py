"""What a reader of each strategy shows of files; `simulated_reader` says it independently."""

import datetime
from dataclasses import replace

import pytest

from harness.model.canonical import Value
from harness.model.file_facts import ColumnStatistics, FileFact, StatisticsSource
from harness.model.query import Comparison, Condition, Query
from harness.model.simulation.catalog import CatalogColumns, lists
from harness.model.simulation.reader import Simulation, can_hold, without_decided
from harness.model.simulation.strategies import ColumnMapping, Logs, ReadStrategy
from harness.model.truth import Truth
from tests.builders.conditions import not_null
from tests.builders.judged_story import NULLS_BY_SCHEMA
from tests.builders.simulated_disk import instant_of
from tests.builders.table_story import Story, history

STEPS = {instant_of(step): step for step in range(40)}


def reading(story: Story) -> Simulation:
    facts: list[FileFact] = [file.fact() for file in story.disk.files]
    return Simulation(story.history, facts, STEPS)


def rows(
    story: Story, strategy: ReadStrategy, where: Condition | None = None
) -> list[tuple[str, ...]]:
    conditions = (where,) if where else ()
    return [tuple(map(str, row.values)) for row in reading(story).rows(strategy, conditions)]


def mappings(simulation: Simulation) -> set[ColumnMapping]:
    return {strategy.mapping for strategy in simulation.strategies()}


def test_log_files_make_ways_of_their_own_where_they_hold_rows() -> None:
    story = history("insert 1,2; upsert 1", mor=True)
    ways = reading(story).strategies()
    assert {strategy.logs for strategy in ways} == {*Logs} - {Logs.UNDELETED, Logs.OTHER_MODE}


def test_where_logs_only_delete_a_reader_may_ignore_the_deletes_or_all_logs() -> None:
    story = history("insert 1,2; delete 1", mor=True)
    assert {strategy.logs for strategy in reading(story).strategies()} > {
        Logs.IGNORED,
        Logs.UNDELETED,
    }


def test_deletes_of_a_format_whose_logs_hold_no_rows_are_ignored_under_one_name() -> None:
    story = history("insert 1,2; delete 1", mor=True)
    truths = history("insert 1,2; delete 1").history
    facts = [file.fact() for file in story.disk.files]
    read_strategies = Simulation(truths, facts, STEPS).strategies()
    assert {read_strategy.logs for read_strategy in read_strategies} == {
        Logs.MERGED,
        Logs.UNDELETED,
    }


NESTED = "id string, ts long, f1 string, p struct<a: string, b: string>"


def bare(text: str) -> Simulation:
    """Return the same files without Hudi's meta columns, as another format's are."""
    story = history(text, NESTED)
    facts = [file.fact() for file in story.disk.files]
    return Simulation(story.history, [replace(f, columns=f.columns[5:]) for f in facts], STEPS)


def test_columns_may_be_found_by_id_and_their_parts_by_name() -> None:
    simulation = bare("insert 1; rename p.a c; rename f1 g")
    shown = {
        strategy.mapping: [row.values for row in simulation.rows(strategy)]
        for strategy in simulation.strategies()[:4]
    }
    assert shown[ColumnMapping.ID][0][2:] == ("f3s1r1", {"c": "f5s1r1", "b": "f6s1r1"})
    assert shown[ColumnMapping.ID_OUTSIDE][0][2:] == ("f3s1r1", {"c": None, "b": "f6s1r1"})
    assert shown[ColumnMapping.NAME][0][2:] == (None, {"c": None, "b": "f6s1r1"})


def test_so_they_are_where_part_names_changed_and_in_tables_that_are_not_hudis() -> None:
    for other in ("insert 1; rename f1 g", "insert 1; add p.c string"):
        assert ColumnMapping.ID_OUTSIDE not in mappings(bare(other))
    hudis = reading(history("insert 1; rename p.a c", NESTED))
    assert ColumnMapping.ID_OUTSIDE not in mappings(hudis)
    again = bare("insert 1; drop p.a; add p.a string")
    assert ColumnMapping.ID_OUTSIDE in mappings(again)


def without_names(text: str) -> Simulation:
    """Return files that say nothing of their columns."""
    story = history(text, NESTED)
    facts = [replace(file.fact(), nameless=True) for file in story.disk.files]
    unnamed = [replace(fact, columns=fact.columns[5:]) for fact in facts]
    return Simulation(story.history, unnamed, STEPS)


def test_in_files_without_names_the_parts_of_a_struct_are_found_by_their_places() -> None:
    simulation = without_names("insert 1; drop p.a; rename f1 g")
    (row,) = simulation.rows(ReadStrategy(ColumnMapping.PARTS_TOO))
    assert row.values[2:] == ("f3s1r1", {"b": "f5s1r1"})
    assert {ColumnMapping.POSITION, ColumnMapping.PARTS_TOO} <= mappings(simulation)


def test_so_they_may_be_where_parts_moved_or_have_other_names() -> None:
    for moved in ("drop p.a", "rename p.a c", "add p.c string first"):
        assert ColumnMapping.PARTS_TOO in mappings(without_names(f"insert 1; {moved}"))
        assert ColumnMapping.PARTS_TOO not in mappings(bare(f"insert 1; {moved}"))
    stay = without_names("insert 1; add p.c string; rename f1 g")
    assert ColumnMapping.PARTS_TOO not in mappings(stay)


def test_a_file_without_the_column_that_is_taken_is_left_out_whole() -> None:
    story = history("insert 1,2; rename f1 g; insert 3")
    where = Condition("g", Comparison.EQUAL, "f3s1r1", "string")
    for pruned, keys in (
        (ColumnMapping.NAME, []),
        (ColumnMapping.POSITION, ["1", "2"]),
        (None, ["1", "2", "3"]),
    ):
        strategy = ReadStrategy(ColumnMapping.ID, pruned=pruned)
        assert [row[0] for row in rows(story, strategy, where)] == keys


def test_a_base_file_whose_log_files_are_merged_is_not_left_out() -> None:
    story = history("insert 1,2; insert 3; upsert 2; rename f1 g", mor=True)
    where = Condition("g", Comparison.EQUAL, "f3s1r1", "string")
    left_out = ReadStrategy(ColumnMapping.ID, pruned=ColumnMapping.NAME)
    assert [row[0] for row in rows(story, left_out, where)] == ["1", "2"]
    assert rows(story, replace(left_out, logs=Logs.IGNORED), where) == []


def test_statistics_know_nothing_of_a_null_that_a_cast_makes() -> None:
    story = history("insert 1,2; drop f1; add f1 double after ts; insert 3")
    null = Condition("f1", Comparison.NULL)
    cast = ReadStrategy(ColumnMapping.NAME, cast=True)
    left_out = replace(cast, pruned=ColumnMapping.NAME)
    assert [row[2] for row in rows(story, cast, null)][:2] == ["None", "None"]
    assert rows(story, left_out, null) == []
    assert {cast, left_out} <= {*reading(story).strategies([null])}


def test_a_partition_column_is_not_looked_for_in_files() -> None:
    columns = "id string, ts long, f1 string, p string"
    story = history("insert 1,2; add f2 string after ts", columns, partition_by=("p",))
    where = Condition("p", Comparison.EQUAL, "p1", "string")
    result = rows(story, ReadStrategy(ColumnMapping.NAME, pruned=ColumnMapping.POSITION), where)
    assert [row[0] for row in result] == ["1"]


@pytest.mark.parametrize("by", [ColumnMapping.NAME, ColumnMapping.FOLDED])
def test_names_that_differ_by_case_are_one_to_a_reader_that_folds_them(by: ColumnMapping) -> None:
    story = history("insert 1; rename f1 F1", "id string, ts long, f1 string")
    assert by in mappings(reading(story))
    value = "f3s1r1" if by is ColumnMapping.FOLDED else "None"
    assert [row[2] for row in rows(story, ReadStrategy(by))] == [value]


def by_lists(story: Story, strategy: ReadStrategy) -> list[tuple[str, ...]]:
    facts = [file.fact() for file in story.disk.files]
    catalog = CatalogColumns((), lists(story.history, facts, range(40)))
    simulation = Simulation(story.history, facts, STEPS, catalog=catalog)
    assert strategy in simulation.strategies()
    return [tuple(map(str, row.values)) for row in simulation.rows(strategy)]


PARTED = "id string, ts long, f1 string, f2 string, p string"


def test_beyond_the_end_of_a_partitions_own_list_all_is_null() -> None:
    story = history("insert 1; add f3 after ts; upsert 1; insert 2", PARTED, partition_by=("p",))
    result = by_lists(story, ReadStrategy(ColumnMapping.NAME, listed=True))
    assert result == [
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
    for cast, text in ((False, "f3s1r2"), (True, "None")):
        strategy = ReadStrategy(ColumnMapping.NAME, cast=cast)
        assert [row[2] for row in rows(story, strategy)] == ["404001", text]


TEXTS = "id string, ts long, f1 string, f2 int"


def test_values_are_converted_by_position_in_files_that_are_not_parquet() -> None:
    story = history("insert 1,2; drop f2", CONVERTED)
    assert ReadStrategy(ColumnMapping.POSITION, cast=True) in reading(story).strategies()
    shown = [row[2:] for row in rows(story, ReadStrategy(ColumnMapping.POSITION, cast=True))]
    assert shown == [("30100", "38369", "None", "601001.0"), ("30100", "38406", "None", "601002.0")]
    facts = [replace(f, path=f"{f.path}.parquet") for f in (e.fact() for e in story.disk.files)]
    assert not any(
        strategy.cast for strategy in Simulation(story.history, facts, STEPS).strategies()
    )


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
    result = {row[0]: row[2:4] for row in rows(story, ReadStrategy(ColumnMapping.RENUMBERED))}
    assert result == {"1": ("0", "1"), "2": ("1", "0")}


def test_ids_given_anew_make_a_way_where_a_file_has_another_order() -> None:
    story = history("insert 1; move a after b; insert 2", FINE)
    assert ColumnMapping.RENUMBERED in mappings(reading(story))
    parted = history("insert 1; move a after b; insert 2", f"{FINE}, p string", partition_by=("p",))
    assert ColumnMapping.RENUMBERED not in mappings(reading(parted))


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
    simulation = Simulation(story.history[:2], facts, STEPS, catalog=catalog, later=later)
    assert list(simulation.schema(ReadStrategy(ColumnMapping.ID, catalog=4)).names) == names
    assert list(simulation.schema(ReadStrategy(ColumnMapping.ID)).names) == ["id", "ts", "f1", "f2"]


EMPTIED = "insert 1; add s.b string; drop s.a"


def shown_struct(text: str, type_: str, strategy: ReadStrategy) -> Value:
    (row,) = reading(history(text, f"id string, ts long, s {type_}, f string")).rows(strategy)
    return row.values[2]


@pytest.mark.parametrize("by", [ColumnMapping.ID, ColumnMapping.NAME, ColumnMapping.POSITION])
def test_a_struct_without_a_part_in_the_file_is_null(by: ColumnMapping) -> None:
    assert shown_struct(EMPTIED, "struct<a: string>", ReadStrategy(by)) == {"b": None}
    assert shown_struct(EMPTIED, "struct<a: string>", ReadStrategy(by, partless=True)) is None


def test_so_is_an_array_of_them_and_a_struct_of_one() -> None:
    strategy = ReadStrategy(ColumnMapping.ID, partless=True)
    inside = EMPTIED.replace("s.", "s.element.")
    assert shown_struct(inside, "array<struct<a: string>>", strategy) is None
    deeper = EMPTIED.replace("s.", "s.c.")
    assert shown_struct(deeper, "struct<c: struct<a: string>>", strategy) is None
    assert shown_struct(deeper, "struct<c: struct<a: string>, d: int>", strategy) == {
        "c": None,
        "d": 701001,
    }


def test_records_of_log_files_have_their_structs_whatever_is_in_them() -> None:
    story = history(
        f"insert 1,2; upsert 1; {EMPTIED[10:]}", "id string, ts long, s struct<a: string>", mor=True
    )
    result = reading(story).rows(ReadStrategy(ColumnMapping.ID, partless=True))
    assert {row.key: row.values[2] for row in result} == {"1": {"b": None}, "2": None}


WHERE = (Condition("g", Comparison.NOT_NULL),)


def left_keys(
    planted: Story, bounds: ColumnStatistics, where: tuple[Condition, ...] = WHERE
) -> list[str]:
    reading = Simulation(planted.history, planted.facts, planted.steps, statistics=[bounds])
    rows = reading.rows(ReadStrategy(ColumnMapping.ID, trusted=str(bounds.source)), where)
    return sorted(row.key for row in rows)


def null_statistics(path: str, column: str, source: StatisticsSource) -> ColumnStatistics:
    return ColumnStatistics(source, path, column, 2, 2)


def test_the_columns_of_a_file_are_looked_up_by_its_own_name_or_todays() -> None:
    truth_history = history("insert 1,2; rename f1 g; insert 3")
    path = truth_history.disk.files[0].path
    for column, left in (("f1", ["3"]), ("g", ["3"]), ("f2", ["1", "2", "3"])):
        assert (
            left_keys(truth_history, null_statistics(path, column, StatisticsSource.PARQUET))
            == left
        )


def test_a_folder_is_left_out_with_all_its_files() -> None:
    truth_history = history("insert 1,2; rename f1 g; insert 3; upsert 1", mor=True)
    assert left_keys(truth_history, null_statistics("", "f1", StatisticsSource.HUDI_PARTITION)) == [
        "3"
    ]
    assert left_keys(truth_history, null_statistics("", "g", StatisticsSource.HUDI_PARTITION)) == []


def test_parts_of_structs_are_found_by_the_names_in_the_file() -> None:
    truth_history = history(
        "insert 1; rename a.b c", "id string, ts long, a struct<b: int, d: int>"
    )
    path = truth_history.disk.files[0].path
    where = (Condition("a.c", Comparison.NOT_NULL),)
    stored = ColumnStatistics(StatisticsSource.PARQUET, path, "a.b", 1, 1)
    assert left_keys(truth_history, stored, where) == []
    assert left_keys(truth_history, replace(stored, column="a.d"), where) == ["1"]


NAN = float("nan")


def equal(literal: str, type_: str = "string") -> Condition:
    return Condition("f", Comparison.EQUAL, literal, type_)


@pytest.mark.parametrize(
    ("condition", "values", "can"),
    [
        (equal("b"), ["a", "c"], True),
        (equal("d"), ["a", None, "c"], False),
        (equal("a"), [], False),
        (equal("7", "int"), ["a"], True),
        (equal("7.0", "double"), [1.0, 2.0], False),
        (equal("7.0", "double"), [1.0, NAN, 2.0], True),
        (not_null("f"), [None, None], False),
        (not_null("f"), [None, 1], True),
        (Condition("f", Comparison.NULL), [1, 2], False),
        (Condition("f", Comparison.NULL), [1, None], True),
    ],
)
def test_a_file_is_left_out_where_no_row_can_be_meant(
    condition: Condition, values: list[Value], *, can: bool
) -> None:
    assert can_hold(condition, values) is can


LATE = "insert 1,2; add late string; forbid late; insert 3"


def required(steps: str) -> set[str | None]:
    truth = history(steps).truth
    return {truth.schema.path_of(number) for number in truth.required}


@pytest.mark.parametrize(
    ("steps", "names"),
    [
        ("insert 1", set()),
        (LATE, {"late"}),
        (f"{LATE}; rename late g; move g first", {"g"}),
        (f"{LATE}; allow late", set()),
        (f"{LATE}; drop late; add late string", {None}),
        ("insert 1; forbid f1; rollback", set()),
    ],
)
def test_a_column_forbids_null_until_it_is_allowed_or_the_step_is_taken_back(
    steps: str, names: set[str | None]
) -> None:
    assert required(steps) == names


def left(truth: Truth, *where: tuple[str, Comparison]) -> Query | None:
    first, second = (*(Condition(*condition) for condition in where), None)[:2]
    return without_decided(Query(where=first, also=second), truth)


def test_null_is_nowhere_where_the_schema_forbids_it_and_elsewhere_is_looked_for() -> None:
    truth = history(LATE).truth
    assert left(truth, ("late", Comparison.NULL)) is None
    assert left(truth, ("f1", Comparison.NULL), ("late", Comparison.NULL)) is None
    assert left(truth, ("late", Comparison.NOT_NULL)) == Query()
    f1 = Condition("f1", Comparison.NOT_NULL)
    assert left(truth, ("late", Comparison.NOT_NULL), ("f1", Comparison.NOT_NULL)) == Query(also=f1)
    assert left(truth, ("f1", Comparison.NOT_NULL)) == Query(where=f1)


def test_a_part_forbids_null_only_if_the_struct_does_too() -> None:
    columns = "id string, ts long, s struct<a: string>"
    for alone in ("forbid s.a", "forbid s"):
        truth = history(f"insert 1; {alone}", columns).truth
        assert left(truth, ("s.a", Comparison.NULL)) is not None
    truth = history("insert 1; forbid s; forbid s.a", columns).truth
    assert left(truth, ("s.a", Comparison.NULL)) is None


def ways(steps: str, *where: Condition) -> set[str]:
    story = history(steps)
    read_strategies = Simulation(story.history, story.facts, story.steps).strategies(where)
    return {str(strategy) for strategy in read_strategies if strategy.nulls_by_schema}


def test_the_way_is_tried_only_for_a_condition_on_null_of_such_a_column() -> None:
    null = Condition("late", Comparison.NULL)
    assert NULLS_BY_SCHEMA in ways(LATE, null)
    assert not ways(LATE)
    assert not ways(LATE, Condition("f1", Comparison.NULL))
    assert not ways(LATE, Condition("late", Comparison.EQUAL, "x", "string"))
    assert not ways(f"{LATE}; allow late", null)
    assert not any("left out" in text or "catalog" in text for text in ways(LATE, null))
