"""What PyIceberg is asked for a question."""

from dataclasses import replace

import pytest

from harness.engines.api import PointInTime, Question
from harness.engines.pyiceberg import engine
from harness.formats import facts
from harness.model.query import ALL, Comparison, Condition, Extreme, Query
from tests.builders.conditions import not_null

FACTS = facts("iceberg")
SCAN = "table('d', 't').scan"
EQUAL = Condition("n", Comparison.EQUAL, "7", "long")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (ALL, "().to_arrow()"),
        (Query(count=True), "().count()"),
        (Query(where=EQUAL), "(EqualTo('n', 7)).to_arrow()"),
        (Query(where=EQUAL, count=True), "(EqualTo('n', 7)).count()"),
        (Query(where=Condition("a.x", Comparison.NULL)), "(IsNull('a.x')).to_arrow()"),
        (
            Query(where=replace(EQUAL, test=Comparison.NOT), limit=2),
            "(And(NotNull('n'), Not(EqualTo('n', 7))), limit=2).to_arrow()",
        ),
        (
            Query(where=replace(EQUAL, test=Comparison.BETWEEN, more=("9",))),
            "(And(GreaterThanOrEqual('n', 7), LessThanOrEqual('n', 9))).to_arrow()",
        ),
        (
            Query(where=replace(EQUAL, test=Comparison.NOT_IN, more=("9",))),
            "(And(NotNull('n'), NotIn('n', (7, 9,)))).to_arrow()",
        ),
        (Query(where=Condition("n", Comparison.NAN)), "(IsNaN('n')).to_arrow()"),
        (Query(where=EQUAL, also=not_null("s")), "(And(EqualTo('n', 7), NotNull('s'))).to_arrow()"),
        (
            Query(columns=("id", "s")),
            "(selected_fields=('id', 's',)).to_arrow().select(['id', 's'])",
        ),
        (
            Query(columns=("a.b.c",)),
            "(selected_fields=('a.b.c',)).to_arrow().flatten().flatten().select(['a.b.c'])",
        ),
    ],
)
def test_what_is_asked_are_arguments_of_the_scan(query: Query, text: str) -> None:
    assert engine.statement(Question("d", "t", FACTS, query), {}) == SCAN + text


def test_a_tag_is_named_after_the_scan() -> None:
    question = Question("d", "t", FACTS, Query(count=True), PointInTime("tag", "step-2"))
    assert engine.statement(question, {}) == f"{SCAN}().use_ref('step-2').count()"


def test_groups_are_counted_by_arrow_in_the_one_column() -> None:
    query = Query(columns=("a.x", "row_count"), groups=True)
    assert engine.statement(Question("d", "t", FACTS, query), {}) == (
        f"{SCAN}(selected_fields=('a.x',)).to_arrow().flatten().group_by('a.x')"
        ".aggregate([([], 'count_all')]).rename_columns(['a.x', 'row_count'])"
    )


def test_an_extreme_is_one_of_arrow_of_the_one_column() -> None:
    query = Query(columns=("a.x",), extreme=Extreme.MAX)
    assert engine.statement(Question("d", "t", FACTS, query), {}) == (
        f"pc.max({SCAN}(selected_fields=('a.x',)).to_arrow().flatten()['a.x'])"
    )


@pytest.mark.parametrize(
    ("literal", "type_", "text"),
    [
        ("2024-02-29", "date", "'2024-02-29'"),
        ("2024-01-02 03:04:05.678", "timestamp_ntz", "'2024-01-02T03:04:05.678'"),
        ("false", "boolean", "False"),
        ("1e+30", "double", "1e+30"),
        ("-1.50", "decimal(10, 2)", "Decimal('-1.50')"),
        ("it's \\ \n", "string", repr("it's \\ \n")),
    ],
)
def test_a_literal_is_of_the_type_of_its_column(literal: str, type_: str, text: str) -> None:
    condition = Condition("c", Comparison.AT_LEAST, literal, type_)
    question = Question("d", "t", FACTS, Query(where=condition))
    assert engine.statement(question, {}) == f"{SCAN}(GreaterThanOrEqual('c', {text})).to_arrow()"


def test_a_snapshot_is_an_argument() -> None:
    question = Question("d", "t", FACTS, Query(where=EQUAL, count=True), PointInTime("as_of", "12"))
    text = engine.statement(question, {})
    assert text == f"{SCAN}(EqualTo('n', 7), snapshot_id=12).count()"
