"""From cells to questions: what is sent, and what is not because there is nothing to ask."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from harness.core.records import Answer, Outcome, OutcomeKind
from harness.engines.spark import engine as spark
from harness.engines.trino import engine as trino
from harness.formats import facts
from harness.model.commit import Moment
from harness.model.query import ALL, Comparison, Condition, Query
from harness.model.simulation.column_resolution import META
from harness.read.questions import CellQuestion, QuestionMaker, history
from harness.scenario.cells import Cell, Reader, Variant
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import RenameColumn
from harness.scenario.operations.row_writes import Insert
from harness.scenario.operations.snapshots import CreateTag
from harness.scenario.operations.unfinished_writes import BeginWrite
from tests.builders.scenarios import scenario_of

READER = Reader("trino-476")
LISTED = "_hoodie_file_name"
STEPS: Sequence[Operation] = (Insert((1, 2)), RenameColumn("f1", "g"))


def variant() -> Variant:
    return Variant("v", scenario_of(*STEPS), "hudi-cow", {}, ("writer",) * 3)


def state(step: int, kind: OutcomeKind = OutcomeKind.APPLIED) -> Any:  # noqa: ANN401 - as read
    frozen = SimpleNamespace(outcome=Outcome(step, kind))
    columns, listed = {"t": ("id", "g")}, {"t": frozenset({LISTED})}
    return SimpleNamespace(
        digest="d",
        database_in=lambda warehouse: f"s_d{warehouse}",
        frozen=frozen,
        columns=columns,
        listed=listed,
    )


def shape_of(format_name: str = "hudi-cow", **others: object) -> Any:  # noqa: ANN401 - as asked
    views = {"table_for": lambda asked: asked, "reader_facts": facts(format_name)}
    return SimpleNamespace(**{**views, **others})


def maker_of(shape: Any, format_name: str = "hudi-cow") -> QuestionMaker:  # noqa: ANN401
    engines = {READER.distribution: trino.ENGINE}
    return QuestionMaker({"r": READER}, engines, {"r": "reader"}, {format_name: shape})


def ask(
    text: str,
    kind: OutcomeKind = OutcomeKind.APPLIED,
    view: str = "t",
    first: Any = None,  # noqa: ANN401 - a state
    columns: Mapping[str, tuple[str, ...]] | None = None,
) -> CellQuestion | Answer:
    """Ask after the rename, which had that outcome; `columns`: those of the catalog's entries."""
    shape = shape_of()
    maker = maker_of(shape)
    states = {("v", 1): first or state(1), ("v", 2): state(2, kind)}
    if columns is not None:
        states["v", 2].columns = columns
    truths = history(variant(), states, merge_on_read=False)
    return maker.make(Cell("v", 2, "r", view, text), variant(), truths, states["v", 2])


def question(text: str, **how: Any) -> Query:  # noqa: ANN401 - passed on
    asked = ask(text, **how)
    assert isinstance(asked, CellQuestion)
    return asked.question.query


def test_each_shape_is_sent_in_the_engine_s_words() -> None:
    asked = ask("predicate(g)")
    assert isinstance(asked, CellQuestion)
    assert asked.text == 'select * from "hudi"."s_d"."t" where "g" = \'f2s1r1\''
    assert asked.question.query.where == Condition("g", Comparison.EQUAL, "f2s1r1", "string")
    assert question("all") == ALL
    assert question("column(g)") == Query(columns=("id", "g"))


@pytest.mark.parametrize(
    ("reader", "format_name", "columns"),
    [
        ("trino-476", "hudi-cow", frozenset({LISTED})),
        ("spark-3.5.8-hudi-1.0.2", "hudi-mor", frozenset(META)),
        ("spark-3.5.8-iceberg-1.10.1", "iceberg", frozenset({LISTED})),
    ],
)
def test_hudi_s_meta_columns_are_those_of_the_catalog_and_all_of_them_to_spark(
    reader: str, format_name: str, columns: frozenset[str]
) -> None:
    shape = shape_of(format_name)
    readers, asked_variant = {"r": Reader(reader)}, replace(variant(), format=format_name)
    engines = {Reader(reader).distribution: spark.ENGINE}
    maker = QuestionMaker(readers, engines, {"r": "reader"}, {format_name: shape})
    truths = history(asked_variant, {("v", 1): state(1), ("v", 2): state(2)}, merge_on_read=False)
    asked = maker.make(Cell("v", 2, "r", "t", "all"), asked_variant, truths, state(2))
    assert isinstance(asked, CellQuestion)
    assert asked.meta == columns


def test_a_question_about_a_column_that_was_not_made_falls_away_and_says_why() -> None:
    result = ask("column(g)", kind=OutcomeKind.REFUSED)
    assert isinstance(result, Answer)
    assert result.not_applicable.startswith("after step 2 there is no column 'g'; there are: id")
    assert not result.unknown


