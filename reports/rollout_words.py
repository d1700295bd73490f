"""The words for a rollout: the same on a terminal and on a page."""

from __future__ import annotations

from collections.abc import Iterator

from harness.comparison.answer import Decision
from harness.comparison.result import SideComparison
from harness.comparison.rollout import SAFE, Rollout, RolloutState
from harness.core.counting import counted


def headline(found: Rollout) -> str:
    """Say whether the order is safe, or else which one is."""
    if found.safe:
        return "This order is safe: in no state on the way does anything get worse."
    unsafe = next(each for each in found.states if not each.safe)
    told = f"Do not roll out in this order: after {unsafe.name} {worse(unsafe.found)}."
    if found.safe_order is None:
        return f"{told} No order of these changes is safe."
    return f"{told} This order is safe: {', '.join(map(str, found.safe_order))}."


def numbers(state: RolloutState) -> str:
    """Return the numbers of the changes that are made in a state."""
    return ", ".join(map(str, sorted(state.changes)))


def worse(found: SideComparison) -> str:
    """Say how much is worse than before all changes."""
    number = len(found.worse)
    return f"{counted(number, 'answer is', 'answers are')} worse" if number else "not all is known"


def outcome(found: SideComparison) -> str:
    """Say what became of the answers, and of how many questions that is known."""
    asked = counted(sum(not each.is_step for each in found.pairs), "question")
    safe = found.decision in SAFE
    return f"{found.decision if safe else worse(found)} ({asked})"


def no_return(found: Rollout) -> str:
    """Say from which state on there is no way back."""
    if found.no_return is not None:
        return (
            f"The point of no return is {found.no_return.name}: the old readers, or the old "
            "writer, do not get along with what is there then."
        )
    told = "From every state there is a way back: the old readers and the old writer."
    down = next((each for each in found.states if each.returns_by_downgrade), None)
    if down is None:
        return told
    return f"{told} From {down.name} on the table version is brought down first."


def way_back(state: RolloutState) -> str:
    """Say whether there is a way back from a state."""
    if state.returns:
        return "after a downgrade" if state.returns_by_downgrade else "there is one"
    asked = [each for each in (state.back, state.downgraded) if each is not None]
    unknown = not asked or any(each.decision is Decision.NOT_KNOWN for each in asked)
    return "not known" if unknown else "none"


def ways_back(state: RolloutState) -> Iterator[tuple[str, SideComparison]]:
    """Yield what speaks against the ways back from a state, where there is none."""
    if state.returns:
        return
    if state.back is not None:
        yield f"The way back from {state.name}", state.back
    if state.downgraded is not None:
        yield f"The way back from {state.name}, after a downgrade", state.downgraded
