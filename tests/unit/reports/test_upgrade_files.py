from pathlib import Path

import pytest

from harness.comparison.result import ComparedSide, Rollout, RolloutState, SideComparison, compare
from harness.core.records import FindingKind, VerdictKind
from harness.reports import upgrade_files
from harness.reports.markdown import markdown
from harness.reports.upgrade_files import rollout_page
from harness.run.load_run import Run
from tests.builders.html_text import Page
from tests.builders.verdicts import finding, run, verdict

RIGHT, WRONG = VerdictKind.CORRECT, VerdictKind.WRONG
RENAME = finding(FindingKind.MISSING_RENAME, ("1", "f1_new", None))
NOW = run(verdict(RIGHT, step=1), verdict(RIGHT, step=2))
SPOILT = run(verdict(RIGHT, step=1), verdict(WRONG, RENAME, step=2))


def state(
    number: int, name: str, *, safe: bool = True, returns: bool = True, down: Run | None = None
) -> RolloutState:
    then, back = (_compared(NOW if good else SPOILT) for good in (safe, returns))
    made = frozenset(range(1, number + 1))
    return RolloutState(made, name, then, back, _compared(down) if down else None)


def _compared(new: Run) -> SideComparison:
    return compare(ComparedSide("now", NOW), ComparedSide("then", new))


SAFE = Rollout((state(1, "writers"), state(2, "readers")), (1, 2))
UNSAFE = Rollout((state(1, "writers", safe=False), state(2, "readers")), (2, 1))
NO_ORDER = Rollout((state(1, "writers", safe=False),), None)
NO_RETURN = Rollout((state(1, "writers"), state(2, "version", returns=False)), (1, 2))
BY_DOWNGRADE = Rollout((state(1, "version", returns=False, down=NOW),), (1,))
NO_DOWNGRADE = Rollout((state(1, "version", returns=False, down=SPOILT),), (1,))


@pytest.mark.parametrize(
    ("rollout", "status", "texts"),
    [
        (SAFE, 0, ["**This order is safe", "From every state there is a way back"]),
        (
            SAFE.with_scope({"delta": "no connector"}, partial_allowed=False),
            3,
            [
                "**In part: this order is safe",
                ", not on delta tables: no connector.",
                "in part: nothing changes",
            ],
        ),
        (
            UNSAFE,
            1,
            [
                "**Do not roll out in this order: after writers 1 answer is worse, in ",
                "This order is safe: 2, 1.",
                r"missing rename since rename\_column",
            ],
        ),
        (NO_ORDER, 1, ["No order of these changes is safe."]),
        (NO_RETURN, 0, ["The point of no return is version", "| none |"]),
        (
            BY_DOWNGRADE,
            0,
            ["From version on the table version is brought down first.", "| after a downgrade |"],
        ),
        (
            NO_DOWNGRADE,
            0,
            ["The point of no return is version", "after a downgrade**]", ": 1 answer is worse"],
        ),
    ],
)
def test_a_rollout_says_which_order_is_safe_and_whether_there_is_a_way_back(
    tmp_path: Path, rollout: Rollout, status: int, texts: list[str]
) -> None:
    text = markdown(upgrade_files.rollout_document(rollout, tmp_path))
    assert [part for part in texts if part not in text] == []
    assert rollout.status == status


def test_the_page_has_every_state_with_a_link_to_its_own_page(tmp_path: Path) -> None:
    states = (state(1, "writers"), state(2, "<version>", returns=False, down=SPOILT))
    rollout = Rollout(states, (1, 2), (state(3, "readers alone", safe=False),))
    page = Page(rollout_page(rollout, tmp_path))
    assert "The point of no return is <version>" in page.flat
    assert "readers alone" in page.flat
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    assert len(links) == len(rollout.judged) + sum(len(s.comparisons) for s in rollout.judged)
    assert all(link and link.endswith("upgrade.html") for link in links)
