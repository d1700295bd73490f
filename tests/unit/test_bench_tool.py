"""`tools/bench.py` counts what was measured where it was measured."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from harness import record, run
from harness.record import Answer

Moment = tuple[float, dict[str, object]]
TOOLS = Path(__file__).parents[2] / "tools"
NOTHING = Answer("v s0 r", "", void="no step has written anything yet")
KEPT = Answer("v s1 r", "select 1", reused=True)
ASKED = Answer("v s2 r", "select 1")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(TOOLS)
    return importlib.import_module("bench")


def watched(bench: ModuleType, *events: Moment) -> object:
    return bench.Watched(
        events=[
            importlib.import_module("bench_watch").Event(at, 0.0, facts) for at, facts in events
        ]
    )


@pytest.mark.parametrize(
    ("answers", "there"), [([], False), ([NOTHING, KEPT], False), ([NOTHING, ASKED], True)]
)
def test_the_first_answer_is_one_that_an_engine_gave(
    bench: ModuleType, tmp_path: Path, answers: list[Answer], *, there: bool
) -> None:
    answered = importlib.import_module("bench_watch").answered
    assert not answered(tmp_path)
    record.write_all(tmp_path / run.ANSWERS, answers)
    assert answered(tmp_path) is there


def test_asking_begins_with_the_start_of_the_metastore(bench: ModuleType) -> None:
    seen = watched(
        bench,
        (6.5, {"event": "note", "text": "hive-metastore-3.1.3 answers after 4.5 s"}),
        (20.0, {"event": "note", "text": "trino-476 answers after 13.0 s"}),
        (21.0, {"event": "start", "task": "ask cells"}),
        (32.0, {"event": "done", "task": "ask cells"}),
    )
    assert bench.asking_s(seen) == 30.0
    assert bench.starts(seen) == {"metastore": [4.5], "trino-476": [13.0]}
    assert bench.asking_s(watched(bench)) != bench.asking_s(watched(bench))  # NaN: nobody was asked


def test_what_is_asked_while_tables_are_written_is_no_phase_of_its_own(bench: ModuleType) -> None:
    ask: Moment = (2.0, {"event": "start", "task": "ask cells"})
    write: Moment = (3.0, {"event": "start", "task": "write tables"})
    written: Moment = (9.0, {"event": "done", "task": "write tables"})
    asked: Moment = (14.0, {"event": "done", "task": "ask cells"})
    phases = [*bench.phases(watched(bench, ask, write, written, asked))]
    assert [(name, seconds) for name, seconds, _ in phases[:-1]] == [
        ("up to write", 3.0),
        ("write, ask meanwhile", 6.0),
        ("ask the rest", 5.0),
    ]
    phases = [*bench.phases(watched(bench, ask, asked))]
    assert [phase[:2] for phase in phases[:-1]] == [("up to ask", 2.0), ("ask", 12.0)]


def test_two_metastores_at_one_time_count_together(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = importlib.import_module("bench_watch")
    sizes = {"metastore-0": 300, "metastore-a_b": 200, "hive-3.1.3-0": 700}
    monkeypatch.setattr(module, "works_in", lambda process: process.name)
    monkeypatch.setattr(
        module.psutil,
        "Process",
        lambda _: Process("", 50, [Process(*each) for each in sizes.items()]),
    )
    sampler = module._Sampler(1, tmp_path, 0.0)
    sampler._look()
    assert {name: used.peak_mb for name, used in sampler.used().items()} == {
        "harness": 50,
        "metastore": 500,
        "hive-3.1.3": 700,
    }
    assert sampler.peak_mb == 1250


class Process:
    """A process that uses so many MiB."""

    user = system = 1.0

    def __init__(self, name: str, mb: int, children: list[Process] | None = None) -> None:
        self.name, self.pid, self.pss, self._children = name, id(self), mb << 20, children or []

    def cpu_times(self) -> Process:
        return self

    def memory_full_info(self) -> Process:
        return self

    def children(self, *, recursive: bool) -> list[Process]:
        return self._children if recursive else []
