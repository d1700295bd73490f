from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from harness.core.records import FileValues, Outcome, OutcomeKind, StateRecord
from harness.judge.file_contents import Holdings
from harness.model.file_facts import FileFact, FileKind
from harness.model.simulation import row_files
from harness.model.simulation.column_resolution import columns_step
from tests.builders.table_story import history

TOLD = history(
    "insert 1,2; update 1 set f2; compact schedule; rename f1 g; upsert 2; compact", mor=True
)
STEPS = {"1": 1, "2": 2, "4": 4, "5": 5, "6": 6, "300": 2}
"""What was scheduled at 300 took in the rows of step 2."""
SQL = [
    operation.sql(before, after)
    for operation, (before, after) in zip(TOLD.operations, pairwise(TOLD.history), strict=True)
]
SENT = tuple(
    StateRecord("v", Outcome(at, OutcomeKind.APPLIED, str(at), statements=sql), "d")
    for at, sql in enumerate(SQL, start=1)
)
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
    found = {key: [row_file.step for row_file in files] for key, files in there.items()}
    assert found == {"1": [4], "2": [4]}


@pytest.mark.parametrize("lost", [(), (1, 2)])
def test_what_it_holds_is_compared_under_those_names(lost: tuple[int, ...]) -> None:
    fact, then = file("id", "ts", "g", "f2"), TOLD.history[2]
    rows = [[row.values[field.id] for field in then.schema.fields] for row in then.rows.values()]
    shown = [[*row[:2], None if key in lost else row[2], row[3]] for key, row in enumerate(rows, 1)]
    held = FileValues(0, ("id", "ts", "g", "f2"), tuple(map(tuple, shown)))
    step = Outcome(6, OutcomeKind.APPLIED)
    state = StateRecord("v", step, "d", (fact,), others=(("300", 2),), values=(held,))
    found = Holdings((*SENT, state), TOLD.history).differences(fact)
    # The file only carries its rows: also that of step 2, to which only `f2` was sent.
    assert [
        (difference.key, difference.column, difference.actual, difference.sent)
        for difference in found
    ] == [(str(key), "g", None, True) for key in lost]
