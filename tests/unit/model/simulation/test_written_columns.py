from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.records import FileValues, Outcome, OutcomeKind, StateRecord
from harness.judge.file_contents import Holdings
from harness.model.file_facts import FileFact, FileKind
from harness.model.simulation import row_files
from harness.model.simulation.written_columns import columns_step
from tests.quality.notation import history

TOLD = history(
    "insert 1,2; update 1 set f2; compact schedule; rename f1 g; upsert 2; compact", mor=True
)
STEPS = {"1": 1, "2": 2, "4": 4, "5": 5, "6": 6, "300": 2}
"""What was scheduled at 300 took in the rows of step 2."""
WAITED = FileFact("b", FileKind.BASE, "g", "300", (), keys=("1", "2"))


def file(*names: str, instant: str = "300") -> FileFact:
    columns = tuple((name, "string") for name in ("_hoodie_record_key", *names))
    return replace(WAITED, columns=columns, instant=instant)


@pytest.mark.parametrize(
    ("fact", "step"),
    [
        (file("id", "ts", "f1", "f2"), 2),
        (file("id", "ts", "g", "f2"), 4),
        # Nothing else is taken for a file of another day: it is one that is wrong.
        (file("id", "ts", "f1"), 2),
        (file("id", "ts", "g"), 2),
        (file("id", "ts", "f1", "f2", instant="5"), 5),
    ],
)
def test_a_file_has_the_columns_of_the_day_on_which_it_was_written(
    fact: FileFact, step: int
) -> None:
    assert columns_step(TOLD.history, fact, STEPS) == step


def test_its_rows_lie_under_the_names_of_that_day() -> None:
    there = row_files.lying(TOLD.history, (file("id", "ts", "g", "f2"),), STEPS)
    assert there == {"1": (4,), "2": (4,)}


@pytest.mark.parametrize("lost", [True, False])
def test_what_it_holds_is_compared_under_those_names(*, lost: bool) -> None:
    fact, rows = file("id", "ts", "g", "f2"), TOLD.history[2].rows
    schema = TOLD.history[2].schema
    values = [[rows[k].values[f.id] for f in schema.fields] for k in rows]
    if lost:
        values[1][2] = None
    held = FileValues(0, ("id", "ts", "g", "f2"), tuple(map(tuple, values)))
    outcome = Outcome(6, OutcomeKind.APPLIED)
    states = (StateRecord("v", outcome, "d", (fact,), others=(("300", 2),), values=(held,)),)
    contents = Holdings(states, TOLD.history)
    found = [(each.key, each.column, each.found) for each in contents.differences(fact)]
    assert found == ([("2", "g", None)] if lost else [])
