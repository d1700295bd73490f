"""Read plans that Spark carries out: the rows are those that this process reads."""

from __future__ import annotations

import os
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.audit import spark_fingerprints, spark_plan, spark_reader, table_rows
from harness.audit.columns_in_common import in_common
from harness.audit.comparison import row_text
from harness.audit.fingerprints import PlanFingerprints
from harness.audit.spark_fingerprints import SparkFingerprints
from harness.audit.spark_reader import SparkFaultError, SparkReader
from harness.audit.table_rows import TableRows
from harness.cli.app import main
from harness.core.errors import UsageProblem
from harness.core.progress import Progress
from harness.engines.arrow_values import canonical_type
from harness.formats.api import FileFactError
from harness.formats.files import table_folder
from harness.formats.files.table_folder import UnreadableError
from harness.formats.hive import read_plan
from harness.formats.hive.read_plan import DeclaredColumns
from harness.formats.read_plan import ReadPlan
from harness.model.datatypes import parse_type
from harness.model.fingerprint import ComparedPart, Fingerprint, FloatText
from harness.model.query import ALL, Comparison, Condition, Query
from tests.audit.small_iceberg_tables import TABLES as ICEBERG_TABLES
from tests.audit.small_iceberg_tables import plan_of, written
from tests.audit.test_foreign_tables import MISSING
from tests.audit.test_foreign_tables import TABLES as FOREIGN_TABLES
from tests.builders.audited_tables import TABLES
from tests.engines.until import until
from tools import foreign_tables

pytestmark = pytest.mark.engines
WORKERS: Final = 2


@pytest.fixture(scope="module")
def reader(
    cache: Cache, progress: Progress, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkReader]:
    folder = tmp_path_factory.mktemp("spark")
    with spark_reader.start("local[2]", (), cache, folder, progress) as result:
        yield result


def small_tables(folder: Path) -> Mapping[str, ReadPlan]:
    made = {name: table(_empty(folder / name))[0] for name, table in TABLES.items()}
    for table in ICEBERG_TABLES:
        written(_empty(folder / table.__name__), table)
        made[table.__name__] = plan_of(folder / table.__name__)
    return made


def _empty(folder: Path) -> Path:
    folder.mkdir()
    return folder


def with_places(rows: TableRows) -> Counter[tuple[str, str, int]]:
    places = [(file.file.path, at) for file in rows.files for at in file.positions]
    return Counter((row_text(row), *at) for row, at in zip(rows.rows, places, strict=True))


def test_spark_reads_small_tables_as_this_process_does(reader: SparkReader, tmp_path: Path) -> None:
    by_spark = 0
    for name, plan in small_tables(tmp_path).items():
        table = reader.table(plan)
        by_spark += len(table.plan.by_spark)
        assert with_places(table.table_rows()) == with_places(table_rows.read(plan)), name
    assert by_spark > len(ICEBERG_TABLES)


def test_spark_makes_the_sums_that_this_process_makes(reader: SparkReader, tmp_path: Path) -> None:
    columns = {
        "i": pa.array([1, None, -3]),
        "f": pa.array([0.1, -0.0, float("nan")], pa.float32()),
        "d": pa.array([Decimal("0.0000001"), Decimal("-1.5"), None], pa.decimal128(20, 7)),
        "t": pa.array(["é", "", None]),
        "b": pa.array([b"\x00\xff", b"", None]),
        "l": pa.array([True, False, None]),
        "m": pa.array([-1, 1_700_000_000_123_456, None], pa.timestamp("us", "UTC")),
        "n": pa.array([-1, 0, None], pa.timestamp("us")),
        "y": pa.array([-1, 19_000, None], pa.date32()),
        "s": pa.array([{"x": 1, "y": None}, {"x": None, "y": "a"}, None]),
        "a": pa.array([[1, None], [], None]),
        "p": pa.array([[("b", 2), ("a", None)], [], None], pa.map_(pa.string(), pa.int32())),
    }
    pq.write_table(pa.table(columns), tmp_path / "f.parquet")
    plan = read_plan.plan(table_folder.at(str(tmp_path)))
    table = [
        (part.name, canonical_type(column.type))
        for part, column in zip(plan.columns, columns.values(), strict=True)
    ]
    parts = in_common(table, table, spark_fingerprints.WORDS, lower=False)
    assert parts.left_out == ()
    queries = (
        ALL,
        Query(where=Condition("i", Comparison.NULL)),
        Query(where=Condition("i", Comparison.EQUAL, "1", "long")),
    )
    spark, here = SparkFingerprints(reader.table(plan)), PlanFingerprints(plan)
    asked = Fingerprint(parts.parts)
    for form in (
        asked,
        replace(asked, milliseconds=True),
        replace(asked, digits=3, by=(0,)),
        replace(asked, floats=FloatText.SHORTEST),
    ):
        sums = here.sums(form, queries)
        assert sums[0]
        assert spark.sums(form, queries) == sums
        (first, *_) = here.sums(replace(asked, digits=3), (ALL,))[0]
        few = replace(asked, digits=3, within=(first,))
        assert spark.sums(few, (ALL,)) == here.sums(few, (ALL,))
        (sums_of_few,) = here.sums(few, (ALL,))
        few = replace(few, rows=True)
        shown = with_places(spark.rows(few, ALL, sums_of_few))
        assert shown == with_places(here.rows(few, ALL, sums_of_few))


