"""Measure audits: of large tables that Spark reads, and of many small ones (`bench_small_tables`).

A large table is written by Iceberg's own library in Spark: 20 columns, 40 files of three schemas,
deletes by position. Times are medians of three, of tables that are too large for datacompy those of
one time; processor seconds are those of all processes, and tell more where others use the machine
too. Datacompy is installed into the folder by pip.
"""

import os
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, replace
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import psutil

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.audit import spark_reader
from harness.audit.audit import AnswerJudge, PartOfTable
from harness.audit.columns_in_common import in_common
from harness.audit.large_tables import FingerprintReader, LargeTable
from harness.audit.limits import AuditLimits
from harness.audit.records import AuditedAnswer
from harness.audit.spark_fingerprints import SparkFingerprints
from harness.audit.spark_plan import FILE, POSITION, literal, quoted
from harness.audit.spark_reader import TIMEOUT_S, SparkReader, SparkTable
from harness.audit.table_rows import TableRows
from harness.audit.tables import PinnedTable, pinned
from harness.core.progress import Progress
from harness.core.texts import counted
from harness.engines.api import Reply
from harness.engines.spark.engine import FINGERPRINTS, SparkConnection
from harness.engines.spark.session import Session
from harness.model.fingerprint import Fingerprint
from harness.model.query import ALL, Query
from tools import bench_small_tables
from tools.shared import Cost, table

Result = TypeVar("Result")
PROFILE: Final = "audit"
SPARK: Final = "spark-3.5.8-iceberg-1.10.1=local[2]"
FILES: Final = (14, 13, 13)
TIMES: Final = 3
ERRORS: Final = 48
SWAPS: Final = 2
MOST_COMPARED: Final = 10_000_000
"""Datacompy compares so many rows once; of larger tables the sums alone are made, once."""
DATACOMPY: Final = ("datacompy==1.1.0", "pyspark==3.5.8", "setuptools<81")
HEAP: Final = "8g"
COMPARE: Final = """
import sys, time
from pyspark.sql import SparkSession
from datacompy.spark import SparkSQLCompare
heap, first, second, times = sys.argv[1:]
spark = (SparkSession.builder.master("local[2]").config("spark.driver.memory", heap)
    .config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC")
    .config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC").getOrCreate())
def cpu():
    with open(f"/proc/{spark.sparkContext._gateway.proc.pid}/stat") as file:
        return sum(map(int, file.read().rpartition(")")[2].split()[11:13])) / 100
for _ in range(int(times)):
    began, used = time.monotonic(), cpu()
    parts = "*", "s.x as sx", "s.y as sy"  # it compares no structs
    frames = [spark.read.parquet(p).selectExpr(*parts).drop("s") for p in (first, second)]
    SparkSQLCompare(spark, *frames, join_columns=["id"]).report()
    print("took", time.monotonic() - began, cpu() - used, flush=True)
"""


def _cpu() -> float:
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def report(folder: Path, sizes: Sequence[int], small: int) -> Iterator[str]:
    for rows in sizes:
        (folder / str(rows)).mkdir()
        with spark_reader.start(SPARK, (), Cache.default(), folder, Progress()) as reader:
            yield from _LargeTables(folder / str(rows), rows, reader).report()
    if small:
        yield from bench_small_tables.report(folder / "small", small)


