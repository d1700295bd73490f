"""What every phase of a run works with, and how it gets at the run's frozen states and engines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.artifacts.cache import Cache
from harness.core.errors import UsageProblem
from harness.core.progress import Progress
from harness.core.records import StateRecord
from harness.read.reader_servers import TIMEOUT_S, ReadContext
from harness.run import needed_artifacts, run_folder
from harness.scenario.cells import Plan
from harness.write import write_variants
from harness.write.state_store import States
from harness.write.writer_pool import TIMEOUT_S as WRITE_TIMEOUT_S
from harness.write.writer_pool import WriteContext


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """How long engines may take, in seconds."""

    query: float = TIMEOUT_S
    """After so long a reader's query counts as unanswered."""
    statement: float = WRITE_TIMEOUT_S
    """After so long a writer's statement does."""


@dataclass(frozen=True, slots=True)
class Work:
    """The cache, the run's folder, the display and the time limits."""

    cache: Cache
    folder: Path
    progress: Progress
    limits: TimeLimits = TimeLimits()

    def write_context(self, plan: Plan) -> WriteContext:
        """Return where tables are written."""
        folder, catalog = self.folder / run_folder.ENGINES, needed_artifacts.writers_metastore(plan)
        return WriteContext(self.cache, folder, self.progress, self.limits.statement, catalog)

    def read_context(self, plan: Plan, *, fresh: bool) -> ReadContext:
        """Return where readers are asked; `fresh`: also what earlier runs asked."""
        folder, catalog = self.folder / run_folder.ENGINES, needed_artifacts.readers_metastore(plan)
        return ReadContext(
            self.cache, folder, self.progress, fresh, self.limits.query, metastore=catalog
        )


def _missing_state(variant: str, step: int, cache: Path) -> UsageProblem:
    return UsageProblem(
        f"the state of {variant} after step {step} is no longer in {cache}; "
        "run the profile again to write it"
    )


def states_of(records: Iterable[StateRecord], cache: Cache) -> States:
    """Find the frozen states that a run names.

    Raises:
        UsageProblem: one is no longer in the cache.

    """
    records = list(records)
    states = write_variants.load(records, cache)
    for record in records:
        if record.digest and (record.variant, record.outcome.step) not in states:
            raise _missing_state(record.variant, record.outcome.step, cache.root)
    return states
