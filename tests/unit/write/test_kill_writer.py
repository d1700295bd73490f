from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from harness.core.records import Refusal
from harness.engines.api import NoAnswerError, RefusedError, Reply
from harness.engines.spark.session import Library
from harness.runtime.api import Served
from harness.write import stopped_writer
from harness.write.stopped_writer import NotWaitingError
from harness.write.writer_pool import SqlWriter

ERROR = Refusal("broken", "no such table")


@dataclass
class Simulated:
    pipe: Path
    ends: Exception | None = None
    killed: threading.Event = field(default_factory=threading.Event)

    def run(self, _: str, *, timeout_s: float) -> None:
        if self.ends:
            raise self.ends
        with self.pipe.open("rb"):  # waits for who opens it for writing
            self.killed.wait(timeout_s)
        raise NoAnswerError("the process is gone")

    def kill(self) -> None:
        self.killed.set()


def run(spark: Simulated) -> None:
    ask = partial(spark.run, "insert", timeout_s=60)
    stopped_writer.kill_at_pipe(spark, ask, spark.pipe)  # type: ignore[arg-type]


@pytest.fixture(name="pipe")
def _pipe(tmp_path: Path) -> Path:
    return tmp_path / "t.pipe"


def test_it_is_killed_as_soon_as_it_waits(pipe: Path) -> None:
    spark = Simulated(pipe)
    with pytest.raises(RefusedError, match="killed before the commit"):
        run(spark)
    assert spark.killed.is_set()
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)  # noqa: PTH116 - the pipe itself


def test_a_second_write_of_the_same_table_has_a_pipe_of_its_own(pipe: Path) -> None:
    for _ in range(2):
        with pytest.raises(RefusedError, match="killed"):
            run(Simulated(pipe))


@pytest.mark.parametrize("ends", [RefusedError(ERROR, 1.0), NoAnswerError("it died by itself")])
def test_one_that_ends_before_it_waits_is_not_killed(pipe: Path, ends: Exception) -> None:
    spark = Simulated(pipe, ends)
    with pytest.raises(type(ends), match=str(ends)):
        run(spark)
    assert not spark.killed.is_set()


@dataclass
class Locked:
    ends: Exception | None = None
    waits: threading.Event = field(default_factory=threading.Event)
    killed: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        if self.ends:
            raise self.ends
        self.waits.set()
        self.killed.wait(60)
        raise NoAnswerError("the process is gone")

    def kill(self) -> None:
        self.killed.set()


@dataclass
class Catalog:
    spark: Locked
    locked: bool = False

    def lock(self, database: str, table: str) -> None:
        self.locked = (database, table) == ("d", "t")

    def is_waited_for(self, database: str, table: str) -> bool:
        return self.locked and (database, table) == ("d", "t") and self.spark.waits.is_set()

    def unlock(self, _: str, __: str) -> None:
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


@pytest.mark.parametrize(("ends", "told"), [(None, "killed before the commit"), REFUSED, SILENT])
def test_who_comes_to_the_commit_is_killed(ends: Exception | None, told: str) -> None:
    spark = Transaction(ends)
    with pytest.raises((RefusedError, NoAnswerError), match=told):
        stopped_writer.kill_at_commit(spark, Session(spark), spark.run, "d")  # type: ignore[arg-type]
    assert spark.killed.is_set() is (ends is None)


@dataclass(frozen=True, slots=True)
class HiveServer(Served):
    running: Process  # type: ignore[assignment]
    told: list[str] = field(default_factory=list)

    def connect(self, _: Mapping[str, str]) -> HiveServer:
        return self

    def run(self, sql: str, *, timeout_s: float) -> Reply:
        assert timeout_s > 0
        self.told.append(sql)
        if not sql.startswith("set "):
            self.running.run()
        return Reply((), (), 0.1)

    def close(self) -> None:
        self.told.append("close")


@dataclass
class Process(Locked):
    def run(self) -> None:
        try:
            super().run()
        except NoAnswerError as silence:
            raise NoAnswerError(str(silence)) from None

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
    return [*server.told, str(raised.value)]


REFUSAL = RefusedError(ERROR, 0.0), "broken: no such table"


@pytest.mark.parametrize(
    ("ends", "said"), [(None, "killed: the process was killed before the commit"), REFUSAL]
)
def test_a_server_is_killed_once_its_commit_is_held(ends: Exception | None, said: str) -> None:
    process = Process(ends)
    assert in_transaction(process, Relay(process)) == ["set a=b", "insert", "close", said]
    assert process.killed.is_set() is (ends is None)


def test_a_server_whose_commit_nobody_holds_is_sent_nothing() -> None:
    message = "the commit of a server in a container cannot be held"
    assert in_transaction(Process(), None) == [message]
