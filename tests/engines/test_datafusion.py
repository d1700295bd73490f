"""hudi-rs under DataFusion: what it makes of columns that changed, and each shape of question."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from harness.core.records import FindingKind, VerdictKind
from harness.model.query_shapes import ANSWER_TABLES, Shape
from harness.run.load_run import Run
from harness.scenario.cells import QUERIES, Cell, Variant
from tests.engines.planned_run import planned, shipped

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

READER = "datafusion-54.1.0-hudi-0.5.0"
STORY, TYPES = "hudi/a5", "hive/all_types"
RENAMED = 7
"""The step of `STORY` that renames a column."""
WRITTEN = 2
"""The step of `TYPES` after which the rows of the first schema are all there."""


def by_column(variant: Variant) -> Iterator[Cell]:
    if variant.scenario.name == TYPES:
        for name, _ in variant.scenario.table.columns:
            for shape in (Shape.PREDICATE, Shape.COUNT):
                yield Cell(variant.id, WRITTEN, READER, "snapshot", f"{shape}({name})")


MADE = planned(
    shipped(STORY, TYPES),
    ["hudi-cow", "hudi-mor", "hive-parquet"],
    ["spark-3.5.8-hudi-0.15.0"],
    [READER],
    axes={"rewrites": ("some",)},
    queries=tuple(shape for shape in QUERIES if shape not in ANSWER_TABLES),
)
MORE = [cell for variant in MADE.variants for cell in by_column(variant)]
PLAN = replace(MADE, cells=tuple(dict.fromkeys((*MADE.cells, *MORE))))
MISSED = {
    *(FindingKind.MISSING_RENAME, FindingKind.LOST_ROW, FindingKind.LOST_VALUE),
    FindingKind.GHOST_ROW,
}
"""A NULL for what has another name in the file; no row where that is asked for; the least of it;
and a row where NULL is asked for."""


def test_every_question_in_each_shape_has_an_answer(run: Run) -> None:
    assert {verdict.verdict for verdict in run.verdicts} == {VerdictKind.CORRECT, VerdictKind.WRONG}
    # What follows from the story is asked as conditions; the tables have no partitions.
    of_story = {Shape.WHERE, Shape.COUNT_WHERE}
    asked = {*QUERIES} - {*ANSWER_TABLES, Shape.PARTITION, Shape.STORY} | of_story
    assert {verdict.query.partition("(")[0] for verdict in run.verdicts} == asked


def test_all_is_right_but_a_column_that_was_renamed(run: Run) -> None:
    for verdict in run.verdicts:
        if verdict.verdict != VerdictKind.CORRECT:
            assert (verdict.scenario, verdict.step >= RENAMED) == (STORY, True), verdict
            assert {finding.kind for finding in verdict.findings} <= MISSED, verdict


def test_of_files_with_the_old_name_a_column_is_null_in_every_view(run: Run) -> None:
    wrong = [verdict for verdict in run.verdicts if verdict.query == "all" and verdict.findings]
    assert {cell.view for cell in wrong} == {"snapshot", "read_optimized", "base_name"}
    assert all("by name" in " ".join(verdict.reproduces) for verdict in wrong)
