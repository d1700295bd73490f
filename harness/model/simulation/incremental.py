"""The answer of an incremental view: the rows that were committed after a step.

Of each row Hudi keeps the requested time of the write that it is of (`_hoodie_commit_time`),
through compactions too, and readers choose rows by it (Hudi documentation, "SQL Queries",
"Incremental query"). Of a Delta table the commits say which rows they wrote
(`formats.delta.changes`). What files say counts, not the model.
"""

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
                # An inclusive begin is that of the next step that made an instant (`engines.past`).
                later = (step for step in self.steps.values() if step > self.step)
                return at > min(later, default=self.step)
        return at > self.step

    def differing(self, rows: Iterable[Row]) -> tuple[IncrementalRange, ...]:
        """Return what else than it should be may be given of rows, where that is not the same."""
        there = list(rows)
        given = {by: [self.gives(row, by) for row in there] for by in IncrementalRange}
        return tuple(by for by in IncrementalRange if given[by] != given[IncrementalRange.SINCE])


def dated(row: Row, instant: str) -> Row:
    return replace(row, values={**row.values, COMMITTED: instant})
