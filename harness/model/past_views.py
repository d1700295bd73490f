"""Views of a table's past; what each shows stands in docs/scenarios.md ("Views of the past").

Which step is meant is known from the plan: the newest write before the last schema change, so
that then and now differ in their columns; where there is none, the newest write but one. A
step that was refused, or made no instant, has none that an engine could be asked by: then the
newest instant up to it is taken, and the truth of the step which made it (`anchor`).

As of: the columns are those of then. Iceberg's Spark queries by a snapshot's id use the snapshot's
schema (Iceberg documentation, "Spark Queries", "Schema selection in time travel queries"), so do
Trino's (trinodb/trino#12786), and Hudi's use that of the instant (apache/hudi#6424, #6499). What
was begun, and committed without another write between, has the columns of when it was begun.
A tag has the columns that its snapshot was made with, a branch those of the table (Iceberg
documentation, "Branching and Tagging", "Schema selection with branches and tags"). Files of a
snapshot that has a tag are not removed (same page, "Overview").
Incremental: rows are shown in their latest state (Hudi documentation, "SQL Queries", the option
`latest_state` of `hudi_table_changes`), so those deleted since are not there.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from harness.model.commit import AS_OF, BRANCH, OTHERS, TAG
from harness.model.truth import History, Truth, staged

SNAPSHOT: Final = "snapshot"
READ_OPTIMIZED: Final = "read_optimized"
BASE_NAME: Final = "base_name"
"""The view that is there from a table's creation on; a merge-on-read table gets the others with the
first write (seen on Hudi 0.15.0 to 1.2.0, whose catalog sync makes their entries)."""
_TEXT: Final = re.compile(r"(?P<name>\w+)\((?P<step>\d+)\)")


@dataclass(frozen=True, slots=True)
class Past:
    name: str
    step: int

    def __str__(self) -> str:
        return f"{self.name}({self.step})"

    @property
    def of_then(self) -> bool:
        return self.name in {AS_OF, TAG}

    def absent(self, now: Truth) -> str:
        """Return why there is nothing under the name that its step was to give; or nothing."""
        if self.name == TAG and self.step not in now.tags:
            return f"step {self.step} made no tag"
        if self.name == BRANCH and (now.pending is None or now.pending.step != self.step):
            return f"step {self.step} staged nothing in a branch"
        return ""

    def undone(self, history: History) -> frozenset[int]:
        """Return the steps that it cannot go back to; a tag stays when its snapshot is undone."""
        return history[self.step if self.name == TAG else -1].undone


def past(view: str) -> Past | None:
    """Return the view of the past that a cell's view is; None for a view of now."""
    match = _TEXT.fullmatch(view)
    if match is None or match["name"] not in OTHERS:
        return None
    return Past(match["name"], int(match["step"]))


def name_of(view: str) -> str:
    """Return a view's name without the step."""
    back = past(view)
    return back.name if back else view


def planned(name: str, history: History) -> Past | None:
    """Return what a view of the past is asked for after the last step; None where nothing is."""
    if name in {TAG, BRANCH}:
        now = history[-1]
        steps = now.tags if name == TAG else (now.pending.step,) if now.pending else ()
        return Past(name, steps[-1]) if steps else None
    pairs = list(pairwise(history))
    changes = [new.step for old, new in pairs if old.schema.fields != new.schema.fields]
    writes = [new.step for old, new in pairs if old.rows != new.rows]
    earlier = [step for step in writes if changes and step < changes[-1]] or writes[:-1]
    there = [step for step in earlier if step >= history[-1].oldest]
    return Past(name, there[-1]) if there else None


def asked(name: str, history: History) -> tuple[str, History] | None:
    """Return a view as cells call it after the last step, and the history its questions are about.

    None where there is nothing to go back to, and where base files alone rightly show a row twice.
    As of an earlier step that is the history until then, for a tag until the last write of then.
    """
    if name == READ_OPTIMIZED and _twice(history):
        return None
    if name not in OTHERS:
        return name, history
    back = planned(name, history)
    return (str(back), _asked_about(back, history)) if back else None


def _asked_about(back: Past, history: History) -> History:
    if back.name == BRANCH:
        return *history[:-1], staged(history[-1])
    if not back.of_then:
        return history
    then = history[: back.step + 1]
    writes = (after.step for before, after in pairwise(then) if before.rows != after.rows)
    made = history[: max(writes, default=0) + 1] if back.name == TAG else then
    return of_commit(made)


def of_commit(history: History) -> History:
    """Return a history until a commit, with the columns that the commit was made with.

    A snapshot that was staged becomes the current one itself where nothing came between, and keeps
    its schema (Iceberg specification, "Snapshots", `schema-id`; class CherryPickOperation).
    """
    begun = history[-1].published.get(history[-1].step)
    if begun is None:
        return history
    since = (replace(truth, schema=begun.schema) for truth in history[begun.step :])
    return *history[: begun.step], *since


def _twice(history: History) -> bool:
    """Return whether a row moved to another partition, whose old file was not compacted since."""
    result = False
    for truth in history:
        pairs = ((row, truth.base.get(key)) for key, row in truth.rows.items())
        moved = any(old and old.group[1] != row.group[1] for row, old in pairs)
        result = (result or moved) and truth.base != truth.rows
    return result


def anchor(steps: Iterable[int], step: int) -> int | None:
    """Return the newest of the steps that made an instant, up to one; None where there is none."""
    return max((number for number in steps if number <= step), default=None)


def unmade(view: str, history: History) -> bool:
    """Whether a view of a merge-on-read table is not to be there yet: nothing was written."""
    return view != BASE_NAME and not any(truth.rows for truth in history)


def no_entry(view: str) -> str:
    return f"the catalog has no entry for the view {view}"
