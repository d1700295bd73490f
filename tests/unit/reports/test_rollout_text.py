from __future__ import annotations

from pathlib import Path

from harness.comparison.result import ComparedSide, SideComparison, compare
from harness.comparison.rollout import Rollout, RolloutState
from harness.core.records import FindingKind, VerdictKind
from harness.reports import rollout_html, rollout_terminal, rollout_words
from harness.run.load_run import Run
from tests.unit.comparison.sides import finding, run, verdict
from tests.unit.reports.test_upgrade_html import Page

RIGHT, WRONG = VerdictKind.CORRECT, VerdictKind.WRONG
RENAME = finding(FindingKind.MISSING_RENAME, ("1", "f1_new", None))
NOW = run(verdict(RIGHT, step=1), verdict(RIGHT, step=2))
SPOILT = run(verdict(RIGHT, step=1), verdict(WRONG, RENAME, step=2))


def state(
    number: int, name: str, *, safe: bool = True, returns: bool = True, down: Run | None = None
) -> RolloutState:
    found, back = (_against(NOW if each else SPOILT) for each in (safe, returns))
    made = frozenset(range(1, number + 1))
    return RolloutState(made, name, found, back, _against(down) if down else None)


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
    assert rollout_words.headline(found).endswith("No order of these changes is safe.")


def test_the_first_state_without_a_way_back_is_the_point_of_no_return(tmp_path: Path) -> None:
    found = Rollout((state(1, "writers"), state(2, "version", returns=False)), (1, 2))
    told = text(tmp_path, found)
    assert "The point of no return is version" in told
    assert "The way back from version: 1 answer is worse" in told
    assert found.status == 0


def test_a_downgrade_may_be_the_way_back(tmp_path: Path) -> None:
    found = Rollout((state(1, "version", returns=False, down=NOW),), (1,))
    told = text(tmp_path, found)
    assert "From version on the table version is brought down first." in " ".join(told.split())
    assert "after a downgrade" in told
    assert "answer is worse" not in told


def test_where_a_downgrade_does_not_help_both_ways_back_are_told(tmp_path: Path) -> None:
    found = Rollout((state(1, "version", returns=False, down=SPOILT),), (1,))
    told = text(tmp_path, found)
    assert "The point of no return is version" in told
    assert "The way back from version, after a downgrade: 1 answer is worse" in told


def test_the_page_has_every_state_with_a_link_to_its_own_page(tmp_path: Path) -> None:
    states = (state(1, "writers"), state(2, "<version>", returns=False, down=SPOILT))
    found = Rollout(states, (1, 2), (state(3, "readers alone", safe=False),))
    page = Page(rollout_html.page(found, tmp_path))
    assert "The point of no return is <version>" in page.flat
    assert "readers alone" in page.flat
    links = [given["href"] for tag, given in page.tags if tag == "a"]
    assert len(links) == 3 + 2 + 3 + 2
    assert all(link and link.endswith("upgrade.html") for link in links)
