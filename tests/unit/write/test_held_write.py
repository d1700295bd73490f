from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.core.records import Refusal
from harness.engines.api import NoAnswerError, RefusedError
from harness.write import stopped_writer
from harness.write.stopped_writer import NotWaitingError, WaitingWrite

ERROR = Refusal("broken", "no such table")


@dataclass
class Simulated:
    folder: Path
    before: Exception | None = None
    after: Exception | None = None
    locks: bool = True
    writes: threading.Event = field(default_factory=threading.Event)
    committed: threading.Event = field(default_factory=threading.Event)

    def run(self, _: str, *, timeout_s: float) -> None:
        if self.before:
            raise self.before
        self.writes.set()
        if self.locks:
            take(self.folder / stopped_writer.LOCK, timeout_s)
        if self.after:
            raise self.after
        self.committed.set()


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


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    return tmp_path / "t.held"


def begun(session: Simulated) -> WaitingWrite:
    return stopped_writer.begin_waiting(session, "merge", session.folder, session.writes.is_set, 60)  # type: ignore[arg-type]


def test_it_waits_until_it_is_told_to_commit(folder: Path) -> None:
    session = Simulated(folder)
    waiting_write = begun(session)
    assert not session.committed.is_set()
    waiting_write.commit()
    assert session.committed.is_set()


def test_a_refused_commit_is_an_error(folder: Path) -> None:
    waiting_write = begun(Simulated(folder, after=RefusedError(ERROR, 1.0)))
    with pytest.raises(RefusedError, match="no such table"):
        waiting_write.commit()


@pytest.mark.parametrize("ends", [RefusedError(ERROR, 1.0), NoAnswerError("it died")])
def test_one_that_ends_before_it_waits_is_an_error_at_once(folder: Path, ends: Exception) -> None:
    with pytest.raises(type(ends), match=str(ends)):
        begun(Simulated(folder, before=ends))


def test_one_that_takes_no_lock_was_not_held(folder: Path) -> None:
    with pytest.raises(NotWaitingError, match="did not wait for its lock"):
        begun(Simulated(folder, locks=False))


def test_a_second_write_of_the_same_table_waits_too(folder: Path) -> None:
    for _ in range(2):
        begun(Simulated(folder)).commit()


def test_one_that_no_step_commits_is_let_go(folder: Path) -> None:
    session = Simulated(folder)
    waiting_write = begun(session)
    waiting_write.release()
    assert session.committed.wait(60)
    waiting_write.release()