class _LargeTables:
    """One table, and what is measured of it."""

    def __init__(self, folder: Path, rows: int, reader: SparkReader) -> None:
        self.folder, self.rows, self.reader = folder, rows, reader
        self.times = TIMES if rows <= MOST_COMPARED else 1
        self.lines = list[tuple[str, Cost]]()
        spark = distributions.load(SPARK.partition("=")[0])
        self.java = fetch.ensure(spark, Cache.default(), Progress()).java_home

    def timed(self, what: str, work: Callable[[], Result], times: int = 0) -> tuple[Cost, Result]:
        """Return what some work costs, the median, and what came of it."""
        costs = []
        for _ in range(times or self.times):
            began, used = time.monotonic(), _cpu()
            result = work()
            costs.append(Cost(time.monotonic() - began, _cpu() - used))
        return self.noted(what, costs), result

    def noted(self, what: str, costs: Sequence[Cost]) -> Cost:
        print(what, *costs, file=sys.stderr, flush=True)
        median = Cost(*(statistics.median(of) for of in zip(*map(astuple, costs), strict=True)))
        self.lines.append((what, median))
        return median

    def report(self) -> Iterator[str]:
        _, of = self.timed("Iceberg writes the table", self.written, 1)
        _, planned = self.timed(
            "to plan, count and read a sample again", lambda: self.planned(of), 1
        )
        table_ = self.table(of, planned)
        asked = Fingerprint(
            in_common(table_.columns, table_.columns, FINGERPRINTS, lower=False).parts
        )
        by_plan, sums = self.timed(
            "fingerprints by the read plan", lambda: table_.truth.sums(asked, (ALL,))
        )
        notes = list(self.compared(of, planned, asked, by_plan, sums)) if self.times > 1 else []
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        heap = f"Spark {spark_reader.HEAP_MB:,} MB of heap"
        notes.append(f"the harness itself had {memory:,} MB of memory at most, {heap}")
        yield from (f"## {counted(self.rows, 'row', 'rows')}, {sum(FILES)} files", "")
        cells = ([what, f"{cost.seconds:.1f}", f"{cost.cpu:.1f}"] for what, cost in self.lines)
        yield from table(["what", "seconds", "processor seconds"], cells)
        yield from ("", *(f"- {line}" for line in notes), "")

    def compared(
        self, of: PinnedTable, planned: SparkTable, asked: Fingerprint, ours: Cost, sums: object
    ) -> Iterator[str]:
        planted = _Planted(planned, self.rows)
        for name, source in (("right", planned.view), ("given", f"({planted.source()})")):
            shown = ", ".join(quoted(part.name) for part in planned.plan.plan.columns)
            path, into = self.folder / name, f"select {shown} from {source}"
            planned.run(f"insert overwrite directory '{path}' using parquet {into}")
            planned.run(f"create database `{name}{self.rows}`")
            planned.run(f"create view `{name}{self.rows}`.t as select * from parquet.`{path}`")
        plain = SparkFingerprints(replace(planned, view=f"parquet.`{self.folder / 'right'}`"))
        with _vectorised(self.reader.session):
            scan, others = self.timed(
                "a plain scan for the same ones", lambda: plain.sums(asked, (ALL,))
            )
        if sums != others:
            raise AssertionError("the plan and the plain scan have other fingerprints")
        yield f"by the read plan {ours.times(scan)} as by a plain scan"

        def audit() -> AuditedAnswer:
            return self.asked(self.table(of, self.planned(of)), f"given{self.rows}")

        whole, answer = self.timed(f"the audit of a table with {ERRORS} errors", audit)
        planted.check(answer)
        for number in range(SWAPS):
            file = planted.swap(number)
            swapped = self.asked(self.table(of, planned), "global_temp")
            there = {(one.file, one.column) for one in swapped.differences}
            if there != {(file, "n1"), (file, "n2")}:
                raise AssertionError(f"swapped in {file}, and {there} was found")
        yield f"all of {ERRORS} errors and {SWAPS} swaps were found, each with its file and row"
        try:
            other = self.datacompy()
        except subprocess.CalledProcessError as problem:
            yield f"datacompy with {HEAP} of heap ended with an error: {problem.stderr[-200:]!r}"
        else:
            cost = self.noted(f"datacompy, {HEAP} of heap", other)
            yield f"datacompy takes {cost.times(whole)} as the audit"

    def written(self) -> PinnedTable:
        run = self.reader.session.run
        catalog = f"spark.sql.catalog.c{self.rows}"
        for setting in (
            "=org.apache.iceberg.spark.SparkCatalog",
            ".type=hadoop",
            f".warehouse={self.folder}",
            # Iceberg asks the file system for its scheme, which the reader's has none of.
            ".hadoop.fs.file.impl=org.apache.hadoop.fs.LocalFileSystem",
            ".hadoop.fs.file.impl.disable.cache=true",
        ):
            run(f"set {catalog}{setting}", timeout_s=TIMEOUT_S)
        for statement in _statements(f"c{self.rows}.db.t", self.rows):
            run(statement, timeout_s=TIMEOUT_S)
        (table_,) = pinned(str(self.folder / "db" / "t"), ())
        if isinstance(table_, PinnedTable):
            return table_
        raise AssertionError(table_.unread)

    def planned(self, of: PinnedTable) -> SparkTable:
        return self.reader.table(of.plan())

    def table(self, of: PinnedTable, planned: SparkTable) -> LargeTable:
        plan, by_spark = planned.plan.plan, partial(SparkFingerprints.of, planned)
        facts, size = of.facts, planned.size
        return LargeTable("", facts, plan, size, sum(FILES), (ALL,), by_spark, key="id")

    def asked(self, of: LargeTable, database: str) -> AuditedAnswer:
        """Ask for the sums of what lies in a database instead of the table."""

        def judge(rows: TableRows, query: Query, reply: Reply) -> AuditedAnswer:
            part = PartOfTable(database, of.format, rows)
            return AnswerJudge(part, lower=False, milliseconds=False).judge(query, reply)

        shown, spark = replace(of, database=database), _Vectorised(self.reader.session)
        words = FINGERPRINTS, judge, AuditLimits(timeout_s=TIMEOUT_S)
        return FingerprintReader(shown, spark, *words, lower=False, milliseconds=False).answer(ALL)

    def datacompy(self) -> Sequence[Cost]:
        """Return what it takes for the two tables."""
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--target")
        packages = self.folder / "packages"
        subprocess.run([*pip, str(packages), *DATACOMPY], check=True)
        command = [sys.executable, "-W", "ignore", "-c", COMPARE, HEAP]
        command += [str(self.folder / name) for name in ("right", "given")]
        around = {**os.environ, "PYTHONPATH": str(packages), "JAVA_HOME": str(self.java)}
        times = TIMES if self.rows < MOST_COMPARED else 1
        done = subprocess.run(
            [*command, str(times)], check=True, capture_output=True, text=True, env=around
        )
        lines = [line.split() for line in done.stdout.splitlines()]
        return [Cost(*map(float, line[1:])) for line in lines if line[:1] == ["took"]]


