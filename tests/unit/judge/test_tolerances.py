import datetime
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.records import Answer, Column, FindingKind, Refusal, Verdict, VerdictKind
from harness.core.tolerances import Normalised
from harness.model.canonical import Value
from harness.model.query import Comparison, Condition, Query
from tests.builders.columns_alone import in_parts
from tests.builders.judged_story import answer_of, case_without_values, verdict_on
from tests.builders.simulated_reader import Reply
from tests.builders.spoilt_files import ONE, ZONELESS, cut, typed
from tests.builders.table_story import Story, changed, history

PRESTODB, TRINO = "prestodb-0.283{connector=hive}", "trino-476"
DATAFUSION = "datafusion-54.1.0-hudi-0.5.0"
TIMES = "id string, ts long, f1 string, at timestamp, s struct<at: timestamp>"
TEXTS = "id string, ts long, c char(5), v varchar(9), s struct<c: char(2)>"
MILLISECOND = datetime.timedelta(milliseconds=1)
CORRECT, WRONG = VerdictKind.CORRECT, VerdictKind.WRONG
ALTERED, DRIFT = FindingKind.ALTERED_VALUE, FindingKind.TYPE_DRIFT


def judged(
    story: Story,
    reply: Reply,
    reader: str,
    *,
    alone: bool = False,
    format_: str = "hudi-cow",
    settings: Mapping[str, str] | None = None,
) -> Verdict:
    refused = Answer("", "select", refusal=Refusal("X", "x"), parts=in_parts(reply))
    case = case_without_values(story)
    case = replace(case, variant=replace(case.variant, format=format_, settings=settings or {}))
    return verdict_on(case, refused if alone else answer_of(reply), reader=reader)


def kinds(verdict: Verdict) -> dict[FindingKind, tuple[str, ...]]:
    return {finding.kind: finding.columns for finding in verdict.findings}


def written(micros: int) -> Story:
    at = datetime.datetime(2024, 1, 2, 3, 4, 5, micros).isoformat()  # noqa: DTZ001 - no zone
    return history(f"insert 1..3; row id=4 at={at}", TIMES)


def shown(story: Story, change: Callable[[Value], Value]) -> Reply:
    return changed(story.read(), {"at": change})


@given(st.integers(0, 999_999))
@settings(max_examples=20)
def test_a_reader_of_milliseconds_that_cuts_is_right_and_one_a_millisecond_off_is_not(
    micros: int,
) -> None:
    story = written(micros)
    verdict = judged(story, shown(story, cut), PRESTODB)
    assert (verdict.verdict, verdict.findings) == (CORRECT, ())
    count = (Normalised("timestamp-milliseconds", 1),) if micros % 1000 else ()
    assert verdict.normalised == count
    for off in (MILLISECOND, -MILLISECOND):
        wrong = shown(story, lambda value: value and cut(value) + off)  # noqa: B023 - used at once
        assert kinds(judged(story, wrong, PRESTODB)) == {ALTERED: ("at",)}


def test_a_column_asked_alone_is_judged_by_the_same_rules() -> None:
    story = written(678_901)
    assert judged(story, shown(story, cut), PRESTODB, alone=True).findings == ()
    assert kinds(judged(story, shown(story, cut), TRINO, alone=True)) == {ALTERED: ("at",)}


def test_a_part_of_a_struct_is_cut_as_well_and_older_versions_too() -> None:
    at = "2024-01-02T03:04:05.678901"
    story = history(f"row id=1 at={at}; rename f1 f2; insert 2; row id=1 f2=x", TIMES, mor=True)
    early = changed(story.read(logs="ignored"), {"at": cut})
    verdict = judged(story, early, PRESTODB)
    assert verdict.findings
    assert {finding.kind for finding in verdict.findings} == {FindingKind.STALE}


@pytest.mark.parametrize("query", ["rows", "count", "column"])
def test_an_equality_with_microseconds_is_one_with_milliseconds_to_such_a_reader(
    query: str,
) -> None:
    story = written(678_901)
    where = Condition("at", Comparison.EQUAL, "2024-01-02 03:04:05.678901", "timestamp")
    columns = ("at",) if query == "column" else ()
    asked = Query(columns, where, count=query == "count")
    whole = shown(story, cut)
    row = next(row for row in whole.rows if row[0] == "4")
    head, rows = whole.columns, (row,)
    if query == "count":
        head, rows = (Column("_col0", "bigint", "long"),), ((1,),)
    if query == "column":
        head, rows = (head[3],), ((row[3],),)
    answer = answer_of(Reply(head, rows), asked)
    verdict = verdict_on(case_without_values(story), answer, reader=PRESTODB)
    assert (verdict.verdict, verdict.findings) == (CORRECT, ())
    counted = () if query == "count" else (Normalised("timestamp-milliseconds", 1),)
    assert verdict.normalised == counted


