from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.core.records import OutcomeKind, Refusal
from harness.engines.api import NoAnswerError, RefusedError, Reply
from harness.engines.spark.session import Library
from harness.runtime.api import Served
from harness.scenario.definition import Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.row_writes import Insert
from harness.scenario.operations.unfinished_writes import BeginWrite, CommitWrite
from harness.write import stopped_writer, write_variants
from harness.write.state_records import VariantResult
from harness.write.stopped_writer import LOCK, NotWaitingError
from harness.write.writer_pool import SqlWriter, WriteTarget
from tests.builders.written_variant import Simulated, kinds, variant

ERROR = Refusal("broken", "no such table")


def take(lock: Path, timeout_s: float) -> None:
    wait_for(lock.exists, timeout_s)
    while lock.exists():
        with lock.open("rb") as file:
            file.read()


def wait_for(condition: Callable[[], bool], timeout_s: float) -> None:
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end
        threading.Event().wait(0.01)


@dataclass
class Locked:
    ends: Exception | None = None
    waits: threading.Event = field(default_factory=threading.Event)
    killed: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        if self.ends:
            raise self.ends
        self.wait()
        raise NoAnswerError("the process is gone")

    def wait(self) -> None:
        self.waits.set()
        self.killed.wait(60)

    def kill(self) -> None:
        self.killed.set()


@dataclass
class Piped(Locked):
    pipe: Path = Path()

    def wait(self) -> None:
        with self.pipe.open("rb"):  # waits for who opens it for writing
            super().wait()


def run(spark: Piped) -> None:
    stopped_writer.kill_at_pipe(spark, spark.run, spark.pipe)  # type: ignore[arg-type]


@pytest.fixture(name="pipe")
def _pipe(tmp_path: Path) -> Path:
    return tmp_path / "t.pipe"


def test_each_write_of_a_table_is_killed_as_soon_as_it_waits(pipe: Path) -> None:
    for _ in range(2):
        spark = Piped(pipe=pipe)
        with pytest.raises(RefusedError, match="killed before the commit"):
            run(spark)
        assert spark.killed.is_set()
        assert stat.S_ISFIFO(os.stat(pipe).st_mode)  # noqa: PTH116 - the pipe itself


@pytest.mark.parametrize("ends", [RefusedError(ERROR, 1.0), NoAnswerError("it died by itself")])
def test_one_that_ends_before_it_waits_is_not_killed(pipe: Path, ends: Exception) -> None:
    spark = Piped(ends, pipe=pipe)
    with pytest.raises(type(ends), match=str(ends)):
        run(spark)
    assert not spark.killed.is_set()


@dataclass
class Catalog:
    spark: Locked
    locked: bool = False

    def lock(self, database: str, table: str) -> int:
        self.locked = (database, table) == ("d", "t")
        return 7

    def is_waited_for(self, database: str, table: str) -> bool:
        return self.locked and (database, table) == ("d", "t") and self.spark.waits.is_set()

    def unlock(self, _: str, __: str, only: int | None = None) -> None:
        assert only in {None, 7}, "the writer that waits keeps its own"
        self.locked = False


@pytest.mark.parametrize("ends", [None, RefusedError(ERROR, 0.0)])
def test_who_waits_for_a_lock_is_killed_and_no_lock_stays(ends: Exception | None) -> None:
    spark = Locked(ends)
    catalog = Catalog(spark)
    message = "no such table" if ends else "killed before the commit"
    with pytest.raises(RefusedError, match=message):
        stopped_writer.kill_at_lock(spark, spark.run, catalog, "d")  # type: ignore[arg-type]
    assert spark.killed.is_set() is not bool(ends)
    assert not catalog.locked


def test_who_waits_for_a_lock_goes_on_when_it_is_released_and_its_error_is_told() -> None:
    trino = Locked()
    catalog = Catalog(trino)
    waiting = stopped_writer.begin_at_lock(trino.run, catalog, "d")  # type: ignore[arg-type]
    assert catalog.locked
    trino.kill()  # it ends as soon as nobody holds it
    with pytest.raises(NoAnswerError, match="the process is gone"):
        waiting.commit()
    assert not catalog.locked


@pytest.mark.parametrize("ends", [RefusedError(ERROR, 0.0), None])
def test_who_ends_without_waiting_leaves_no_lock(ends: Exception | None) -> None:
    catalog = Catalog(Locked())

    def run() -> None:
        if ends:
            raise ends

    with pytest.raises(type(ends) if ends else NotWaitingError):
        stopped_writer.begin_at_lock(run, catalog, "d")  # type: ignore[arg-type]
    assert not catalog.locked


@dataclass
class Session:
    spark: Transaction

    def call(self, library: Library, request: Mapping[str, str], *, timeout_s: float) -> object:
        assert (library, request["table"], timeout_s > 0) == (Library.DELTA, "d.t", True)
        self.spark.calls.append(request["method"])
        return self.spark.waits.is_set()


@dataclass
class Transaction(Locked):
    calls: list[str] = field(default_factory=list)

    def run(self) -> None:
        assert self.calls[0] == "hold_commit"
        super().run()

    def open(self, _: Mapping[str, str]) -> Session:
        return Session(self)


REFUSED = RefusedError(ERROR, 0.0), "no such table"
SILENT = NoAnswerError("it died by itself"), "it died by itself"


@pytest.mark.parametrize(("ends", "message"), [(None, "killed before the commit"), REFUSED, SILENT])
def test_who_comes_to_the_commit_is_killed(ends: Exception | None, message: str) -> None:
    spark = Transaction(ends)
    with pytest.raises((RefusedError, NoAnswerError), match=message):
        stopped_writer.kill_at_commit(spark, Session(spark), spark.run, "d")  # type: ignore[arg-type]
    assert spark.killed.is_set() is (ends is None)


