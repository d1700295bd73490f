"""Let Spark carry out read plans, and hold what it reads against what PyArrow does."""

from __future__ import annotations

import shutil
import socket
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Final, TypeVar

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.audit import file_rows
from harness.audit.file_rows import FileTable
from harness.audit.projection import full_type
from harness.audit.spark_plan import (
    FILE,
    POSITION,
    NotInSparkError,
    SparkPlan,
    literal,
    quoted,
    spellings,
)
from harness.audit.table_rows import TableRows
from harness.core import refusals
from harness.core.arrow import pa
from harness.core.errors import UsageProblem
from harness.core.progress import Progress, started
from harness.core.texts import counted
from harness.engines.api import NoAnswerError, RefusedError
from harness.engines.arrow_values import array_of
from harness.engines.spark import launch
from harness.engines.spark.session import Library, Session, SparkRows
from harness.formats.api import FileFactError
from harness.formats.read_plan import PlannedFile, ReadPlan
from harness.model.canonical import Value, same, text_of
from harness.runtime import memory, provide, work_folders
from harness.runtime.api import MetastoreUris

CHOICES: Final = ("spark-3.5.8", "spark-4.2.1", "spark-3.5.9")
"""The first one of which no reader has the version reads."""
HEAP_MB: Final = 4096
TIMEOUT_S: Final = 6 * 3600.0
SAMPLED_FILES: Final = 8
SAMPLED_ROWS: Final = 500
"""Of so many files so many rows of one row group are read once more."""
JVM: Final = "-XX:-DontCompileHugeMethods"
"""What Spark makes of many columns is one method, which HotSpot else leaves as it is."""
_CONF: Final = {
    # Else a file of checksums beside another one counts, which others than Hadoop do not renew.
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.caseSensitive": "true",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.adaptive.enabled": "true",
    # A condition on all columns has 2^n forms where a view gives each of n columns a name.
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.sql.parquet.enableVectorizedReader": "false",
    "spark.sql.parquet.filterPushdown": "false",
    "spark.executor.extraJavaOptions": JVM,
    # Days and moments are those that the files have, whoever wrote them.
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
}
SPARK: Final = "spark"
PLAN: Final = "plan"
"""Begins the names of folders of what Spark is given of a plan."""
UNKNOWN_TABLE: Final = "nothing is known of the table"
Answer = TypeVar("Answer")


class SparkFaultError(FileFactError):
    """Spark reads something else out of a file than PyArrow does."""