@pytest.fixture(scope="module")
def texts() -> Story:
    return history("insert 1..3; row id=4 c=ab", TEXTS)


STRINGS = {"c": "string", "v": "string", "s": "struct<c: string>"}


@pytest.mark.parametrize("reader", ["spark-3.5.8", DATAFUSION])
def test_who_has_texts_without_a_length_may_call_char_and_varchar_string(
    reader: str, texts: Story
) -> None:
    verdict = judged(texts, typed(texts, STRINGS), reader)
    assert (verdict.verdict, verdict.normalised) == (CORRECT, (Normalised("bounded-text", 3),))


@pytest.mark.parametrize(
    ("reader", "types"),
    [
        ("trino-476", {"c": "string"}),
        ("spark-3.5.8", {"c": "char(4)"}),
        ("spark-3.5.8", {"c": "varchar(5)"}),
        ("spark-3.5.8", {"ts": "string"}),
        ("spark-3.5.8", {"s": "struct<d: string>"}),
        ("spark-3.5.8", {"f1": "string"} | {"s": "string"}),
    ],
)
def test_any_other_type_is_a_finding(texts: Story, reader: str, types: dict[str, str]) -> None:
    verdict = judged(texts, typed(texts, types), reader)
    assert kinds(verdict).keys() == {DRIFT}
    assert verdict.normalised == ()


def test_hive_may_tell_only_the_kind_of_a_nested_type(texts: Story) -> None:
    story = typed(texts, {"s": "struct"}, ours=False)
    verdict = judged(texts, story, "hive-3.1.3{path=fetch}")
    assert (verdict.verdict, verdict.normalised) == (CORRECT, (Normalised("kind-of-type", 1),))


@pytest.mark.parametrize(
    ("reader", "column", "type_"),
    [
        ("trino-476", "s", "struct"),
        ("hive-3.1.3", "s", "map"),
        ("hive-3.1.3", "s", "uniontype"),
        ("hive-3.1.3", "c", "char"),
    ],
)
def test_another_kind_or_another_engine_is_a_finding(
    texts: Story, reader: str, column: str, type_: str
) -> None:
    verdict = judged(texts, typed(texts, {column: type_}, ours=False), reader)
    assert kinds(verdict) == {DRIFT: (column,)}


OTHER = {"at": "timestamp_ntz", "s": "struct<at: timestamp_ntz>"}
TWISTED = {"s": "struct<at: timestamp, timestamp: timestamp_ntz>"}


@pytest.mark.parametrize("reader", [TRINO, PRESTODB, "prestosql-350", "hive-3.1.3"])
def test_who_has_one_type_of_timestamps_may_call_those_without_a_zone_so(reader: str) -> None:
    story = history("insert 1..3", ZONELESS)
    verdict = judged(story, typed(story, ONE), reader)
    assert (verdict.verdict, verdict.normalised) == (CORRECT, (Normalised("one-timestamp", 2),))
    assert kinds(judged(story, typed(story, TWISTED), reader)) == {DRIFT: ("s",)}
    there = history("insert 1..3", TIMES)
    assert kinds(judged(there, typed(there, OTHER), reader)) == {DRIFT: ("at", "s")}


def test_spark_tells_both_timestamps_apart() -> None:
    story = history("insert 1..3", ZONELESS)
    for format_ in ("hudi-cow", "iceberg"):
        verdict = judged(story, typed(story, ONE), "spark-3.5.8", format_=format_)
        assert kinds(verdict) == {DRIFT: ("at", "s")}
        assert judged(story, story.read(), "spark-3.5.8", format_=format_).normalised == ()


def test_spark_reads_the_metastores_timestamp_as_its_own_and_shows_no_other_type_so() -> None:
    """Its own schema of such a table says `timestamp` too, so it is not to blame for the word."""
    story = history("insert 1..3", ZONELESS)
    for format_ in ("hive-parquet", "hive-orc"):
        verdict = judged(story, typed(story, ONE), "spark-3.5.8", format_=format_)
        assert (verdict.verdict, verdict.normalised) == (CORRECT, (Normalised("one-timestamp", 2),))
        assert kinds(judged(story, typed(story, TWISTED), "spark-3.5.8", format_=format_)) == {
            DRIFT: ("s",)
        }
        there = history("insert 1..3", TIMES)
        other = judged(there, typed(there, OTHER), "spark-3.5.8", format_=format_)
        assert kinds(other) == {DRIFT: ("at", "s")}


