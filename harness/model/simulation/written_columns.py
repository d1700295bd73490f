"""With the columns of which step a file was written, where that is not the step of its rows."""

from __future__ import annotations

from collections.abc import Mapping

from harness.model.file_facts import FileFact
from harness.model.schema import Schema
from harness.model.truth import History


def columns_step(history: History, fact: FileFact, steps: Mapping[str, int]) -> int:
    """Return the step whose columns a file has: that of its rows, or a later one.

    A compaction that waited writes the rows of the day on which it was scheduled. Its columns are
    of that day too where the table had a history of its schema then, else of the day on which it
    is carried out (seen on Hudi 0.15.0, 1.0.2 and 1.2.0): their names tell which.
    """
    step = steps[fact.instant]
    there = {name for name, _ in fact.columns}
    names = {name for truth in history for name in truth.schema.names if name in there}
    if names <= set(history[step].schema.names):
        return step
    later = range(step, len(history))
    return next((at for at in later if set(history[at].schema.names) == names), step)


def written_schema(history: History, fact: FileFact, steps: Mapping[str, int]) -> Schema:
    """Return the schema of that step."""
    return history[columns_step(history, fact, steps)].schema
