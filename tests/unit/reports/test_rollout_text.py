from __future__ import annotations

from pathlib import Path

from harness.comparison.result import ComparedSide, SideComparison, compare
from harness.comparison.rollout import Rollout, RolloutState
from harness.core.records import FindingKind, VerdictKind
from harness.reports import rollout_terminal
from harness.run.load_run import Run
from tests.unit.comparison.sides import finding, run, verdict

RIGHT, WRONG = VerdictKind.CORRECT, VerdictKind.WRONG
RENAME = finding(FindingKind.MISSING_RENAME, ("1", "f1_new", None))
NOW = run(verdict(RIGHT, step=1), verdict(RIGHT, step=2))
SPOILT = run(verdict(RIGHT, step=1), verdict(WRONG, RENAME, step=2))


def state(number: int, name: str, *, safe: bool = True, returns: bool = True) -> RolloutState:
    found, back = (_against(NOW if each else SPOILT) for each in (safe, returns))
    return RolloutState(frozenset(range(1, number + 1)), name, found, back)


def _against(new: Run) -> SideComparison:
    return compare(ComparedSide("now", NOW), ComparedSide("then", new))


def text(folder: Path, found: Rollout) -> str:
    return rollout_terminal.write(found, folder).read_text(encoding="utf-8")


def test_a_safe_order_is_said_to_be_with_its_way_back(tmp_path: Path) -> None:
    found = Rollout((state(1, "writers"), state(2, "readers")), (1, 2))
    told = text(tmp_path, found)
    assert told.startswith("This order is safe")
    assert "From every state there is a way back" in told
    assert found.status == 0


def test_the_state_that_is_not_safe_is_named_with_an_order_that_is(tmp_path: Path) -> None:
    found = Rollout((state(1, "writers", safe=False), state(2, "readers")), (2, 1))
    told = text(tmp_path, found)
    assert told.startswith("Do not roll out in this order: after writers 1 answer is worse.")
    assert "This order is safe: 2, 1." in told
    assert "After writers: 1 answer is worse" in told
    assert "missing rename since rename_column" in told
    assert found.status == 1


def test_where_no_order_is_safe_that_is_said() -> None:
    found = Rollout((state(1, "writers", safe=False),), None)
    assert rollout_terminal.headline(found).endswith("No order of these changes is safe.")


def test_the_first_state_without_a_way_back_is_the_point_of_no_return(tmp_path: Path) -> None:
    found = Rollout((state(1, "writers"), state(2, "version", returns=False)), (1, 2))
    told = text(tmp_path, found)
    assert "The point of no return is version" in told
    assert "The way back from version: 1 answer is worse" in told
    assert found.status == 0
