"""A writer of a transactional table that dies in its transaction: what it is told, and what tells.

Its numbers of writes are those of the metastore; no Hive runs here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import formats
from harness.model.datatypes import parse_type
from harness.model.table import Table
from harness.runtime.metastore_objects import CatalogEntry, WriteIds
from harness.scenario import expected_history
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.abort_transactions import AbortTransactions
from harness.scenario.operations.api import Operation, StepTrace
from harness.scenario.operations.insert import Insert
from harness.scenario.operations.killed_write import KilledWrite
from harness.scenario.statements import recorded
from harness.write.step_result import TableRecords

ACID = formats.load("hive-acid")
COLUMNS = {"id": "int", "ts": "long", "a": "string"}
TABLE = Table(tuple((n, parse_type(t)) for n, t in COLUMNS.items()), "id", "ts", ())
DIES = "killed when it asks the metastore for the commit: "


def wordings(*operations: Operation) -> list[str]:
    """Return the statements of the last operation."""
    done = [True] * len(operations)
    scenario = Scenario("x", TABLE, tuple(map(Step, operations)))
    history = expected_history.history(scenario, merge_on_read=False, applied=done)
    return [*map(recorded, ACID.wording(operations[-1], history[-2], history[-1], {}))]


def test_who_is_killed_merges_rows_that_are_there_and_inserts_others() -> None:
    (told,) = wordings(Insert((1,)), KilledWrite((1, 3)))
    assert told.startswith(f"{DIES}merge into {{database}}.t as ")
    (told,) = wordings(Insert((1,)), KilledWrite((3,)))
    assert told.startswith(f"{DIES}insert into {{database}}.t select 3 as ")


def test_what_is_open_is_aborted_by_its_numbers() -> None:
    told = wordings(Insert((1,)), KilledWrite((3,)), AbortTransactions())
    assert told == ["abort transactions {open transactions}"]


def test_a_session_waits_a_short_time_for_a_lock_only_if_it_is_to() -> None:
    usual = ACID.session({}, {})
    assert usual == ACID.session({"lock_wait": "usual"}, {})
    short = ACID.session({"lock_wait": "short"}, {})
    assert {**short, "hive.lock.numretries": "3"} == short != usual
    assert short.items() > usual.items()


def records(ids: WriteIds, trace: StepTrace | None) -> object:
    """Return what tells that a step was done, where the metastore has these numbers."""
    table = CatalogEntry("t", {"tableName": "t", "sd": {"cols": []}}, write_ids=ids)
    return TableRecords(ACID.committed(Path("/nowhere"), [table]), trace=trace).done


OPEN, ABORTED = WriteIds(2, open=(2,)), WriteIds(2, aborted=(2,))


@pytest.mark.parametrize(
    ("before", "after", "trace", "done"),
    [
        (WriteIds(1), OPEN, StepTrace.BEGUN, True),
        (OPEN, ABORTED, StepTrace.UNDONE, True),
        (OPEN, OPEN, StepTrace.UNDONE, False),
        # An update that was refused a lock has a number that was aborted, and is no write.
        (OPEN, WriteIds(3, open=(2,), aborted=(3,)), None, False),
    ],
)
def test_a_killed_write_and_an_abort_are_told_by_their_numbers_and_nothing_else_is(
    before: WriteIds, after: WriteIds, trace: StepTrace | None, *, done: bool
) -> None:
    assert (records(before, trace) != records(after, trace)) is done


def test_an_abort_of_nothing_did_nothing() -> None:
    assert ACID.missing_effect(Path(), AbortTransactions(), ()) == (
        "no transaction of the table was aborted"
    )


def test_nothing_can_be_aborted_where_no_write_died() -> None:
    with pytest.raises(Exception, match="no write was killed"):
        wordings(Insert((1,)), AbortTransactions())


def test_only_hive_has_transactions_to_abort() -> None:
    can = [
        name for name in formats.names() if not formats.load(name).unsupported(AbortTransactions())
    ]
    assert can == ["hive-acid"]
    assert not ACID.unsupported(KilledWrite((1,)))