@pytest.mark.nightly
@pytest.mark.skipif(not FOREIGN_TABLES, reason=MISSING)
def test_spark_reads_tables_of_other_projects_as_this_process_does(reader: SparkReader) -> None:
    for table in FOREIGN_TABLES:
        for version in table.versions:
            try:
                plan = foreign_tables.plan(table, version)
                expected = with_places(table_rows.read(plan))
            except (FileFactError, UnreadableError):
                continue  # what is refused here is not given to Spark
            if carried_out := reader.carried_out(plan):
                shown = with_places(carried_out.table_rows())
                assert shown == expected, f"{table.name}, {version.name}"


def test_a_spark_of_the_version_of_a_reader_does_not_read(
    cache: Cache, progress: Progress, tmp_path: Path
) -> None:
    asked = ("spark-3.5.8-iceberg-1.10.1",)
    starting = spark_reader.start("spark-3.5.8=local[1]", asked, cache, tmp_path, progress)
    with pytest.raises(UsageProblem, match="spark-4"), starting:
        pass


def test_a_value_that_spark_decodes_otherwise_is_laid_to_spark(
    reader: SparkReader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(pa.table({"a": pa.array([1, 2], pa.int32())}), tmp_path / "f.parquet")
    declared = DeclaredColumns((("a", "bigint"),))
    plan = read_plan.plan(table_folder.at(str(tmp_path)), declared)
    assert reader.table(plan).table_rows().rows == ((1,), (2,))
    monkeypatch.setattr(spark_plan, "_cast", lambda sql, *_: f"cast({sql} + 1 as bigint)")
    with pytest.raises(SparkFaultError, match="reads a of row 0 as 2, PyArrow as 1"):
        reader.table(plan)
    faulty = SparkFingerprints(reader.table(plan, is_truth=False))
    asked = Fingerprint((ComparedPart(("a",), ("a",), parse_type("long")),))
    (sums,) = faulty.sums(asked, (ALL,))
    with pytest.raises(SparkFaultError, match="reads a of row 0 as 2, PyArrow as 1"):
        faulty.rows(replace(asked, rows=True), ALL, sums)


@contextmanager
def cluster(cache: Cache, progress: Progress, folder: Path) -> Iterator[str]:
    """Start a master and two workers on loopback; yield the address."""
    home = Path(str(find_spec("pyspark").origin)).parent  # type: ignore[union-attr]
    java = fetch.ensure(distributions.load("spark-3.5.8"), cache, progress).java_home
    around = {**os.environ, "JAVA_HOME": str(java), "SPARK_HOME": str(home)}
    around |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(folder / "work")}
    around |= {"SPARK_DAEMON_MEMORY": "256m"}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address, log = f"spark://127.0.0.1:{port}", folder / "master.log"
    bound = ("--host", "127.0.0.1", "--webui-port", "0")
    master = ("master.Master", *bound, "--port", str(port))
    worker = ("worker.Worker", *bound, "--cores", "1", "--memory", "1g", address)
    program = str(home / "bin" / "spark-class")
    with ExitStack() as stack, log.open("wb") as out:
        for kind, *options in (master, worker, worker):
            command = [program, f"org.apache.spark.deploy.{kind}", *options]
            running = subprocess.Popen(command, stdout=out, stderr=out, env=around)
            stack.callback(running.wait)
            stack.callback(running.terminate)
        registered = "Registering worker"
        until(lambda: log.read_text().count(registered) == WORKERS, f"no workers: see {log}")
        yield address


@pytest.mark.nightly
def test_a_cluster_with_two_workers_reads_the_same(
    cache: Cache, progress: Progress, tmp_path: Path
) -> None:
    plans = small_tables(_empty(tmp_path / "tables"))
    with (
        cluster(cache, progress, tmp_path) as address,
        spark_reader.start(address, (), cache, tmp_path, progress) as reader,
    ):
        for name in ("deletion_vectors", "partition_values", "merged_by_ordering", "widened"):
            shown = with_places(reader.table(plans[name]).table_rows())
            assert shown == with_places(table_rows.read(plans[name])), name
        ran = (tmp_path / "work").glob("app-*/*")
        assert len(list(ran)) == WORKERS


@pytest.mark.nightly
def test_a_reader_asks_by_the_master_of_a_cluster(
    cache: Cache, progress: Progress, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pq.write_table(pa.table({"a": [1, 2]}), _empty(tmp_path / "t") / "f.parquet")
    with cluster(cache, progress, tmp_path) as address:
        properties = f"{{spark.master: '{address}', spark.driver.host: 127.0.0.1}}"
        text = f"spark-of-ours:\n  like: spark-3.5.8\n  properties: {properties}\n"
        (tmp_path / "readers.yaml").write_text(text, encoding="utf-8")
        command = ["audit", str(tmp_path / "t"), "--reader", "spark-of-ours"]
        assert (
            main([*command, "--scenarios", str(tmp_path), "--run-dir", str(tmp_path / "run")]) == 0
        )
        assert len(list((tmp_path / "work").glob("app-*"))) == 1
    assert "All is right: spark-of-ours" in capsys.readouterr().out


def test_an_audit_has_spark_read_its_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pq.write_table(pa.table({"a": [1, 2]}), _empty(tmp_path / "t") / "f.parquet")
    command = ["audit", str(tmp_path / "t"), "--reader", "duckdb-1.5.5", "--spark", "local[1]"]
    assert main([*command, "--most-rows", "1", "--run-dir", str(tmp_path / "run")]) == 0
    assert "carries out a read plan" in capsys.readouterr().err
    (work,) = (tmp_path / "run").glob("spark-3.5.8-plans-*")
    assert [path.name for path in work.iterdir()] == ["jvm-0"]
