"""The statements by which an engine is asked for sums of hashes, or for rows by their hashes."""

import pytest

from harness.artifacts import distributions
from harness.audit.columns_in_common import in_common
from harness.engines.fingerprint_sql import PLAIN, FingerprintSql, FingerprintWords, select
from harness.engines.query_sql import ANSI
from harness.model.datatypes import parse_type
from harness.model.fingerprint import ComparedPart, Fingerprint
from harness.read.questions import load_engine

WORDS = FingerprintWords({"integer": "text({0})", "string": "{0}"}, sum="sum(number({0}))")
PARTS = (
    ComparedPart(("id",), ("id",), parse_type("long")),
    ComparedPart(("s", 'a"b'), ("s", 'a"b'), parse_type("string")),
)
TEXTS = 'text("id") as p0, md5("s"."a""b") as p1'
ROW = "md5(coalesce(p0, '-') || ',' || coalesce(p1, '-'))"
TYPES = ["boolean", "int", "float", "double", "decimal(38, 10)", "date", "timestamp", "string"]


@pytest.mark.parametrize("of_parts", [False, True])
def test_sums_are_those_of_the_hashes_of_rows_and_of_each_part(*, of_parts: bool) -> None:
    parts = ", sum(number(md5(p0))), sum(number(p1))" * of_parts
    assert select(Fingerprint(PARTS, of_parts=of_parts), "t", ["x = 1"], ANSI, WORDS) == (
        f"select count(*), sum(number(r)){parts} from (select {ROW} as g, {ROW} as r, p.* "
        f"from (select {TEXTS} from t where x = 1) p) q"
    )


def test_groups_have_the_first_digits_of_the_hashes_of_some_parts_in_common() -> None:
    asked = Fingerprint(PARTS, by=(1,), digits=3, within=("a", "b"))
    assert select(asked, "t", [], ANSI, WORDS) == (
        "select substr(g, 1, 3), count(*), sum(number(r)) "
        f"from (select md5(coalesce(p1, '-')) as g, {ROW} as r, p.* from (select {TEXTS} from t) "
        "p) q where substr(g, 1, 1) in ('a', 'b') group by substr(g, 1, 3)"
    )


def test_rows_are_fetched_by_the_hashes_of_their_groups() -> None:
    asked = Fingerprint(PARTS[:1], by=(0,), digits=3, within=("abc",), rows=True)
    group = "md5(coalesce(text(\"id\"), '-'))"
    assert select(asked, "t", ["x = 1"], ANSI, WORDS) == (
        f"select * from t where x = 1 and substr({group}, 1, 3) in ('abc')"
    )


@pytest.mark.parametrize(("scale", "text"), [(6, "plain(x)"), (7, "all(x, 7)")])
def test_decimals_of_few_digits_behind_the_point_have_words_of_their_own(
    scale: int, text: str
) -> None:
    words = FingerprintWords({"decimal": "all({0}, {scale})", PLAIN: "plain({0})"})
    sql = FingerprintSql(Fingerprint(()), "`", words)
    assert sql.text("x", parse_type(f"decimal(9, {scale})")) == text


def test_values_of_another_kind_of_type_have_other_texts() -> None:
    part = ComparedPart(("id",), ("id",), parse_type("string"), other=True)
    assert "md5('other: ' || \"id\")" in select(Fingerprint((part,)), "t", [], ANSI, WORDS)


@pytest.mark.parametrize(
    "name", ["duckdb-1.5.5", "datafusion-55.0.0", "chdb-4.4.0", "trino-476", "hive-4.0.1",
             "spark-3.5.8", "deltalake-1.6.6"]
)  # fmt: skip
def test_an_engine_with_sql_has_words_for_every_type_without_parts(name: str) -> None:
    words = load_engine(name).fingerprint_words({})
    assert words is not None, distributions.load(name)
    assert all(words.has(parse_type(type_)) for type_ in TYPES)


def test_what_is_an_expression_of_python_has_no_words_of_sql() -> None:
    assert load_engine("polars-2.1.0").fingerprint_words({}) is None
    assert load_engine("deltalake-1.6.6").fingerprint_words({"interface": "arrow"}) is None


def test_parts_of_a_struct_are_compared_as_columns_are() -> None:
    type_ = "struct<a: long, b: array<int>>"
    columns = in_common([("S", type_)], [("s", type_)], WORDS, lower=True)
    assert [(part.path, part.shown) for part in columns.parts] == [
        (("S",), ("s",)),
        (("S", "a"), ("s", "a")),
    ]
    assert columns.left_out == ("S.b (array<int>)",)


def test_a_struct_with_other_parts_is_another_one() -> None:
    shown = [("s", "struct<a: long, c: int>")]
    columns = in_common([("s", "struct<a: long, b: int>")], shown, WORDS, lower=False)
    assert [(part.path, part.other) for part in columns.parts] == [(("s",), True)]


def test_texts_that_may_be_bytes_are_not_compared() -> None:
    assert in_common([("b", "binary")], [("b", "string")], WORDS, lower=False).parts == ()
    assert in_common([("b", "")], [("b", "string")], WORDS, lower=False).left_out == (
        "b (a type that is none of ours)",
    )
