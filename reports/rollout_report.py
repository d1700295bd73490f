"""What a rollout says: which order is safe, and each state on the way. Pure."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from harness.comparison.result import Decision, SideComparison
from harness.comparison.rollout import SAFE, Rollout, RolloutState
from harness.core.counting import counted
from harness.core.records import VerdictKind
from harness.reports import upgrade_page, upgrade_report
from harness.reports.document import Block, Heading, Items, Line, table


def document(rollout: Rollout, folder: Path) -> Iterator[Block]:
    """Yield the report; the pages of the states, to which it links, lie below the folder."""
    tone = VerdictKind.CORRECT if rollout.safe else VerdictKind.WRONG
    yield Line(strong=headline(rollout), tone=tone)
    yield Line(_no_return(rollout))
    rows = (_row(state, folder) for state in rollout.judged)
    yield table(("changes", "after", "answer", "way back"), rows)
    for state in rollout.judged:
        order = "" if state in rollout.states else ", in another order"
        yield Heading(f"{_numbers(state)}. After {state.name}{order}")
        yield from _comparison("Readers and writer", state.comparison, folder)
        for title, comparison in (
            ("The way back", state.back),
            ("The way back after a downgrade", state.downgraded),
        ):
            if comparison is not None:
                yield from _comparison(title, comparison, folder)


def _row(state: RolloutState, folder: Path) -> tuple[str | Line, ...]:
    return (
        _numbers(state),
        state.name,
        Line(
            strong=str(state.comparison.decision),
            tone=upgrade_report.DECISION_TONES[state.comparison.decision],
            href=_page(state.comparison, folder),
        ),
        Line(_way_back(state), tone=VerdictKind.CORRECT if state.returns else VerdictKind.WRONG),
    )


def _comparison(title: str, comparison: SideComparison, folder: Path) -> Iterator[Block]:
    asked = counted(sum(not pair.is_step for pair in comparison.pairs), "question")
    safe = comparison.decision in SAFE
    result = f"{comparison.decision if safe else _worse(comparison)} ({asked})"
    yield Line(f": {result}", strong=title, href=_page(comparison, folder))
    if comparison.relevant:
        yield Items(tuple(upgrade_report.cause_item(c, comparison) for c in comparison.relevant))


def _page(comparison: SideComparison, folder: Path) -> str:
    page = comparison.new.run.folder / upgrade_page.FILE
    return Path(os.path.relpath(page, folder)).as_posix()


def headline(rollout: Rollout) -> str:
    """Say whether the order is safe, or else which one is."""
    if rollout.safe:
        return "This order is safe: in no state on the way does anything get worse."
    unsafe = next(state for state in rollout.states if not state.safe)
    why = f"after {unsafe.name} {_worse(unsafe.comparison)}"
    if rollout.safe_order is None:
        order = "No order of these changes is safe."
    else:
        order = f"This order is safe: {', '.join(map(str, rollout.safe_order))}."
    return f"Do not roll out in this order: {why}. {order}"


def _numbers(state: RolloutState) -> str:
    return ", ".join(map(str, sorted(state.changes)))


def _worse(comparison: SideComparison) -> str:
    """Say how much is worse than before all changes."""
    number = len(comparison.worse)
    return f"{counted(number, 'answer is', 'answers are')} worse" if number else "not all is known"


def _no_return(rollout: Rollout) -> str:
    """Say from which state on there is no way back."""
    if rollout.no_return is not None:
        return (
            f"The point of no return is {rollout.no_return.name}: the old readers, or the old "
            "writer, do not get along with what is there then."
        )
    every = "From every state there is a way back: the old readers and the old writer."
    down = next((state for state in rollout.states if state.returns_by_downgrade), None)
    if down is None:
        return every
    return f"{every} From {down.name} on the table version is brought down first."


def _way_back(state: RolloutState) -> str:
    if state.returns:
        return "after a downgrade" if state.returns_by_downgrade else "there is one"
    asked = [comparison for comparison in (state.back, state.downgraded) if comparison is not None]
    unknown = not asked or any(c.decision is Decision.NOT_KNOWN for c in asked)
    return "not known" if unknown else "none"
