"""Every type of every format by every reader: docs/types.md shows the same, from the same answers.

What is neither right nor right by a declaration is listed here, cell by cell, as it was measured.
"""

import datetime
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

import pytest

from harness import formats
from harness.core import tolerances
from harness.core.records import Answer, FindingKind, VerdictKind
from harness.model.canonical import Value
from harness.model.datatypes import NULL_ALONE, PRIMITIVES
from harness.plan import load_profiles, profiles_file, scenarios_folder
from harness.scenario.cells import Cell
from tests.builders import replay, type_matrix
from tests.builders.recordings import Recorded
from tests.builders.type_matrix import MatrixCell, Outcome

MOMENTS: Final = {"f_timestamp", "f_zoneless"}
CUTS: Final = "timestamp-milliseconds"
UNWRITTEN: Final = {
    tables: {"timestamp_ntz"}
    for tables in ("hudi-cow", "hudi-mor", "hive-orc", "hive-avro", "hive-text")
}
"""Hudi's writers refuse the type; in plain tables only Parquet files tell it."""
BY_SPARK_4: Final = {"variant"}
"""Spark 3.5, which wrote these tables, does not have it."""
CUT_OFF: Final = {("trino-476", "hive-avro"), ("trino-483", "hive-avro")}
"""Trino's reply with a small integer inside another type ends in the middle of a row."""
HOUR: Final = datetime.timedelta(hours=1)


@pytest.fixture(scope="module")
def matrix() -> tuple[MatrixCell, ...]:
    return type_matrix.matrix()


def test_each_format_has_a_column_of_each_type_that_its_writer_can_write(
    matrix: tuple[MatrixCell, ...],
) -> None:
    for tables in {cell.tables for cell in matrix}:
        format_ = formats.load(tables.partition(" ")[0])
        there = {cell.type.partition("(")[0] for cell in matrix if cell.tables == tables}
        every = {*PRIMITIVES, "decimal", "char", "varchar"} - format_.unsupported_types
        every -= {*BY_SPARK_4, *NULL_ALONE}
        assert there == every - UNWRITTEN.get(tables, set()), tables


@pytest.mark.parametrize("profile", ["type_mapping", "type_mapping_4"])
def test_each_reader_and_each_story_of_the_profiles_is_recorded(
    profile: str, matrix: tuple[MatrixCell, ...]
) -> None:
    readers = {str(asked.reader) for asked in load_profiles(profiles_file())[profile].readers}
    assert readers <= {cell.reader for cell in matrix}
    stories = {path.stem for path in scenarios_folder().glob("type_mapping/*.yaml")}
    assert stories == {cell.scenario.rpartition("/")[2] for cell in matrix}


def test_an_answer_is_right_just_where_all_its_types_are(matrix: tuple[MatrixCell, ...]) -> None:
    right = {Outcome.CORRECT, Outcome.DECLARED}
    for recorded in type_matrix.recorded_variants():
        for cell, verdict in recorded.verdicts.items():
            types = [
                type_cell
                for type_cell in type_matrix.cells_of(recorded)
                if type_cell.reader == cell.reader
            ]
            correct = {type_cell.outcome for type_cell in types} <= right
            assert correct == (verdict["verdict"] == VerdictKind.CORRECT), cell
    assert {cell.outcome for cell in matrix} > right


def test_nothing_is_shown_without_an_answer(matrix: tuple[MatrixCell, ...]) -> None:
    silent = {
        (cell.reader, cell.tables, cell.type): cell.because
        for cell in matrix
        if cell.outcome is Outcome.UNKNOWN
    }
    assert {(reader, tables) for reader, tables, _ in silent} == CUT_OFF
    assert all("not of the protocol's form" in because for because in silent.values())


def test_what_is_right_by_a_declaration_is_of_a_type_and_a_table_that_it_names(
    matrix: tuple[MatrixCell, ...],
) -> None:
    met = set[str]()
    for cell in matrix:
        format_, _, setting = cell.tables.partition(" ")
        settings = dict([setting.split("=")]) if setting else {}
        declared = tolerances.declared_for_format(cell.reader, format_, settings)
        assert {*cell.declarations} <= declared.keys()
        assert not [name for name in cell.declarations if not declared[name].source]
        met.update(cell.declarations)
    assert met >= {"timestamp-in-utc", "timestamptz-in-utc", "timestamp-zone", "bounded-text"}


Moment = datetime.datetime


def cut(moment: Moment) -> Moment:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def shifted(moment: Moment) -> Moment:
    return moment - HOUR if moment.year > 2000 else moment + HOUR


def spoilt(answer: Answer, change: Callable[[Moment], Moment]) -> tuple[Answer, set[str]]:
    """Return an answer with other moments, and the columns that are other ones now."""
    names = [column.name for column in answer.columns]
    changed = set[str]()

    def value(name: str, shown: Value) -> Value:
        if name not in MOMENTS or not isinstance(shown, Moment):
            return shown
        changed.update({name} if change(shown) != shown else ())
        return change(shown)

    rows = tuple(tuple(map(value, names, row)) for row in answer.rows)
    return replace(answer, rows=rows), changed


def right_moments() -> Iterator[tuple[Recorded, Cell, Answer]]:
    for recorded in type_matrix.recorded_variants():
        for cell, answer in recorded.answers.items():
            names = {column.name for column in answer.columns} if answer else set()
            if answer and MOMENTS & names:
                wrong = recorded.verdicts[cell].get("findings", ())
                if not MOMENTS & {column for finding in wrong for column in finding["columns"]}:
                    yield recorded, cell, answer


def columns_of(columns: Mapping[FindingKind, set[str]]) -> set[str]:
    return set().union(*columns.values())


@pytest.mark.parametrize("change", [cut, shifted])
def test_a_right_moment_that_is_cut_to_milliseconds_or_shifted_by_a_zone_is_wrong(
    change: Callable[[Moment], Moment],
) -> None:
    met = set[str]()
    for recorded, cell, answer in right_moments():
        if change is cut and CUTS in tolerances.declared_for(cell.reader):
            continue
        wrong, columns = spoilt(answer, change)
        verdict = replay.judged(replace(recorded, answers={cell: wrong}))[cell]
        assert columns, cell
        assert verdict["verdict"] == VerdictKind.WRONG, cell
        result = {finding["kind"]: set(finding["columns"]) for finding in verdict["findings"]}
        named = (
            result.get(FindingKind.ALTERED_VALUE, set()) if change is cut else columns_of(result)
        )
        assert columns <= named, cell
        met.add(tolerances.product(cell.reader))
    assert met >= {"spark", "trino", "pyiceberg", "polars", "duckdb", "deltalake"}
