"""`tools/deaths.py`: its runs, collected in several goes, and when it strikes."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from harness.cli import plan_options
from harness.plan.case_filter import select
from harness.scenario.cells import Plan
from harness.write import write_variants
from tools.deaths_outcomes import OutcomeLog

RUNS = 200


@pytest.fixture
def kinds() -> ModuleType:
    return importlib.import_module("tools.deaths_kinds")


@pytest.fixture
def runs() -> ModuleType:
    return importlib.import_module("tools.deaths_runs")


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
    kind = kinds.planned(1, 1, "")[1]
    OutcomeLog(tmp_path, 1).note(1, kind, "went on by itself", 30.4)
    assert OutcomeLog(tmp_path, 1).done() == {1: "went on by itself"}
    assert OutcomeLog(tmp_path, 2).done() == {}


def test_one_of_every_kind_is_the_first_of_its_kind(kinds: ModuleType) -> None:
    every, one = kinds.planned(RUNS, 1, ""), kinds.planned(RUNS, 1, "", 1)
    assert list(one.values()) == list(dict.fromkeys(every.values()))
    assert one.items() < every.items()
    presto = kinds.planned(RUNS, 1, "^prestodb-0.283 ", 1)
    assert [(any_.target, any_.stops) for any_ in sorted(presto.values(), key=str)] == [
        ("prestodb-0.283", False),
        ("prestodb-0.283", True),
    ]


@cache
def whole(folder: str, profile: str) -> Plan:
    return plan_options.make([Path(folder)], profile, "")


def plan_of(cells: tuple[str, ...]) -> Plan:
    """Make the plan that a verb would make of these options."""
    folder, _, profile, _, selected = cells
    return select(whole(folder, profile), selected)


def test_a_run_asks_the_one_engine_of_its_kind_and_has_what_is_struck(kinds: ModuleType) -> None:
    for kind in kinds.SHARES:
        plan = plan_of(kind.cells)
        assert {reader.distribution for reader in plan.readers} == {kind.reader}
        writers = (
            {name for variant in plan.variants for name in variant.writers} if kind.writes else ()
        )
        assert kind.target in {"harness", kinds.METASTORE, kind.reader, *writers}


@pytest.mark.parametrize("beside", ["READS_BESIDE", "ICEBERG_BESIDE"])
def test_some_tables_are_read_while_others_are_written(kinds: ModuleType, beside: str) -> None:
    reader = getattr(kinds, beside)
    plan = plan_of(kinds.DeathKind("harness", reader, writes=True).cells)
    assert len(plan.variants) == 3 * write_variants.AT_ONCE
    assert {cell.variant for cell in plan.cells} == {variant_.id for variant_ in plan.variants}
    writers = {name for variant in plan.variants for name in variant.writers}
    struck = {kind.target for kind in kinds.SHARES if kind.writes and kind.reader == reader}
    assert struck >= {"harness"} | writers


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
