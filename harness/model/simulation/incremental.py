"""The answer of an incremental view: the rows that were committed after a step.

Of each row Hudi keeps the requested time of the write that it is of (`_hoodie_commit_time`), in
files that are written anew and through compactions too, and readers choose rows by it (Hudi
documentation, "SQL Queries", "Incremental query"). So which version of a row counts is that which
a reader sees: who leaves out log files goes by when a base file's version was committed.

Of a Delta table the commits say which rows each of them wrote (`formats.delta.changes`).

What files say counts, not the model: had a writer kept another time, all that is said of readers
would be wrong. Where a file does not say it, nothing is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from harness.model.file_facts import FileFact
from harness.model.simulation.column_resolution import META, LayoutError
from harness.model.simulation.strategies import IncrementalRange
from harness.model.truth import Row

COMMIT_TIME: Final = "_hoodie_commit_time"
COMMITTED: Final = META[COMMIT_TIME].id
"""Under it stands in the values of a row when it was committed, as its file says."""
Commits = Mapping[FileFact, Sequence[str]]
"""When the rows of files were committed: instants, in the order of a file's keys."""


@dataclass(frozen=True, slots=True)
class Since:
    step: int
    """The one by whose instant the question begins."""
    steps: Mapping[str, int]
    """The step that made each instant."""
    commits: Commits

    def dated(self, fact: FileFact, rows: Sequence[Row]) -> list[Row]:
        """Return the rows of a file, in the order of its keys, with when each was committed."""
        instants = self.commits.get(fact, ())
        if len(instants) != len(rows):
            raise LayoutError(f"{fact.path} does not say when its rows were committed")
        return [dated(row, instant) for row, instant in zip(rows, instants, strict=True)]

    def gives(self, row: Row, given: IncrementalRange = IncrementalRange.SINCE) -> bool:
        instant = row.values.get(COMMITTED)
        if not isinstance(instant, str) or instant not in self.steps:
            raise LayoutError(f"row {row.key}: no step is known that committed it ({instant})")
        at = self.steps[instant]
        match given:
            case IncrementalRange.ALL:
                return True
            case IncrementalRange.NOTHING:
                return False
            case IncrementalRange.EARLIER:
                return at >= self.step
            case IncrementalRange.LATER:
                return at > self._next
        return at > self.step

    def differing(self, rows: Iterable[Row]) -> tuple[IncrementalRange, ...]:
        """Return what else than it should be may be given of rows, where that is not the same."""
        there = list(rows)
        right = [self.gives(row) for row in there]
        others = (given for given in IncrementalRange if given is not IncrementalRange.SINCE)
        return tuple(
            other for other in others if [self.gives(row, other) for row in there] != right
        )

    @property
    def _next(self) -> int:
        """The next step that made an instant; an inclusive begin is that one's (`engines.past`)."""
        return min((at for at in self.steps.values() if at > self.step), default=self.step)


def dated(row: Row, instant: str) -> Row:
    return replace(row, values={**row.values, COMMITTED: instant})
