"""First stage of writing: which statements a step takes, given what came of the steps before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from harness import engines, formats
from harness.artifacts import distributions
from harness.artifacts.cache import file_sha256
from harness.core.records import Outcome, OutcomeKind
from harness.core.setting_values import HANDOVER_VERSION
from harness.engines.spark.launch import COMMON
from harness.engines.spark.session import Library
from harness.formats import other_writers
from harness.formats.api import Format
from harness.model.canonical import text_of
from harness.model.truth import Truth
from harness.runtime import hive_mutation, provide
from harness.scenario.cells import Variant
from harness.scenario.expected_history import skippable
from harness.scenario.operations.api import Operation, StepTrace
from harness.scenario.operations.services import SetTableVersion, Sync
from harness.scenario.operations.spark_sql import columns_in_order
from harness.scenario.statements import OwnProgram, Statement, programs, recorded
from harness.write import state_store

STATISTICS: Final = "statistics"
"""Under this name a state's address has what its writer's Spark is asked of statistics."""
SOURCES: Final = {
    OwnProgram.MUTATION: hive_mutation.PROGRAM,
    OwnProgram.HUDI: Library.HUDI.source,
    OwnProgram.ICEBERG: Library.ICEBERG.source,
    OwnProgram.DELTA: Library.DELTA.source,
}
"""The code of what carried out a statement, of this step or of one before."""
NAMES: Final = "names"
"""Setting of a writer's distribution: what its version calls things (`Format.session`)."""


@dataclass(frozen=True, slots=True)
class NextStep:
    step: int
    statements: tuple[Statement, ...]
    """None where the format has nothing to do."""
    address: str
    """Of the state that it leads to."""
    handover: tuple[Statement, ...] = ()
    """What the writer of the step before sends first, before another one goes on."""
    skipped: str = ""
    """Why it cannot be sent; empty when it can."""
    changes: bool = False
    """Whether rows or columns are others after it."""
    keys: frozenset[str] = frozenset()
    """Those of the rows that it writes, as text."""
    columns: tuple[str, ...] = ()
    """What the catalog lists after it, in order; none where it is not about the catalog."""
    trace: StepTrace | None = None
    """By what alone it shows in the table's records; None for a write or a schema change."""

    @property
    def skip(self) -> Outcome:
        return Outcome(self.step, OutcomeKind.SKIPPED, because=self.skipped)

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(map(recorded, (*self.handover, *self.statements)))


@dataclass(frozen=True)  # no slots: what is derived is kept
class VariantOutcomes:
    """A variant and the outcomes of its steps so far, the creation first."""

    variant: Variant
    outcomes: tuple[Outcome, ...] = ()

    @property
    def shape(self) -> Format:
        return formats.load(self.variant.format)

    @property
    def complete(self) -> bool:
        return len(self.outcomes) > len(self.variant.scenario.steps)

    @property
    def handover_version(self) -> SetTableVersion | None:
        """Return what the first writer does to the table before the other one goes on."""
        version = self.variant.settings.get(HANDOVER_VERSION)
        return SetTableVersion(int(version)) if version else None

    def then(self, outcome: Outcome) -> VariantOutcomes:
        return replace(self, outcomes=(*self.outcomes, outcome))

    def session(self, writer: str) -> Mapping[str, str]:
        distribution = distributions.load(writer)
        names = distribution.options_if_any(NAMES)
        return other_writers.session(distribution, self.shape, self.variant.settings, names)

    def next_step(self) -> NextStep:
        step, settings = len(self.outcomes), self.variant.settings
        if step == 0:
            maker = distributions.load(self.variant.writers[0])
            table = self.variant.scenario.table
            statements = other_writers.creation(maker, self.shape, table, settings)
            return NextStep(0, statements, self._address(0, statements))
        operation = self.variant.scenario.steps[step - 1].operation
        before = self._truth(step - 1, next_applied=False)
        if why := self._why_not(before, operation):
            return NextStep(step, (), "", skipped=why)
        after = self._truth(step, next_applied=True)
        writer = distributions.load(self.variant.writers[step])
        statements = other_writers.wording(writer, self.shape, operation, before, after, settings)
        handover = self._handover(before)
        rows = [row for key, row in after.rows.items() if before.rows.get(key) != row]
        changes = (
            before.rows != after.rows
            or before.schema.fields != after.schema.fields
            or before.spec != after.spec
            or any(key in before.rows for key in after.sent_contested)
        )
        listed = columns_in_order(after) if isinstance(operation, Sync) else ()
        return NextStep(
            step,
            statements,
            self._address(step, (*handover, *statements)),
            handover,
            changes=changes,
            keys=frozenset(text_of(row.key) for row in rows),
            columns=tuple(field.name.lower() for field in listed),
            trace=operation.trace(),
        )

    def _handover(self, before: Truth) -> tuple[Statement, ...]:
        """Return what the first writer sends before the other one goes on."""
        version, writers = self.handover_version, self.variant.writers[before.step :][:2]
        if version is None or writers[0] == writers[1] or writers[0] != self.variant.writers[0]:
            return ()
        return self.shape.wording(version, before, before, self.variant.settings)

    def _address(self, step: int, statements: Sequence[Statement]) -> str:
        writers = self.variant.writers[: step + 1]
        # What the sessions up to this step are told, of two writers by both.
        values: dict[str, dict[str, None]] = {}
        for writer in dict.fromkeys(writers):
            for name, value in self.session(writer).items():
                values.setdefault(name, {})[value] = None
        settings = {**COMMON, **{name: ", ".join(distinct) for name, distinct in values.items()}}
        if asked := self.shape.queried_statistics(self.variant.settings):
            settings[STATISTICS] = asked.sql
        texts = [outcome.statements for outcome in self.outcomes]
        texts.append(tuple(map(recorded, statements)))
        for program in programs([text for of_step in texts for text in of_step]):
            settings[program] = file_sha256(SOURCES[program])
        loaded = {name: distributions.load(name) for name in dict.fromkeys(writers)}
        for name, distribution in loaded.items():
            # The worker of a library is code of ours.
            if other_writers.library_writes(distribution, self.shape.reader_facts):
                settings[name] = engines.load(distribution.engine).ask_code()
        tools = hive_mutation.needed(loaded.values())
        names = *writers, *tools
        digests = {name: provide.digest(distributions.load(name)) for name in dict.fromkeys(names)}
        return state_store.address(settings, texts, [digests[name] for name in names])

    def _truth(self, step: int, *, next_applied: bool) -> Truth:
        done = (outcome.kind is OutcomeKind.APPLIED for outcome in self.outcomes[1:])
        truths = self.variant.scenario.truths(merge_on_read=self.shape.merge_on_read)
        return truths.history((*done, next_applied)[:step])[-1]

    def _why_not(self, before: Truth, operation: Operation) -> str:
        """Return which refused step the next one needs; empty when it can be sent."""
        refused = [str(o.step) for o in self.outcomes if o.kind is OutcomeKind.REFUSED]
        if "0" in refused:
            return "step 0 refused: there is no table"
        why = skippable(before, operation)
        return f"step {', '.join(refused)} refused: {why}" if why else ""
