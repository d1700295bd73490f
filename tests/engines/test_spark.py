"""The Spark process: values, settings, errors, and the ways in which it falls silent."""

from __future__ import annotations

import datetime
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal

import psutil
import pytest

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.core.records import Column
from harness.engines.api import Connection, NoAnswerError, RefusedError, Server
from harness.engines.spark import launch
from harness.engines.spark.engine import SparkServer
from harness.engines.spark.session import Spark
from harness.model.canonical import MapValue, single
from harness.runtime import provide
from harness.runtime.api import Runtime
from harness.runtime.metastore import Metastore
from harness.runtime.process import Process
from tests.engines.shared_servers import SharedServers

pytestmark = pytest.mark.engines

SPARK = "spark-3.5.8-hudi-0.15.0"
MINUTE = 60.0


@pytest.fixture(scope="module")
def runtime(cache: Cache, progress: Progress) -> Runtime:
    return provide.runtime(distributions.load(SPARK), cache, progress)


def process_of(spark: Spark) -> Process:
    assert isinstance(spark.running, Process)
    return spark.running


@pytest.fixture(scope="module")
def server(servers: SharedServers) -> Server:
    return servers(SPARK)


@pytest.fixture
def connection(server: Server) -> Iterator[Connection]:
    with closing(server.connect({})) as found:
        yield found


def test_every_type_comes_as_its_canonical_value(connection: Connection) -> None:
    reply = connection.run(
        "select true b, 1 i, 2L l, cast(1.1 as float) f, 0.1D d, 1.10BD n, 's' s, "
        "date'2024-02-29' day, timestamp'2024-02-29 01:02:03.25' t, "
        "named_struct('x', 1, 'y', array(1, null)) st, map('b', 2L, 'a', 1L) m, "
        "cast(null as string) z",
        timeout_s=MINUTE,
    )
    when = datetime.datetime(2024, 2, 29, 1, 2, 3, 250_000)  # noqa: DTZ001 - UTC without zone
    assert reply.rows == (
        (
            *(True, 1, 2, single(1.1), 0.1, Decimal("1.10"), "s", datetime.date(2024, 2, 29), when),
            *({"x": 1, "y": (1, None)}, MapValue((("a", 1), ("b", 2))), None),
        ),
    )
    assert reply.columns[1] == Column("i", "int", "int")
    assert reply.columns[2] == Column("l", "bigint", "long")
    assert reply.columns[9].canonical == "struct<x: int, y: array<int>>"


def test_sessions_of_one_process_keep_their_own_settings(server: Server) -> None:
    with (
        closing(server.connect({"schema-on-read": "on", "vectorized": "off"})) as on,
        closing(server.connect({})) as plain,
    ):
        told = on.run("select 1", timeout_s=MINUTE).confirmed
        assert "hoodie.schema.on.read.enable=true" in told
        assert "spark.sql.parquet.enableVectorizedReader=false" in told
        told = plain.run("select 1", timeout_s=MINUTE).confirmed
        assert "hoodie.schema.on.read.enable=unset" in told
        assert "spark.sql.parquet.enableVectorizedReader=true" in told
        ((name, value),) = plain.run(
            "set spark.sql.parquet.enableVectorizedReader", timeout_s=MINUTE
        ).rows
        assert (name, value) == ("spark.sql.parquet.enableVectorizedReader", "true")


def test_an_error_while_reading_names_its_innermost_cause(connection: Connection) -> None:
    with pytest.raises(RefusedError) as refused:
        connection.run("select raise_error('boo') from range(2)", timeout_s=MINUTE)
    refusal = refused.value.refusal
    assert refusal.kind == "org.apache.spark.SparkException"
    assert refusal.cause == "java.lang.RuntimeException: boo"
    assert "\tat " not in refusal.message


def test_an_error_of_analysis_names_its_class(connection: Connection) -> None:
    with pytest.raises(RefusedError) as refused:
        connection.run("select nope from range(1)", timeout_s=MINUTE)
    assert refused.value.refusal.code.startswith("UNRESOLVED_COLUMN")


def test_memory_of_worker_and_jvm_is_told(server: Server) -> None:
    assert 150 < server.peak_memory_mb() < 2000


def test_a_query_that_takes_too_long_and_a_dead_process_are_no_answers(
    runtime: Runtime, metastore: Metastore, tmp_path_factory: pytest.TempPathFactory
) -> None:
    endless = "select count(*) from range(1000000000000) where sqrt(id) = id % 7"
    folder = tmp_path_factory.mktemp("slow")
    with launch.spark(runtime, metastore.uris, folder) as spark:
        connection = SparkServer(spark.running, spark).connect({})
        with pytest.raises(NoAnswerError, match=r"no answer within 0\.5 s"):
            connection.run(endless, timeout_s=0.5)
        assert not spark.alive()
        with pytest.raises(NoAnswerError, match="the end of its log"):
            connection.run("select 1", timeout_s=MINUTE)


def test_a_jvm_that_dies_is_no_answer_and_takes_its_worker_along(
    runtime: Runtime, metastore: Metastore, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("dying")
    with launch.spark(runtime, metastore.uris, folder) as spark:
        connection = SparkServer(spark.running, spark).connect({})
        connection.run("select 1", timeout_s=MINUTE)
        family = psutil.Process(process_of(spark).pid).children(recursive=True)
        (jvm,) = [each for each in family if each.name() == "java"]
        os.kill(jvm.pid, signal.SIGKILL)
        with pytest.raises(NoAnswerError):
            connection.run("select 1", timeout_s=MINUTE)
        assert not spark.alive()


def test_nothing_is_left_running_after_the_end(
    runtime: Runtime, metastore: Metastore, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with launch.spark(runtime, metastore.uris, tmp_path_factory.mktemp("end")) as spark:
        worker = psutil.Process(process_of(spark).pid)
        family = [worker, *worker.children(recursive=True)]
        assert len(family) > 1
    gone, alive = psutil.wait_procs(family, timeout=10)
    assert not alive
    assert len(gone) == len(family)
