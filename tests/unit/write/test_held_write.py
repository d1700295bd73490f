"""A second writer that waits at a named pipe; no Spark runs here."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.core.records import Refusal
from harness.engines.spark.session import SparkRefusal, SparkSilent
from harness.write import held_write
from harness.write.held_write import HeldWrite

ERROR = Refusal("broken", "no such table")


@dataclass
class Simulated:
    """Stands in for a session: a statement reads the files of the folder in order, then ends."""

    folder: Path
    before: Exception | None = None
    after: Exception | None = None
    committed: threading.Event = field(default_factory=threading.Event)

    def run(self, _: str, *, timeout_s: float) -> None:
        if self.before:
            raise self.before
        for each in sorted(self.folder.iterdir()):
            each.read_bytes()  # of a pipe: waits for who opens it for writing
        if self.after:
            raise self.after
        self.committed.set()


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    return tmp_path / "t.pipe"


def begun(session: Simulated) -> HeldWrite | None:
    return held_write.begin(session, "merge", session.folder, 60)  # type: ignore[arg-type]


def test_it_waits_until_it_is_told_to_commit(folder: Path) -> None:
    session = Simulated(folder)
    held = begun(session)
    assert held is not None
    assert not session.committed.is_set()
    held.commit()
    assert session.committed.is_set()


def test_a_refused_commit_is_an_error(folder: Path) -> None:
    held = begun(Simulated(folder, after=SparkRefusal(ERROR, 1.0)))
    assert held is not None
    with pytest.raises(SparkRefusal, match="no such table"):
        held.commit()


@pytest.mark.parametrize("ends", [SparkRefusal(ERROR, 1.0), SparkSilent("it died")])
def test_one_that_ends_before_it_waits_is_an_error_at_once(folder: Path, ends: Exception) -> None:
    with pytest.raises(type(ends), match=str(ends)):
        begun(Simulated(folder, before=ends))


def test_a_second_write_of_the_same_table_waits_too(folder: Path) -> None:
    for _ in range(2):
        held = begun(Simulated(folder))
        assert held is not None
        held.commit()


def test_one_that_no_step_commits_is_let_go(folder: Path) -> None:
    session = Simulated(folder)
    held = begun(session)
    assert held is not None
    held.let_go()
    assert session.committed.wait(60)
