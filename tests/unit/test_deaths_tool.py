"""`tools/deaths.py` collects its runs in several goes."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
RUNS = 200


@pytest.fixture
def deaths(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(TOOLS)
    return importlib.import_module("deaths")


def test_the_shares_are_those_of_two_hundred_runs(deaths: ModuleType) -> None:
    assert sum(deaths.SHARES.values()) == RUNS
    assert set(deaths.planned(RUNS, 1, "").values()) == set(deaths.SHARES)


def test_a_run_is_the_same_however_many_are_asked_for(deaths: ModuleType) -> None:
    all_of_them = deaths.planned(RUNS, 1, "")
    assert deaths.planned(7, 1, "") == {n: all_of_them[n] for n in range(1, 8)}
    hangs = deaths.planned(RUNS, 1, "hangs")
    assert hangs.items() < all_of_them.items()
    assert all(kind.stops for kind in hangs.values())


def test_what_was_done_is_known_to_the_next_go(deaths: ModuleType, tmp_path: Path) -> None:
    kind = deaths.planned(1, 1, "")[1]
    deaths.Bench(tmp_path, 1).note(1, kind, "went on by itself", 30.4)
    assert deaths.Bench(tmp_path, 1).done() == {1: "went on by itself"}
    assert deaths.Bench(tmp_path, 2).done() == {}
    *_, line = deaths.table([(kind, "differs")] * 2)
    assert line == f"| {kind.name} | 2 | 2 differs |"
