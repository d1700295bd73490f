"""At which steps of a scenario a newer writer takes over a table that an older one began. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, pairwise

from harness.model.truth import History, Truth
from harness.plan.product import WriterSequence
from harness.plan.profile import Writer
from harness.scenario.definition import Scenario
from harness.scenario.operations.api import StepTrace


def handovers(scenario: Scenario, old: Writer | str, new: str) -> tuple[WriterSequence, ...]:
    """Return the writers of the variants in which `old` begins a table and `new` goes on with it.

    Each names the scenario as the only one that it writes, so that a profile can have all of them.
    `old` has to leave rows. What `new` meets at the steps chosen here is in docs/scenarios.md; at
    others there are only more or fewer files of `old`.
    """
    writer = old if isinstance(old, Writer) else Writer(old)
    writer = replace(writer, then=new, scenarios=(scenario.name,))
    history = scenario.survey.history
    first = next((truth.step for truth in history if truth.rows), len(scenario.steps))
    later = range(first + 1, len(scenario.steps) + 1)
    steps = sorted({at for at in _points(scenario, history) if at in later} or later[:1])
    return tuple(WriterSequence(replace(writer, at=at), at) for at in steps)


def _points(scenario: Scenario, history: History) -> Iterator[int]:
    numbered = tuple(enumerate(scenario.operations, start=1))
    changes = [at for at, operation in numbered if operation.CHANGES_SCHEMA]
    waiting = [at + 1 for at, operation in numbered if operation.trace() is StepTrace.SCHEDULED]
    yield from waiting
    if changes:
        yield from (changes[0], changes[-1] + 1)
    elif not waiting:
        again = (after.step + 1 for before, after in pairwise(history) if _again(before, after))
        yield from islice(again, 1)


def _again(before: Truth, after: Truth) -> bool:
    return any(after.rows.get(key) != row for key, row in before.rows.items())
