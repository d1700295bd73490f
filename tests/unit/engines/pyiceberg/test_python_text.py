"""The Python of each shape of question, and which tables it names."""

from __future__ import annotations

import pytest

from harness.engines.api import Question
from harness.engines.format_facts import Wording
from harness.engines.pyiceberg import python_text
from harness.engines.pyiceberg.engine import ENGINE
from harness.engines.time_travel import sql, without_moment
from harness.formats import facts
from harness.model.query import ALL, Condition, Extreme, Query, Test, not_null

FACTS = facts("iceberg")
SCAN = "table('d', 't').scan"
EQUAL = Condition("n", Test.EQUAL, "7", "long")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (ALL, "().to_arrow()"),
        (Query(count=True), "().count()"),
        (Query(where=EQUAL), "(EqualTo('n', 7)).to_arrow()"),
        (Query(where=EQUAL, count=True), "(EqualTo('n', 7)).count()"),
        (Query(where=Condition("a.x", Test.NULL)), "(IsNull('a.x')).to_arrow()"),
        (
            Query(where=EQUAL, also=not_null("s")),
            "(And(EqualTo('n', 7), NotNull('s'))).to_arrow()",
        ),
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
    assert python_text.text(Question("d", "t", FACTS, query)) == SCAN + text


def test_a_tag_is_named_after_the_scan() -> None:
    question = Question("d", "t", FACTS, Query(count=True), Wording(".use_ref('step-2')"))
    assert python_text.text(question) == f"{SCAN}().use_ref('step-2').count()"


def test_an_extreme_is_one_of_arrow_of_the_one_column() -> None:
    query = Query(columns=("a.x",), extreme=Extreme.MAX)
    assert python_text.text(Question("d", "t", FACTS, query)) == (
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
    condition = Condition("c", Test.AT_LEAST, literal, type_)
    question = Question("d", "t", FACTS, Query(where=condition))
    assert python_text.text(question) == f"{SCAN}(GreaterThanOrEqual('c', {text})).to_arrow()"


def test_a_snapshot_is_an_argument_that_texts_can_be_compared_without() -> None:
    past = Wording("snapshot_id=123")
    question = Question("d", "t", FACTS, Query(where=EQUAL, count=True), past)
    text = sql(ENGINE, question, {})
    assert text == f"{SCAN}(EqualTo('n', 7), snapshot_id=123).count()"
    assert without_moment(text, "M") == f"{SCAN}(EqualTo('n', 7), snapshot_id=M).count()"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("table('d', 't').scan().count()", [("d", "t")]),
        (python_text.text(Question("d'x", "t\\", FACTS, ALL)), [("d'x", "t\\")]),
        ("[table('d', 'a').scan(), table('e', 'b').scan()]", [("d", "a"), ("e", "b")]),
        ("select 1 from", []),
        ("other('d', 't')", []),
    ],
)
def test_the_tables_that_a_text_names_are_found(text: str, names: list[tuple[str, str]]) -> None:
    assert list(python_text.named(text)) == names
