"""Literals and predicates in the two kinds of SQL."""

import pytest

from harness.artifacts.distributions import load
from harness.core.records import Column
from harness.engines import query_sql
from harness.engines.api import Question
from harness.engines.query_sql import META_COLUMNS
from harness.engines.trino.engine import ENGINE as TRINO
from harness.formats import facts
from harness.model.query import LINEAGE, Comparison, Condition, Query


def test_the_columns_that_formats_add_are_left_out_with_their_values() -> None:
    columns = tuple(Column(name, "string") for name in ("a", *sorted(META_COLUMNS), "_hoodie_x"))
    last = len(META_COLUMNS) + 1
    row, other = tuple(range(1, last + 2)), (1, *[0] * len(META_COLUMNS), 7)
    reply = query_sql.reply(columns, (row, other), 0.5, "select", texts=(row, [1] * (last + 1)))
    assert reply.columns == (Column("a", "string"), Column("_hoodie_x", "string"))
    assert reply.rows == ((1, last + 1), (1, 7))
    assert reply.left_out == tuple((columns[at], (at + 1, 0)) for at in range(1, last))
    assert reply.raw == ((1, 1, "1"),)


SPARK, ANSI = "`", '"'


@pytest.mark.parametrize(
    ("text", "spark", "ansi"),
    [
        ("plain", "'plain'", "'plain'"),
        ("it's", r"'it\'s'", "'it''s'"),
        ("'; drop table t; --", r"'\'; drop table t; --'", "'''; drop table t; --'"),
        ("a\\", r"'a\\'", "'a\\'"),
        ("\\'", r"'\\\''", "'\\'''"),
        ('say "x" `y`', "'say \"x\" `y`'", "'say \"x\" `y`'"),
        ("${env:HOME}", r"'\u0024{env:HOME}'", "'${env:HOME}'"),
        ("", "''", "''"),
        ("a\nb", r"'a\nb'", "'a\nb'"),
        ("ü", "'ü'", "'ü'"),
    ],
)
def test_a_string_ends_where_it_should_and_holds_what_it_should(
    text: str, spark: str, ansi: str
) -> None:
    assert (query_sql.string(text, SPARK), query_sql.string(text, ANSI)) == (spark, ansi)


@pytest.mark.parametrize(
    ("text", "type_", "spark", "ansi"),
    [
        ("true", "boolean", "true", "true"),
        ("503002", "int", "503002", "503002"),
        ("503002", "long", "503002", "503002"),
        ("2001-02-03", "date", "date '2001-02-03'", "date '2001-02-03'"),
        ("1.5", "double", "cast('1.5' as double)", "cast('1.5' as double)"),
        ("1.5", "float", "cast('1.5' as float)", "cast('1.5' as real)"),
        *[("1.50", "decimal(12, 2)", *["cast('1.50' as decimal(12, 2))"] * 2)],
    ],
)
def test_a_literal_has_the_type_of_its_column(text: str, type_: str, spark: str, ansi: str) -> None:
    assert (query_sql.literal(text, type_, SPARK), query_sql.literal(text, type_, ANSI)) == (
        spark,
        ansi,
    )


def sql(query: Query, mark: str) -> str:
    return query_sql.select(Question("d", "t", facts("hudi-cow"), query), mark)


def test_a_predicate_follows_the_table() -> None:
    equal = Query(where=Condition('a"b.c', Comparison.EQUAL, "x", "string"))
    assert sql(equal, ANSI) == 'select * from "d"."t" where "a""b"."c" = \'x\''
    null = Query(where=Condition("f1", Comparison.NULL), count=True)
    assert sql(null, SPARK) == "select count(*) from `d`.`t` where `f1` is null"


def test_a_table_has_an_alias_where_a_column_or_part_has_its_name() -> None:
    query = Query(columns=("id", "T.n"), where=Condition("t1", Comparison.NULL))
    assert sql(query, ANSI) == 'select "id", "T"."n" from "d"."t" "t2" where "t1" is null'


@pytest.mark.parametrize(
    ("test", "spark", "ansi"),
    [
        (Comparison.NOT_EQUAL, "`f` <> 5", '"f" <> 5'),
        (Comparison.NOT, "not (`f` = 5)", 'not ("f" = 5)'),
        (Comparison.LESS, "`f` < 5", '"f" < 5'),
        (Comparison.AT_MOST, "`f` <= 5", '"f" <= 5'),
        (Comparison.GREATER, "`f` > 5", '"f" > 5'),
        (Comparison.BETWEEN, "`f` between 5 and 7", '"f" between 5 and 7'),
        (Comparison.IN, "`f` in (5, 7)", '"f" in (5, 7)'),
        (Comparison.NOT_IN, "`f` not in (5, 7)", '"f" not in (5, 7)'),
        (Comparison.NAN, "`f` = cast('NaN' as float)", 'is_nan("f")'),
        (Comparison.NOT_NAN, "not (`f` = cast('NaN' as float))", 'not (is_nan("f"))'),
    ],
)
def test_each_condition_has_its_words(test: Comparison, spark: str, ansi: str) -> None:
    more = ("7",) if test in {Comparison.BETWEEN, Comparison.IN, Comparison.NOT_IN} else ()
    condition = Condition("f", test, "5", "int", more)
    assert query_sql.predicate(condition, SPARK) == spark
    assert query_sql.predicate(condition, ANSI, query_sql.NAN_FUNCTION) == ansi


def test_null_in_a_list_and_the_beginning_of_a_text_and_some_rows() -> None:
    listed = Condition("f", Comparison.IN, "it's", "string", (None,))
    assert query_sql.predicate(listed, ANSI) == """"f" in ('it''s', null)"""
    begins = Condition("f", Comparison.STARTS_WITH, "it's", "string")
    assert query_sql.predicate(begins, SPARK) == r"`f` like 'it\'s%'"
    asked = Question("d", "t", facts("iceberg"), Query(where=listed, limit=3))
    assert query_sql.select(asked, ANSI).endswith("null) limit 3")


def test_groups_and_where_rows_come_from_are_asked_for_under_names_of_ours() -> None:
    groups = Query(columns=("p", "row_count"), groups=True)
    asked = Question("d", "t", facts("iceberg"), groups)
    assert query_sql.select(asked, SPARK) == (
        "select `p`, count(*) as `row_count` from `d`.`t` group by `p`"
    )
    lineage = Question("d", "t", facts("iceberg"), Query(columns=("id", *LINEAGE)))
    assert query_sql.select(lineage, SPARK) == (
        "select `id`, `_row_id`, `_last_updated_sequence_number` from `d`.`t`"
    )
    (trino,) = TRINO.statements(load("trino-483"), {}, lineage)
    row, updated = (f'"${name[1:]}" as "{name}"' for name in LINEAGE)
    assert trino == f'select "id", {row}, {updated} from "iceberg"."d"."t"'