@dataclass(frozen=True)  # no slots: what is derived is kept
class SparkTable:
    """A table of which Spark has carried out the read plan, as a view; methods raise FileFactError.

    The view has the columns of the table, the file of each row and its position.
    """

    reader: SparkReader
    plan: SparkPlan
    view: str

    def run(self, sql: str) -> SparkRows:
        return self.reader.ask(lambda session: session.run(sql, timeout_s=TIMEOUT_S))

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """The numbers of rows by what the column `FILE` has."""
        sql = f"select {quoted(FILE)}, count(*) from {self.view} group by {quoted(FILE)}"
        return dict(self.run(sql).rows)

    @property
    def notes(self) -> tuple[str, ...]:
        """What Spark does not read itself."""
        reasons = Counter(self.plan.read_here.values()).items()
        return tuple(
            f"{counted(number, 'file')} not read by {self.reader.name} but in the harness's own "
            f"process, each in memory as a whole: {reason}"
            for reason, number in reasons
        )

    @property
    def size(self) -> int:
        return sum(self.counts.values())

    def rows(self, where: str = "true") -> Iterator[tuple[PlannedFile, int, tuple[Value, ...]]]:
        """Yield the rows for which an expression holds, with their places."""
        for *values, file, position in self.run(f"select * from {self.view} where {where}").rows:
            yield self.plan.files[file], position, tuple(values)

    def arrow_rows(self, where: str) -> TableRows:
        """Return the rows for which an expression holds, of Spark's files as PyArrow reads them."""
        sql = f"select {quoted(FILE)}, {quoted(POSITION)} from {self.view} where {where}"
        places: dict[str, list[int]] = {}
        for name, position in self.run(sql).rows:
            places.setdefault(name, []).append(position)
        ready = [name for name in places if not self._is_by_spark(self.plan.files[name])]
        listed = ", ".join(map(literal, ready))
        in_ready = f"({where}) and {quoted(FILE)} in ({listed})"
        files = self.table_rows(in_ready).files if ready else ()
        read = (
            file_rows.read(self.plan.plan, replace(file, only=tuple({*places[name]})))[0]
            for name, file in self.plan.files.items()
            if name in places and name not in ready
        )
        return TableRows(self.plan.plan, (*read, *files))

    def _is_by_spark(self, file: PlannedFile) -> bool:
        return self.plan.files.get(spellings(file)[0]) is file

    def table_rows(self, where: str = "true") -> TableRows:
        """Return the rows for which an expression holds, by their files and places."""
        places: dict[int, dict[int, tuple[Value, ...]]] = {}
        for file, position, row in self.rows(where):
            places.setdefault(id(file), {})[position] = row
        files = {id(file): file for file in self.plan.files.values()}
        tables = (self._file_table(f, places[at]) for at, f in files.items() if at in places)
        return TableRows(self.plan.plan, tuple(tables))

    def _file_table(self, file: PlannedFile, rows: Mapping[int, tuple[Value, ...]]) -> FileTable:
        positions, plan = sorted(rows), self.plan.plan
        columns = zip(*(rows[at] for at in positions), strict=True)
        arrays = [
            array_of(values, full_type(part, plan.arrow_type))
            for values, part in zip(columns, plan.columns, strict=True)
        ]
        names = [part.name for part in plan.columns]
        return FileTable(file, pa.Table.from_arrays(arrays, names), positions)

    def check(self) -> None:
        """Count the rows of all files, and read a sample of row groups by PyArrow as well."""
        self._check_counts()
        sample, names, tests = [], list[str](), []
        files = self.plan.by_spark
        for file, footer in files[:: max(1, len(files) // SAMPLED_FILES)][:SAMPLED_FILES]:
            chosen = len(file.path) % max(1, len(footer.groups))  # another one in another file
            first = sum(footer.groups[:chosen])
            rows = min(SAMPLED_ROWS, *footer.groups[chosen : chosen + 1], SAMPLED_ROWS)
            sample.append((file, range(first, first + rows)))
            spelt = list(map(literal, spellings(file)))
            names += spelt
            place = f"{quoted(POSITION)} between {first} and {first + rows - 1}"
            tests.append(f"({quoted(FILE)} in ({', '.join(spelt)}) and {place})")
        # By the names alone Spark passes over other files.
        where = f"{quoted(FILE)} in ({', '.join(names)}) and ({' or '.join(tests)})"
        shown = {id(of.file): of for of in self.table_rows(where if tests else "false").files}
        for file, positions in sample:
            self.check_rows(file, positions, shown.get(id(file)))

    def _check_counts(self) -> None:
        for file, footer in self.plan.by_spark:
            total = sum(footer.groups)
            most = total - sum(position < total for position in set(file.deleted))
            number = sum(self.counts.get(text, 0) for text in spellings(file))
            if number > most or (number < most and not file.deleted_values):
                raise SparkFaultError(
                    f"{file.path}: {self.reader.name} reads {number:,} rows of it, by its footer "
                    f"and deletes it has {most:,}: {UNKNOWN_TABLE}"
                )

    def check_rows(
        self, file: PlannedFile, positions: Sequence[int], shown: FileTable | None
    ) -> None:
        """Read rows by PyArrow as well; raises SparkFaultError where Spark shows other ones."""
        if not self._is_by_spark(file):
            return  # PyArrow has read it already
        rows = self._by_place(file_rows.read(self.plan.plan, replace(file, only=positions))[0])
        others = self._by_place(shown) if shown else {}
        for at in sorted(rows.keys() | others.keys()):
            if at not in rows or at not in others:
                by = self.reader.name if at in others else "PyArrow"
                raise SparkFaultError(
                    f"{file.path}: only {by} reads row {at} of it: {UNKNOWN_TABLE}"
                )
            for part, one, other in zip(self.plan.plan.columns, rows[at], others[at], strict=True):
                if not same(one, other):
                    raise SparkFaultError(
                        f"{file.path}: {self.reader.name} reads {part.name} of row {at} as "
                        f"{text_of(other)}, PyArrow as {text_of(one)}: {UNKNOWN_TABLE}"
                    )

    def _by_place(self, table: FileTable) -> Mapping[int, tuple[Value, ...]]:
        rows = TableRows(self.plan.plan, (table,)).rows
        return dict(zip(table.positions, rows, strict=True))


@dataclass(frozen=True)  # no slots: what is derived is kept
class SparkReader:
    name: str
    """Of its distribution."""
    session: Session
    folder: Path
    progress: Progress

    def table(self, plan: ReadPlan, *, is_truth: bool = True) -> SparkTable:
        """Carry out a plan; check what Spark reads where it is the table's own plan.

        Raises NotInSparkError: Spark lacks the type of a column. Raises FileFactError.
        """
        table = SparkTable(
            self,
            SparkPlan(plan, work_folders.numbered(self.folder, PLAN)),
            f"audited_{next(self._numbers)}",
        )
        with self.progress.count(f"{self.name} carries out a read plan", 2) as steps:
            request = table.plan.request(table.view)
            steps.advance()
            listed = self.ask(lambda s: s.call(Library.PLAN, request, timeout_s=TIMEOUT_S))
            if listed != [len(group["paths"]) for group in request["groups"]]:
                raise SparkFaultError(f"{self.name} does not find all files of the table")
            if is_truth:
                table.check()
            steps.advance()
        return table

    def carried_out(self, plan: ReadPlan) -> SparkTable | None:
        """Carry out a plan; None if Spark lacks the type of a column; raises FileFactError."""
        try:
            table = self.table(plan)
        except NotInSparkError as why:
            self.progress.note(f"this process reads a table: {why}")
            return None
        for note in table.notes:
            self.progress.note(note)
        return table

    def ask(self, question: Callable[[Session], Answer]) -> Answer:
        """Ask the session; raises FileFactError where it refuses, or does not answer."""
        try:
            return question(self.session)
        except RefusedError as problem:
            raise FileFactError(f"{self.name}: {refusals.text(problem.refusal)}") from problem
        except NoAnswerError as problem:
            raise FileFactError(f"{self.name}: {problem}") from problem

    @cached_property
    def _numbers(self) -> Iterator[int]:
        return count(1)


@contextmanager
def start(
    master: str, asked: Collection[str], cache: Cache, folder: Path, progress: Progress
) -> Iterator[SparkReader]:
    """Start a Spark that reads; raises EnvironmentProblem.

    `master`: as Spark calls it, with `DISTRIBUTION=` before it where that is not chosen here.
    `asked`: the distributions of the readers, none of which may be of its version.
    """
    chosen, sign, address = master.rpartition("=")
    versions = {distributions.load(name).version for name in asked if name.startswith(SPARK)}
    free = [name for name in CHOICES if distributions.load(name).version not in versions]
    if sign and distributions.load(chosen).version in versions:
        raise UsageProblem(f"--spark: a reader of {chosen} is asked; free are {', '.join(free)}")
    if not sign and not free:
        raise UsageProblem("--spark: readers of all versions are asked; name another one with =")
    distribution = _configured(distributions.load(chosen if sign else free[0]), address)
    runtime = provide.runtime(distribution, cache, progress)
    memory.check(distribution)
    work = work_folders.numbered(folder, f"{distribution.name}-plans")
    running = launch.spark(runtime, MetastoreUris(""), work_folders.numbered(work, "jvm"))
    with started(distribution.name, running, progress) as spark:
        try:
            yield SparkReader(distribution.name, spark.open({}), work, progress)
        finally:
            for written in work.glob(f"{PLAN}-*"):  # it may have rows of tables
                shutil.rmtree(written, ignore_errors=True)


def _configured(distribution: Distribution, master: str) -> Distribution:
    conf = {**_CONF, "spark.master": master}
    if host := _address(master):
        conf |= {"spark.driver.host": host, "spark.driver.bindAddress": host}
    settings = {**distribution.settings, "conf": conf, "jvm": ("-XX:+UseParallelGC", JVM)}
    return replace(distribution, heap_mb=HEAP_MB, memory_mb=HEAP_MB, settings=settings)


def _address(master: str) -> str:
    """Return this machine's address as a cluster's machines reach it; empty where it is here."""
    host, _, port = master.partition("://")[2].partition(",")[0].partition(":")
    if not port.isdecimal():
        return ""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as there:
        there.connect((host, int(port)))  # sends nothing
        return str(there.getsockname()[0])
