"""A column of every type, and NULLs, in every format: each reader gives the values and types that
were written. Where an engine itself does not, what it does instead is said here exactly.

Through the product's own verbs: plan, write, read, judge.
"""

from dataclasses import replace

import pytest

from harness.core.records import FindingKind, VerdictKind
from harness.model.datatypes import NULL_ALONE, PRIMITIVES
from harness.run.load_run import Run
from harness.scenario.cells import Cell, Plan, Variant
from tests.engines.planned_run import of_each, planned, shipped

pytestmark = pytest.mark.engines

SCENARIOS = ("hudi/all_types", "hive/all_types")
MAP_REDUCE = "hive-3.1.3{path=mapreduce}"
READERS = (
    "spark-3.5.8-hudi-1.0.2{schema-on-read=on}",
    "hive-3.1.3{path=fetch}",
    MAP_REDUCE,
    "trino-476{use-column-names=true}",
    "trino-476{orc.use-column-names=true}",
    "prestosql-350{use-column-names=true}",
)
WRITTEN, TOUCHED, COMPACTED = 2, 4, 5
"""Steps: rows of the first schema; rows with a new column (in log files); these in base files."""


def plan_of_steps() -> Plan:
    """The plan, of which only the steps above are asked; MapReduce takes seconds for each query."""
    made = planned(
        shipped(*SCENARIOS),
        ["hudi-cow", "hudi-mor", "hive-parquet", "hive-orc", "hive-text"],
        ["spark-3.5.8-hudi-0.15.0"],
        READERS,
        axes={"rewrites": ("some",)},
    )
    steps = {reader: {WRITTEN, TOUCHED, COMPACTED} for reader in READERS} | {MAP_REDUCE: {WRITTEN}}
    return replace(
        made, cells=tuple(cell for cell in made.cells if cell.step in steps[cell.reader])
    )


PLAN = plan_of_steps()
FORMATS = {variant.id: variant.format for variant in PLAN.variants}


def base_files_only(cell: Cell) -> bool:
    """Trino and PrestoSQL read no log files: seen with every merge-on-read table."""
    logs = FORMATS[cell.variant] == "hudi-mor" and cell.view != "read_optimized"
    return logs and cell.step == TOUCHED and cell.reader.startswith(("trino", "presto"))


def timestamps_want_one_schema(cell: Cell) -> bool:
    """Hudi's reader in Hive refuses base files without a column where a table has timestamps."""
    evolved = not FORMATS[cell.variant].startswith("hive-") and cell.step != WRITTEN
    return evolved and cell.reader.startswith("hive")


def by_night(cell: Cell) -> bool:
    """Both are asked by day by the profile `ci`, and Trino has the code of PrestoSQL."""
    return cell.reader == MAP_REDUCE or cell.reader.startswith("prestosql")


@pytest.mark.parametrize("cell", of_each(PLAN.cells, by_night))
def test_every_value_and_type_is_read_as_it_was_written(cell: Cell, run: Run) -> None:
    verdict, answer = run.recorded[cell.case], run.answers[cell.case]
    result = {finding.kind: finding.columns for finding in verdict.findings}
    if base_files_only(cell):
        assert verdict.verdict is VerdictKind.WRONG
        assert list(result) == [FindingKind.STALE]
        assert {place.key for place in verdict.findings[0].witnesses} == {"1"}
    elif timestamps_want_one_schema(cell):
        assert verdict.verdict is VerdictKind.REFUSED
        assert answer.refusal is not None
        assert "Field f_new not found in log schema" in answer.refusal.cause
        assert result == {FindingKind.LOST_VALUE: ("f_timestamp",)}
    else:
        assert (verdict.verdict, result, verdict.because) == (VerdictKind.CORRECT, {}, "")
        assert verdict.expected is not None
        assert len(answer.columns) == len(verdict.expected.columns)
        assert len(answer.rows) == len(verdict.expected.rows)


def test_no_step_was_refused_by_the_writer(run: Run) -> None:
    assert set(run.recorded) == {cell.case for cell in run.info.cells}


@pytest.mark.parametrize("variant", PLAN.variants, ids=lambda variant: variant.format)
def test_the_scenario_has_every_type_that_all_formats_have(variant: Variant) -> None:
    types = [str(type_) for _, type_ in variant.scenario.table.columns]
    kinds = {type_.partition("<")[0].partition("(")[0] for type_ in types}
    # See hard_values, without_zone and variants.
    hard = {"tinyint", "smallint", "binary", "timestamp_ntz", "variant", *NULL_ALONE}
    assert kinds == {*PRIMITIVES, "decimal", "struct", "array", "map"} - hard


@pytest.mark.parametrize("path", ["fetch", pytest.param("mapreduce", marks=pytest.mark.nightly)])
def test_hive_confirms_the_path_that_was_asked_for(run: Run, path: str) -> None:
    asked = [case for case in run.answers if case.endswith(f"hive-3.1.3{{path={path}}}")]
    correct = [case for case in asked if run.recorded[case].verdict is VerdictKind.CORRECT]
    assert correct
    assert {run.answers[case].confirmed for case in correct} == {path}