@dataclass(frozen=True, slots=True)
class HiveServer(Served):
    running: Process  # type: ignore[assignment]
    received: list[str] = field(default_factory=list)

    def connect(self, _: Mapping[str, str]) -> HiveServer:
        return self

    def run(self, sql: str, *, timeout_s: float) -> Reply:
        assert timeout_s > 0
        self.received.append(sql)
        if not sql.startswith("set "):
            self.running.run()
        return Reply((), (), 0.1)

    def close(self) -> None:
        self.received.append("close")


@dataclass
class Process(Locked):
    def stop(self, grace_s: float) -> None:
        assert grace_s == 0
        self.kill()


@dataclass
class Relay:
    process: Process
    holds: bool = False

    @contextmanager
    def withholding(self) -> Iterator[None]:
        self.holds = True
        yield
        self.holds = False

    def has_withheld(self) -> bool:
        return self.holds and self.process.waits.is_set()


def in_transaction(process: Process, relay: Relay | None) -> list[str]:
    server = HiveServer(process)
    writer = SqlWriter(server, 60.0, relay=relay)  # type: ignore[arg-type]
    with pytest.raises((RefusedError, NotWaitingError)) as raised:
        stopped_writer.kill_in_transaction(writer, {"a": "b"}, "insert", 60.0)
    return [*server.received, str(raised.value)]


REFUSAL = RefusedError(ERROR, 0.0), "broken: no such table"


@pytest.mark.parametrize(
    ("ends", "last"), [(None, "killed: the process was killed before the commit"), REFUSAL]
)
def test_a_server_is_killed_once_its_commit_is_held(ends: Exception | None, last: str) -> None:
    process = Process(ends)
    assert in_transaction(process, Relay(process)) == ["set a=b", "insert", "close", last]
    assert process.killed.is_set() is (ends is None)


def test_a_server_whose_commit_nobody_holds_is_sent_nothing() -> None:
    message = "the commit of a server in a container cannot be held"
    assert in_transaction(Process(), None) == [message]


CONFLICT = Refusal("HoodieWriteConflictException", "overlapping writes")
OPERATIONS: tuple[Operation, ...] = (
    Insert((1,)),
    BeginWrite(update=(1,)),
    Insert((2,)),
    CommitWrite(),
    Insert((3,)),
)


@dataclass
class Second:
    first: Simulated
    refuses: bool = False
    waits: bool = True
    ends: Exception | None = None
    number: int = 140
    request: dict[str, str] = field(default_factory=dict)
    went_on: threading.Event = field(default_factory=threading.Event)

    def open(self, request: dict[str, str]) -> Second:
        self.request = request
        return self

    def run(self, _: str, *, timeout_s: float) -> None:
        if self.ends:
            raise self.ends
        assert self.first.folder is not None
        self.number += 10
        timeline = self.first.folder / ".hoodie"
        (timeline / f"{self.number}.commit.requested").touch()
        (timeline / f"{self.number}.inflight").touch()
        if self.waits:
            take(Path(self.request["hoodie.write.lock.filesystem.path"]) / LOCK, timeout_s)
        self.went_on.set()
        if self.refuses:
            raise RefusedError(CONFLICT, 1.0)
        (timeline / f"{self.number}.commit").touch()


def written(
    write_target: WriteTarget, second: Second, does: tuple[Operation, ...] = OPERATIONS
) -> VariantResult:
    writers = {1: second.first, 2: second}

    def writer_for(_: str, number: int = 1, /) -> object:
        return writers[number]

    steps = tuple(map(Step, does))
    return write_variants.write_variant(variant(steps=steps), write_target, writer_for)  # type: ignore[arg-type]


@pytest.fixture
def second() -> Second:
    made = iter(("100.commit", "200.commit", "300.commit"))
    return Second(Simulated(makes=lambda _: (next(made),)))


def test_a_write_that_waits_is_begun_and_its_commit_is_a_step_of_its_own(
    target: WriteTarget, second: Second
) -> None:
    records = written(target, second, (*OPERATIONS, *OPERATIONS[1::2])).records
    assert kinds(records) == ["applied"] * 8
    instants = ["", "100", "", "200", "150", "300", "", "160"]
    assert [state.outcome.instant for state in records] == instants


def test_one_that_ends_before_it_waits_is_an_error_at_once(
    target: WriteTarget, second: Second
) -> None:
    second.ends = RefusedError(ERROR, 1.0)
    assert written(target, second, OPERATIONS[:2]).records[2].outcome.refusal == ERROR
    target.folder.mkdir()
    second.ends, second.first = NoAnswerError("it died"), Simulated()
    with pytest.raises(write_variants.WriterSilent, match="it died"):
        written(target, second, OPERATIONS[:2])


def test_a_commit_that_is_refused_leaves_the_table_as_the_other_writer_left_it(
    target: WriteTarget, second: Second
) -> None:
    second.refuses = True
    records = written(target, second).records
    assert kinds(records) == [*["applied"] * 4, "refused", "applied"]
    assert records[4].outcome.refusal == CONFLICT


def test_of_a_write_that_did_not_wait_nothing_is_known(target: WriteTarget, second: Second) -> None:
    second.waits = False
    with pytest.raises(write_variants.WriterSilent, match="did not wait for its lock"):
        written(target, second)


def test_a_write_that_no_step_commits_is_let_go(target: WriteTarget, second: Second) -> None:
    records = written(target, second, OPERATIONS[:3]).records
    assert records[-1].outcome.kind is OutcomeKind.APPLIED
    assert second.went_on.wait(60)