def unwritten(view: str) -> Answer:
    """Ask for a view that the catalog does not have, of a table that no step could write to."""
    first = state(1, OutcomeKind.REFUSED)
    result = ask("all", kind=OutcomeKind.REFUSED, view=view, first=first, columns={})
    assert isinstance(result, Answer)
    return result


def test_a_view_that_comes_with_the_first_write_is_not_asked_for_before() -> None:
    answer = unwritten("t_rt")
    why = "no step has written anything yet: the catalog has no entry for the view t_rt"
    assert (answer.not_applicable, answer.unknown) == (why, "")


def test_the_view_that_comes_with_the_table_is_unknown_where_it_is_not_there() -> None:
    answer = unwritten("t")
    assert (answer.not_applicable, answer.unknown) == (
        "",
        "the catalog has no entry for the view t",
    )


def test_a_question_about_the_past_names_the_write_that_stands_for_the_step() -> None:
    asked = ask_the_past("as_of(2)", ("", "11", ""))
    assert isinstance(asked, CellQuestion)
    assert asked.text == 'select * from "iceberg"."s_d"."t" for version as of 11'
    assert asked.columns == ("id", "f1"), "those of then are asked alone after a refusal"


def test_columns_are_asked_alone_in_the_case_that_the_table_has_them_in() -> None:
    renamed = replace(variant(), scenario=scenario_of(STEPS[0], RenameColumn("f1", "G")))
    shape = shape_of()
    maker = maker_of(shape)
    truths = history(renamed, {("v", 1): state(1), ("v", 2): state(2)}, merge_on_read=False)
    asked = maker.make(Cell("v", 2, "r", "t", "all"), renamed, truths, state(2))
    assert isinstance(asked, CellQuestion)
    assert asked.columns == ("id", "G"), "the catalog has it as g"


def test_columns_are_the_table_s_own_where_the_catalog_says_nothing_of_them() -> None:
    asked = ask("all", columns={"t": ("col",)})  # as that of a Delta table
    assert isinstance(asked, CellQuestion)
    assert asked.columns == ("id", "g")


def test_where_no_step_made_an_instant_there_is_no_past_to_ask_for() -> None:
    answer = ask_the_past("as_of(1)", ("", "", "12"))
    assert isinstance(answer, Answer)
    assert answer.not_applicable == "no step up to 1 made an instant"


def test_a_tag_and_a_branch_that_no_step_made_are_not_asked_for() -> None:
    tag, branch = (ask_the_past(view, ("", "11", "")) for view in ("tag(1)", "branch(1)"))
    assert isinstance(tag, Answer)
    assert isinstance(branch, Answer)
    assert tag.not_applicable == "step 1 made no tag"
    assert branch.not_applicable == "step 1 staged nothing in a branch"


def test_a_tag_and_a_branch_are_asked_for_by_the_name_that_their_step_gave() -> None:
    steps = Insert((1,)), CreateTag(), BeginWrite(insert=(2,)), RenameColumn("f1", "g")
    asked_variant = replace(variant(), format="iceberg", scenario=scenario_of(*steps))
    shape = shape_of("iceberg", table_for=lambda _: "t", moment=lambda _, text: Moment(text))
    there = state(4)
    there.frozen.instants, there.frozen.table_version = ("", "11", "", "", ""), "2"
    states = {("v", step): state(step) for step in (1, 2, 3)} | {("v", 4): there}
    truths = history(asked_variant, states, merge_on_read=False)

    def asked(view: str) -> CellQuestion:
        result = maker_of(shape, "iceberg").make(
            Cell("v", 4, "r", view, "all"), asked_variant, truths, there
        )
        assert isinstance(result, CellQuestion)
        return result

    tag, branch = asked("tag(2)"), asked("branch(3)")
    assert tag.text == """select * from "iceberg"."s_d"."t" for version as of 'step-2'"""
    assert branch.text == tag.text.replace("step-2", "step-3")
    assert (tag.columns, branch.columns) == (("id", "f1"), ("id", "g"))


def ask_the_past(view: str, instants: tuple[str, ...]) -> CellQuestion | Answer:
    shape = shape_of("iceberg", table_for=lambda _: "t", moment=lambda _, text: Moment(text))
    maker = maker_of(shape, "iceberg")
    there = state(2)
    there.frozen.instants, there.frozen.table_version, there.table = instants, "2", None
    asked_variant = replace(variant(), format="iceberg")
    truths = history(asked_variant, {("v", 1): state(1), ("v", 2): there}, merge_on_read=False)
    return maker.make(Cell("v", 2, "r", view, "all"), asked_variant, truths, there)