SMALL = "id string, ts long, n smallint, s struct<t: tinyint, n: int>"
SHOWN_INT = {"n": "int", "s": "struct<t: int, n: int>"}


@pytest.mark.parametrize("reader", ["spark-3.5.8", "hive-3.1.3", "hive-4.0.1"])
def test_only_in_plain_tables_of_avro_a_small_integer_may_be_called_int(reader: str) -> None:
    story = history("insert 1..3", SMALL)
    avro = judged(story, typed(story, SHOWN_INT), reader, format_="hive-avro")
    assert (avro.verdict, avro.normalised) == (CORRECT, (Normalised("avro-integers", 2),))
    other = judged(story, typed(story, SHOWN_INT), reader, format_="hive-orc")
    assert kinds(other) == {DRIFT: ("n", "s")}
    wider = typed(story, {"n": "long", "s": "struct<t: int, n: tinyint>"})
    assert kinds(judged(story, wider, reader, format_="hive-avro")) == {DRIFT: ("n", "s")}


def test_only_in_icebergs_tables_spark_may_say_of_ours_that_there_is_no_zone() -> None:
    story = history("insert 1..3", TIMES)
    verdict = judged(story, typed(story, OTHER), "spark-3.5.8-iceberg-1.10.1", format_="iceberg")
    assert (verdict.verdict, verdict.normalised) == (CORRECT, (Normalised("timestamp-zone", 2),))
    for format_ in ("hudi-cow", "hudi-mor", "hive-parquet"):
        verdict = judged(story, typed(story, OTHER), "spark-3.5.8", format_=format_)
        assert kinds(verdict) == {DRIFT: ("at", "s")}


@pytest.mark.parametrize(
    "reader", ["spark-3.5.8-iceberg-1.10.1", "pyiceberg-0.12.0", "polars-2.1.0"]
)
def test_a_timestamptz_of_iceberg_has_a_zone_and_who_says_that_it_has_none_drifts(
    reader: str,
) -> None:
    story = history("insert 1..3", TIMES)
    for moments, drifts in (("timestamp", False), ("timestamptz", True)):
        settings = {"moments": moments}
        verdict = judged(story, typed(story, OTHER), reader, format_="iceberg", settings=settings)
        assert kinds(verdict) == ({DRIFT: ("at", "s")} if drifts else {})


CASED = "id string, ts long, Name string, city string"


def in_lower_case(story: Story) -> Reply:
    reply = story.read()
    columns = tuple(replace(column, name=column.name.lower()) for column in reply.columns)
    return Reply(columns, reply.rows)


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("reader", [TRINO, PRESTODB, "hive-3.1.3-iceberg-1.4.3{path=fetch}"])
def test_who_folds_names_may_show_a_column_of_iceberg_in_lower_case(
    reader: str, *, alone: bool
) -> None:
    story = history("insert 1..3; rename city CITY; insert 4", CASED)
    verdict = judged(story, in_lower_case(story), reader, alone=alone, format_="iceberg")
    assert verdict.findings == ()
    assert verdict.normalised == (Normalised("lower-case-names", 2),)
    assert judged(story, story.read(), reader, format_="iceberg").normalised == ()


def test_folded_names_are_wrong_in_other_tables_and_of_engines_that_have_both_cases() -> None:
    story = history("insert 1..3", CASED)
    for reader, format_ in ((TRINO, "hudi-cow"), ("spark-3.5.8-iceberg-1.10.1", "iceberg")):
        verdict = judged(story, in_lower_case(story), reader, format_=format_)
        assert {column for finding in verdict.findings for column in finding.columns} >= {
            "Name",
            "name",
        }


def test_a_values_column_is_looked_for_in_its_own_case() -> None:
    story = history("insert 1..3; rename Name name; insert 4; rename name NAME", CASED)
    lost = changed(story.read(), {"NAME": lambda _: None})
    verdict = judged(story, lost, TRINO, format_="iceberg")
    assert {column for finding in verdict.findings for column in finding.columns} == {"NAME"}
    wrong = replace_name(in_lower_case(story), "name", "NAMES")
    assert judged(story, wrong, TRINO, format_="iceberg").verdict is WRONG


def replace_name(reply: Reply, old: str, new: str) -> Reply:
    columns = tuple(
        replace(column, name=new if column.name == old else column.name) for column in reply.columns
    )
    return Reply(columns, reply.rows)