@contextmanager
def _vectorised(session: Session) -> Iterator[None]:
    """Read as Spark does where nobody sets anything; what carries out plans does not."""
    setting = "set spark.sql.parquet.enableVectorizedReader"
    session.run(f"{setting}=true", timeout_s=TIMEOUT_S)
    try:
        yield
    finally:
        session.run(f"{setting}=false", timeout_s=TIMEOUT_S)


class _Vectorised(SparkConnection):
    def run(
        self, statement: str, *, timeout_s: float, tables: Sequence[tuple[str, str]] = ()
    ) -> Reply:
        with _vectorised(self._session):
            return super().run(statement, timeout_s=timeout_s, tables=tables)


class _Planted:
    """Errors at random in what Spark shows of a table."""

    def __init__(self, table_: SparkTable, rows: int) -> None:
        self.table, draw = table_, random.Random(47)  # noqa: S311 - the same each time
        drawn = ", ".join(str(draw.randrange(rows)) for _ in range(4 * ERRORS))
        place = f"{quoted(FILE)}, {quoted(POSITION)}"
        drawn_rows = table_.run(f"select id, {place} from {table_.view} where id in ({drawn})").rows
        there = {id_: (table_.plan.files[file].path, at) for id_, file, at in drawn_rows}
        self.places = dict(draw.sample(sorted(there.items()), ERRORS))
        ids = list(self.places)
        self.changed, self.lost, self.twice = ids[::3], ids[1::3], ids[2::3]
        self.files = draw.sample(sorted({path for path, _ in there.values()}), SWAPS)

    def source(self) -> str:
        """Return a query for all rows, some of which are not as they should be."""
        changed, lost, twice = (
            f"id in ({', '.join(map(str, ids))})" for ids in (self.changed, self.lost, self.twice)
        )
        names = [quoted(part.name) for part in self.table.plan.plan.columns]
        shown = {"`t0`": f"if({changed}, concat(t0, '!'), t0) as t0"}
        rows, view = ", ".join(shown.get(name, name) for name in names), self.table.view
        more = f"select {', '.join(names)} from {view} where {twice}"
        return f"select {rows} from {view} where not {lost} union all {more}"

    def check(self, answer: AuditedAnswer) -> None:
        """Raise AssertionError unless an answer is wrong in the errors alone."""
        expected = {self.places[id_] for id_ in (*self.changed, *self.lost)}
        there = {(one.file, one.position) for one in answer.differences if one.file}
        twice = {int(one.row[1:].partition(",")[0]) for one in answer.differences if not one.file}
        if (there, twice, answer.total) != (expected, {*self.twice}, ERRORS):
            raise AssertionError(f"{there ^ expected}, {twice ^ {*self.twice}}: {answer}")

    def swap(self, number: int) -> str:
        """Show the table with two columns swapped in a file; return its path."""
        path, view = self.files[number], self.table.view
        (file,) = {name for name, of in self.table.plan.files.items() if of.path == path} & {
            row[0] for row in self.table.run(f"select distinct {quoted(FILE)} from {view}").rows
        }
        names = [part.name for part in self.table.plan.plan.columns]
        other = {"n1": "n2", "n2": "n1"}
        there = f"{quoted(FILE)} = {literal(file)}"
        shown = (f"if({there}, {other.get(n, n)}, {n}) as {quoted(n)}" for n in names)
        listed = ", ".join(shown)
        self.table.run(f"create or replace global temporary view t as select {listed} from {view}")
        return path


