"""A scenario on its way to be the smallest one, with the writer of each of its steps."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness import formats
from harness.core.problems import Problems
from harness.core.yaml_reader import Document
from harness.judge.recorded_variant import SNAPSHOT
from harness.model.schema import schema_of
from harness.run.load_run import WRITE
from harness.scenario import semantics
from harness.scenario.cells import Variant
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.touch import Rewrites, Touch

DIGITS = 8
"""Of a candidate's digest, in the name of its variant."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What may be written and asked about; the question is put after its last step."""

    scenario: Scenario
    format: str
    settings: Mapping[str, str]
    """Those that the format knows."""
    writers: tuple[str, ...]
    """The distribution that writes each step, the creation first."""
    numbers: tuple[int, ...]
    """Of each step: which one it was at the beginning, so that cuts go on to mean the same."""
    key: str = field(init=False)
    """Equal for candidates that are the same table written in the same way."""

    def __post_init__(self) -> None:
        scenario = self.scenario
        told = scenario.name, scenario.table, self.operations, self.format, self.writers
        text = repr((told, sorted(self.settings.items())))
        digest = hashlib.sha256(text.encode()).hexdigest()
        object.__setattr__(self, "key", digest[:DIGITS])

    @property
    def operations(self) -> tuple[Operation, ...]:
        """What its steps do."""
        return tuple(step.operation for step in self.scenario.steps)

    @property
    def numbered(self) -> list[tuple[int, Operation]]:
        """What its steps do, each with its number."""
        return list(zip(self.numbers, self.operations, strict=True))

    @property
    def size(self) -> tuple[int, int, int, int]:
        """Steps, columns with their parts, rows that are named, settings: smaller is simpler."""
        columns = schema_of(self.scenario.table.columns).last_id
        return len(self.numbers), columns, sum(map(_rows, self.operations)), len(self.settings)

    @property
    def variant(self) -> Variant:
        """Return it as a run writes it."""
        name = f"{self.scenario.name}[{self.format},{self.key}]@{self.writers[0]}"
        return Variant(name, self.scenario, self.format, self.settings, self.writers)

    def having(self, steps: Sequence[tuple[int, Operation]]) -> Candidate | None:
        """Return it with these steps, each with its number; None where it would not end as it does.

        The last step is the one whose effect is looked at: without it there is nothing to show.
        """
        numbers = tuple(number for number, _ in steps)
        if not numbers or numbers[-1] != self.numbers[-1]:
            return None
        of = dict(zip((0, *self.numbers), self.writers, strict=True))
        writers = of[0], *(of[number] for number in numbers)
        by = {at: step.by for at, step in zip(self.numbers, self.scenario.steps, strict=True)}
        made = tuple(Step(operation, by=by[number]) for number, operation in steps)
        return replace(
            self, scenario=replace(self.scenario, steps=made), numbers=numbers, writers=writers
        )


def begin(variant: Variant, step: int, view: str, known: Sequence[str]) -> Candidate:
    """Return the candidate that everything begins with: a variant until a step, asked for one view.

    Where it is the step itself that is looked at (`WRITE`), any question will do.

    `known`: the names of the settings that the format knows.
    """
    scenario = variant.scenario
    steps = tuple(Step(each.operation, by=each.by) for each in scenario.steps[:step])
    views = (SNAPSHOT if view == WRITE else view,)
    made = replace(
        scenario, steps=steps, formats=(variant.format,), views=views, settings={}, path=""
    )
    settings = {name: value for name, value in variant.settings.items() if name in known}
    numbers = tuple(range(1, step + 1))
    return Candidate(made, variant.format, settings, variant.writers[: step + 1], numbers)


def valid(candidate: Candidate) -> bool:
    """Return whether the scenario is one that the loader takes, and a plan does not leave out."""
    scenario = candidate.scenario
    if formats.load(candidate.format).unsupported_settings(candidate.settings, scenario):
        return False
    document = Document({}, {}, Problems(scenario.name))
    semantics.check(scenario, document, formats.keeping_case())
    return not document.problems


def _rows(operation: Operation) -> int:
    """Count the rows that an operation names; a touch that rewrites some counts as one."""
    if isinstance(operation, Touch):
        return int(operation.rewrites not in {None, Rewrites.NONE})
    names = ("keys", "rows", "update", "insert", "delete")
    return sum(len(getattr(operation, name, ())) for name in names)
