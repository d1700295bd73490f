"""The Spark process: values, settings, errors, and the ways in which it falls silent."""

import os
import signal
from collections.abc import Iterator
from contextlib import closing

import psutil
import pytest

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.engines.api import Connection, NoAnswerError, Server
from harness.engines.spark import launch
from harness.engines.spark.engine import SparkServer
from harness.runtime import provide
from harness.runtime.api import Runtime
from harness.runtime.metastore import Metastore
from tests.engines.everyone import process_of
from tests.engines.shared_servers import SharedServers

pytestmark = pytest.mark.engines

SPARK = "spark-3.5.8-hudi-1.0.2"
MINUTE = 60.0


@pytest.fixture(scope="module")
def runtime(cache: Cache, progress: Progress) -> Runtime:
    return provide.runtime(distributions.load(SPARK), cache, progress)


@pytest.fixture(scope="module")
def server(servers: SharedServers) -> Server:
    return servers(SPARK)


@pytest.fixture
def connection(server: Server) -> Iterator[Connection]:
    with closing(server.connect({})) as result:
        yield result


def test_sessions_of_one_process_keep_their_own_settings(server: Server) -> None:
    with (
        closing(server.connect({"schema-on-read": "on", "vectorized": "off"})) as on,
        closing(server.connect({})) as plain,
    ):
        confirmed = on.run("select 1", timeout_s=MINUTE).confirmed
        assert "hoodie.schema.on.read.enable=true" in confirmed
        assert "spark.sql.parquet.enableVectorizedReader=false" in confirmed
        confirmed = plain.run("select 1", timeout_s=MINUTE).confirmed
        assert "hoodie.schema.on.read.enable=unset" in confirmed
        assert "spark.sql.parquet.enableVectorizedReader=true" in confirmed
        ((name, value),) = plain.run(
            "set spark.sql.parquet.enableVectorizedReader", timeout_s=MINUTE
        ).rows
        assert (name, value) == ("spark.sql.parquet.enableVectorizedReader", "true")


def test_a_jvm_that_dies_is_no_answer_and_takes_its_worker_along(
    runtime: Runtime, metastore: Metastore, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("dying")
    with launch.spark(runtime, metastore.uris, folder) as spark:
        server = SparkServer(spark.running, spark)
        connection = server.connect({})
        connection.run("select 1", timeout_s=MINUTE)
        family = psutil.Process(process_of(server).pid).children(recursive=True)
        (jvm,) = [process for process in family if process.name() == "java"]
        os.kill(jvm.pid, signal.SIGKILL)
        with pytest.raises(NoAnswerError):
            connection.run("select 1", timeout_s=MINUTE)
        assert not spark.alive()
