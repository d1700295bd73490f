"""A scenario on its way to be the smallest one, with the writer of each of its steps. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness import formats
from harness.core.problems import Problems
from harness.core.yaml_reader import Document
from harness.judge.recorded_variant import SNAPSHOT
from harness.model.canonical import text_of
from harness.model.schema import schema_of
from harness.run.load_run import WRITE
from harness.scenario import semantics
from harness.scenario.cells import Variant
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.row_writes import Rewrites, Touch

DIGITS = 8
"""Of a candidate's digest, in the name of its variant."""
ROW_KEYS = ("keys", "update", "insert", "delete")
"""The fields of operations that name rows by their keys."""

NumberedStep = tuple[int, Operation]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A table that may be written and asked about; the question is put after its last step."""

    scenario: Scenario
    format: str
    settings: Mapping[str, str]
    """Those that the format knows."""
    writers: tuple[str, ...]
    """The distribution that writes each step, the creation first."""
    numbers: tuple[int, ...]
    """The number that each step had at the beginning, by which reductions name it."""
    key: str = field(init=False)
    """Equal for candidates that are the same table written by the same writers."""

    def __post_init__(self) -> None:
        scenario = self.scenario
        facts = scenario.name, scenario.table, self.operations, self.format, self.writers
        text = repr((facts, sorted(self.settings.items())))
        digest = hashlib.sha256(text.encode()).hexdigest()
        object.__setattr__(self, "key", digest[:DIGITS])

    @property
    def operations(self) -> tuple[Operation, ...]:
        return tuple(step.operation for step in self.scenario.steps)

    @property
    def numbered(self) -> list[NumberedStep]:
        return list(zip(self.numbers, self.operations, strict=True))

    @property
    def size(self) -> tuple[int, int, int, int]:
        """Steps, columns with their parts, rows that are named, settings: smaller is simpler."""
        table = self.scenario.table
        rows = sum(
            operation.rewrites not in {None, Rewrites.NONE}
            if isinstance(operation, Touch)
            else len(list(rows_of(operation, table.key)))
            for operation in self.operations
        )
        return len(self.numbers), schema_of(table.columns).last_id, rows, len(self.settings)

    @property
    def variant(self) -> Variant:
        """The variant of a run that writes it."""
        name = f"{self.scenario.name}[{self.format},{self.key}]@{self.writers[0]}"
        return Variant(name, self.scenario, self.format, self.settings, self.writers)

    def with_steps(self, steps: Sequence[NumberedStep]) -> Candidate | None:
        """Return it with these steps; None where its last step is not among them.

        The effect of the last step is what is looked at: without it there is nothing to show.
        """
        numbers = tuple(number for number, _ in steps)
        if not numbers or numbers[-1] != self.numbers[-1]:
            return None
        writers = dict(zip((0, *self.numbers), self.writers, strict=True))
        before = dict(zip(self.numbers, self.scenario.steps, strict=True))
        made = tuple(Step(operation, by=before[number].by) for number, operation in steps)
        return replace(
            self,
            scenario=replace(self.scenario, steps=made),
            numbers=numbers,
            writers=(writers[0], *(writers[number] for number in numbers)),
        )


def begin(variant: Variant, step: int, view: str, known: Sequence[str]) -> Candidate:
    """Return the candidate that a search begins with: a variant until a step, asked for one view.

    `known`: the names of the settings that the format knows. Where the step itself is looked at
    (`WRITE`), any view will do.
    """
    made = replace(
        variant.scenario,
        steps=tuple(Step(made.operation, by=made.by) for made in variant.scenario.steps[:step]),
        formats=(variant.format,),
        views=(SNAPSHOT if view == WRITE else view,),
        settings={},
        path="",
    )
    settings = {name: value for name, value in variant.settings.items() if name in known}
    numbers = tuple(range(1, step + 1))
    return Candidate(made, variant.format, settings, variant.writers[: step + 1], numbers)


def valid(candidate: Candidate) -> bool:
    """Return whether the loader takes the scenario, and a plan does not leave it out."""
    scenario = candidate.scenario
    if formats.load(candidate.format).unsupported_settings(candidate.settings, scenario):
        return False
    document = Document({}, {}, Problems(scenario.name))
    semantics.check(scenario, document, formats.keeping_case())
    return not document.problems


def rows_of(operation: Operation, key: str) -> Iterator[str]:
    """Yield the keys of the rows that an operation names, as texts."""
    for name in ROW_KEYS:
        yield from map(text_of, getattr(operation, name, ()))
    yield from (text_of(row[key]) for row in getattr(operation, "rows", ()))
