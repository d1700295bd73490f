"""`tools/deaths.py`: its runs, collected in several goes, and the moments at which it strikes."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from harness import planning, write

TOOLS = Path(__file__).parents[2] / "tools"
RUNS = 200


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(TOOLS)


@pytest.fixture
def kinds() -> ModuleType:
    return importlib.import_module("deaths_kinds")


@pytest.fixture
def runs() -> ModuleType:
    return importlib.import_module("deaths_runs")


def test_the_shares_are_those_of_two_hundred_runs(kinds: ModuleType) -> None:
    assert sum(kinds.SHARES.values()) == RUNS
    assert set(kinds.planned(RUNS, 1, "").values()) == set(kinds.SHARES)


def test_a_run_is_the_same_however_many_are_asked_for(kinds: ModuleType) -> None:
    all_of_them = kinds.planned(RUNS, 1, "")
    assert kinds.planned(7, 1, "") == {n: all_of_them[n] for n in range(1, 8)}
    hangs = kinds.planned(RUNS, 1, "hangs")
    assert hangs.items() < all_of_them.items()
    assert all(kind.stops for kind in hangs.values())


def test_what_was_done_is_known_to_the_next_go(kinds: ModuleType, tmp_path: Path) -> None:
    kind, book = kinds.planned(1, 1, "")[1], importlib.import_module("deaths_book")
    book.Book(tmp_path, 1).note(1, kind, "went on by itself", 30.4)
    assert book.Book(tmp_path, 1).done() == {1: "went on by itself"}
    assert book.Book(tmp_path, 2).done() == {}


def test_some_tables_are_read_while_others_are_written(kinds: ModuleType) -> None:
    folder, _, profile = kinds.WRITING
    plan = planning.make([Path(folder)], profile, kinds.READS_BESIDE)
    assert len(plan.variants) == 3 * write.AT_ONCE
    assert {cell.variant for cell in plan.cells} == {each.id for each in plan.variants}
    struck = {kind.target for kind in kinds.SHARES if kind.writes}
    assert struck == {"harness", kinds.WRITER, kinds.METASTORE, kinds.READS_BESIDE}


@dataclass
class Passing:
    """A clock that sleeping alone moves on, and a run whose target is there at times."""

    times: tuple[tuple[float, float], ...]
    now: float = 0.0

    @property
    def process(self) -> Passing:
        return self

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def of(self, _: str) -> bool:
        return any(start <= self.now < end for start, end in self.times)

    def answers(self, _: str) -> bool:
        return self.now > self.times[-1][0] + 1

    def poll(self) -> int | None:
        return 0 if self.now > self.times[-1][1] + 5 else None


@pytest.mark.parametrize(
    ("wait_s", "answers", "then"),
    [
        (0.0, False, 5.0),
        (2.0, False, 7.0),
        (4.0, False, 21.0),  # 3 s of the first one, 1 s of the second
        (9.0, False, 26.0),
        (0.0, True, 21.0),
        (50.0, False, 35.0),  # too late: the run is over
    ],
)
def test_a_blow_falls_when_its_target_was_there_for_so_long_in_all(
    runs: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    wait_s: float,
    then: float,
    *,
    answers: bool,
) -> None:
    clock = Passing(((5.0, 8.0), (20.0, 30.0)))
    monkeypatch.setattr(runs, "time", clock)
    runs._wait(clock, "metastore", wait_s, answers=answers)
    assert clock.now == pytest.approx(then, abs=3 * runs.POLL_S)


def test_the_metastore_answers_once_both_do(runs: ModuleType, tmp_path: Path) -> None:
    one = runs.Run.__new__(runs.Run)
    one.folder, one._log, one._before = tmp_path / "run", tmp_path / "run.log", 0
    line = "hive-metastore-3.1.3 answers after 4.1 s\n"
    one._log.write_text("")
    assert not one.answers("metastore")
    (tmp_path / "run" / "engines" / "metastore-a_b").mkdir(parents=True)
    one._log.write_text(line)
    assert one.answers("metastore")
    (tmp_path / "run" / "engines" / "metastore-0").mkdir()
    assert not one.answers("metastore")
    one._log.write_text(line * 2)
    assert one.answers("metastore")
