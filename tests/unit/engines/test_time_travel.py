"""Questions about a table's past: which readers have words for them, and what the words are."""

import pytest

from harness import engines
from harness.artifacts import distributions
from harness.engines import time_travel
from harness.engines.api import Question
from harness.formats import facts
from harness.formats.hudi.format import begin
from harness.model.commit import AS_OF, INCREMENTAL, Moment
from harness.model.query import Query

MOMENT = Moment("20240101000000000", "20240101000002000", "20240101000009000")
SPARK_0, SPARK_1, SPARK_12 = (f"spark-3.5.8-hudi-{text}" for text in ("0.15.0", "1.0.2", "1.2.0"))
ICEBERG = "spark-3.5.8-iceberg-1.10.1"
DELTA = "spark-3.5.8-delta-3.3.2"


def sql(
    name: str,
    format_name: str,
    view: str,
    query: Query,
    moment: Moment = MOMENT,
    version: str = "6",
) -> str:
    distribution = distributions.load(name)
    past = time_travel.point_in_time(distribution, facts(format_name), view, moment, version)
    question = Question("s_1", "t", facts(format_name), query, past, "id")
    engine = engines.load(distribution.engine)
    return "; ".join(engine.statements(distribution, {}, question))


@pytest.mark.parametrize(
    ("name", "format_name", "view", "expected"),
    [
        (SPARK_0, "hudi-mor", AS_OF, "`s_1`.`t` timestamp as of '20240101000000000'"),
        (ICEBERG, "iceberg", AS_OF, "`s_1`.`t` version as of 20240101000000000"),
        (
            "trino-476", "iceberg", AS_OF,
            '"iceberg"."s_1"."t" for version as of 20240101000000000',
        ),
        ("trino-368", "iceberg", AS_OF, '"iceberg"."s_1"."t@20240101000000000"'),
        (
            SPARK_0, "hudi-cow", INCREMENTAL,
            "hudi_table_changes('s_1.t', 'latest_state', '20240101000000000')",
        ),
    ],
)  # fmt: skip
def test_each_engine_is_told_in_its_own_words(
    name: str, format_name: str, view: str, expected: str
) -> None:
    assert sql(name, format_name, view, Query()) == f"select * from {expected}"


@pytest.mark.parametrize(
    ("name", "format_name", "view", "version", "meant"),
    [
        (DELTA, "delta", AS_OF, "2", "the version that step 3 made"),
        (DELTA, "delta", INCREMENTAL, "2", "the version after that of step 3"),
        ("trino-476", "delta", INCREMENTAL, "2", "the version that step 3 made"),
        (SPARK_12, "hudi-cow", AS_OF, "9", "the write of step 3 was requested"),
        (SPARK_12, "hudi-cow", INCREMENTAL, "8", "the write of step 3 was completed"),
        (SPARK_1, "hudi-cow", INCREMENTAL, "8", "the write after step 3 was completed"),
        ("hive-3.1.3", "hudi-cow", INCREMENTAL, "8", "the write of step 3 was requested"),
    ],
)
def test_it_is_reported_which_moment_a_question_names(
    name: str, format_name: str, view: str, version: str, meant: str
) -> None:
    assert meant in time_travel.in_words(
        distributions.load(name), facts(format_name), view, version, 3
    )


def test_the_newest_change_of_each_row_is_asked_of_a_change_data_feed() -> None:
    inner = (
        "select * from {0} where _change_type in ('insert', 'update_postimage') and "
        "({1}, _commit_version) in (select {1}, max(_commit_version) from {0} group by {1})"
    )
    since = Moment("7")
    feed = inner.format("table_changes('s_1.t', 8)", "`id`")
    assert sql(DELTA, "delta", INCREMENTAL, Query(columns=("id",)), since) == (
        f"select `id` from ({feed}) `since`"
    )
    named = "schema_name => 's_1', table_name => 't', since_version => 7"
    feed = inner.format(f'table("delta".system.table_changes({named}))', '"id"')
    assert sql("trino-476", "delta", INCREMENTAL, Query(), since) == (
        f'select * from ({feed}) "since"'
    )


@pytest.mark.parametrize(
    ("name", "version", "begin"),
    [
        (SPARK_0, "6", MOMENT.instant),
        (SPARK_12, "6", MOMENT.instant),
        (SPARK_1, "8", MOMENT.following),
        (SPARK_12, "9", MOMENT.completed),
    ],
)
def test_an_incremental_question_begins_by_the_rules_of_library_and_table(
    name: str, version: str, begin: str
) -> None:
    assert f"'{begin}')" in sql(name, "hudi-cow", INCREMENTAL, Query(), version=version)


def test_an_inclusive_begin_without_a_following_write_is_the_next_millisecond() -> None:
    last = Moment("20231231235958000", "20231231235959999")
    assert time_travel.MEANINGS[begin("1.0.2", "8")](last) == "20240101000000000"


@pytest.mark.parametrize(
    ("name", "format_name", "view", "why"),
    [
        ("hive-3.1.3", "hudi-mor", AS_OF, "Hive has no words for it before version 4"),
        ("trino-476", "hudi-cow", AS_OF, "its connector has no words for it"),
        ("trino-368", "hudi-mor", INCREMENTAL, "there are no words for it"),
        ("prestodb-0.283", "hudi-cow", AS_OF, "its connectors have no words for it"),
        ("prestodb-0.283", "iceberg", AS_OF, "finds no table with a snapshot in its name"),
        (ICEBERG, "iceberg", INCREMENTAL, "no words for it"),
    ],
)
def test_who_has_no_words_for_it_is_not_asked(
    name: str, format_name: str, view: str, why: str
) -> None:
    reason = time_travel.cannot(distributions.load(name), facts(format_name), view)
    assert reason.startswith(f"{name}: ")
    assert why in reason
