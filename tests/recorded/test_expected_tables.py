"""What fixtures say must be answered is what recorded answers were judged by, in every view."""

import pytest

from harness import formats
from harness.core.grouping import grouped
from harness.core.records import OutcomeKind
from harness.judge.expectations import Expectations
from harness.model import past_views
from harness.run import plan_record
from harness.run.export_fixtures import ExpectedTable, conditions, expected_tables, plain
from harness.run.load_run import Run
from harness.run.run_judge import case_of
from tests.builders import recorded_run


def tables_of(run: Run) -> dict[tuple[str, int, str, str], ExpectedTable]:
    """Return the table of every question of a run about a step that was applied."""
    questions = grouped((v.question[:2], v.question[2:]) for v in run.verdicts)
    variants = {variant.id: variant for variant in plan_record.plan_of(run.info).variants}
    states = grouped((state.variant, state) for state in run.states)
    cases = {name: case_of(variants[name], tables) for name, tables in states.items()}
    tables: dict[tuple[str, int, str, str], ExpectedTable] = {}
    for (name, step), asked in questions.items():
        shape, state = formats.load(variants[name].format), run.by_step[name, step]
        every = ((view, shape.table_for(view)) for view in (*shape.views, *shape.past_views))
        there = {view: table for view, table in every if table in state.tables}
        if state.outcome.kind is OutcomeKind.APPLIED:
            made = expected_tables(cases[name], step, there, asked)
            tables |= {(name, step, query.view, query.query): query for query in made.questions}
    return tables


@pytest.mark.parametrize(
    ("name", "views"),
    [
        ("time_travel", {"as_of", "incremental"}),
        ("ways", {"snapshot"}),
        ("quick_start", {"snapshot", "read_optimized", "base_name"}),
    ],
)
def test_a_fixture_expects_what_the_judge_does(name: str, views: set[str]) -> None:
    run = recorded_run.run_of(name)
    tables, seen = tables_of(run), set[str]()
    standards = {
        variant.id: Expectations(
            case_of(variant, [s for s in run.states if s.variant == variant.id])
        )
        for variant in plan_record.plan_of(run.info).variants
    }
    for verdict in run.verdicts:
        table, expectations = tables.get(verdict.question), standards[verdict.variant]
        if (
            table is None
            or verdict.expected is None
            or expectations.for_reader(verdict.reader).truncated
        ):
            continue
        asked = run.answers[verdict.case].question
        if tuple(conditions(asked)) != table.where:  # it was recorded when others were asked
            continue
        seen.add(past_views.name_of(verdict.view))
        assert table.rows == tuple(tuple(map(plain, row)) for row in verdict.expected.rows), (
            verdict.case
        )
        assert [(c.name, c.type) for c in table.columns] == list(verdict.expected.columns), (
            verdict.case
        )
        assert (table.back_to is None) == (past_views.past(verdict.view) is None)
    assert views <= seen