def _statements(name: str, rows: int) -> Iterator[str]:
    """Yield what writes a table: renamed, dropped, promoted and added columns between inserts."""
    types = {
        "id": "bigint",
        **{f"n{at}": "int" for at in range(6)},
        **{f"d{at}": "decimal(12, 2)" for at in range(4)},
        **{f"t{at}": "string" for at in range(5)},
        **{f"m{at}": "timestamp" for at in range(3)},
        "s": "struct<x: bigint, y: string>",
    }
    number = "pmod(xxhash64(id, {}), {})"
    values = {
        "id": "id",
        **{f"n{at}": f"cast({number.format(at, 2**31)} as int)" for at in range(6)},
        **{
            f"d{at}": f"cast({number.format(at + 6, 10**9)} / 100 as decimal(12, 2))"
            for at in range(4)
        },
        **{f"t{at}": f"concat('text ', {number.format(at + 10, 10**9)})" for at in range(5)},
        **{f"m{at}": f"timestamp_micros({number.format(at + 15, 2 * 10**15)})" for at in range(3)},
        "s": "named_struct('x', id, 'y', concat('text ', id % 1000))",
    }
    columns = ", ".join(f"{column} {type_}" for column, type_ in types.items())
    properties = {
        "format-version": 2,
        "write.delete.mode": "merge-on-read",
        "write.distribution-mode": "none",
        "write.target-file-size-bytes": 2**31 - 1,
    }
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    yield f"create table {name} ({columns}) using iceberg tblproperties ({listed})"
    changes = (
        ("rename column t1 to t1_now", "drop column n5"),
        ("alter column n0 type bigint", "add column added string"),
        (),
    )
    begin = 0
    for files, after in zip(FILES, changes, strict=True):
        end = begin + rows * files // sum(FILES)
        shown = ", ".join(values.values())
        yield f"insert into {name} select {shown} from range({begin}, {end}, 1, {files})"
        yield from (f"alter table {name} {change}" for change in after)
        if begin == 0:
            values.pop("n5")
        else:
            values["added"] = "concat('added ', id)"
        begin = end
    yield f"delete from {name} where pmod(xxhash64(id), 100) = 0"
