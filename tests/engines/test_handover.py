"""Tables that an older writer began and a newer one goes on with, and such as are brought back."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from harness.core.records import OutcomeKind, StateRecord
from harness.formats.hudi import records, timeline
from harness.model.canonical import text_of
from harness.plan import Writer
from harness.runtime import metastore_client
from harness.scenario.definition import Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.row_writes import Insert, Update
from harness.scenario.operations.services import Compact, SetTableVersion
from harness.write import state_store, write_variants
from harness.write.send_step import WriterFor
from harness.write.writer_pool import WriteTarget
from tests.engines.everyone import Running
from tests.engines.hudi_writers import NEW, NEWEST, OLD, Write, variant_of
from tests.engines.planned_run import shipped
from tests.engines.test_writers import MOVE, READER, expected, outcomes

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

PENDING, RENAMED = shipped("hudi/pending_compaction", "hudi/rename_while_compaction_waits")
SCHEDULED = 5
"""The step of `hudi/pending_compaction` that schedules."""
CARRIED_OUT: Sequence[tuple[str, Mapping[str, str]]] = (
    (OLD, {}),
    (NEW, {"table_version": "6"}),
    (NEWEST, {"table_version": "6"}),
)
UPDATE = Update((1,), ("f1",))
UNREAD_LOGS = {6: "NullPointerException", 7: "NullPointerException"}
"""After a downgrade from version 9, 0.15.0 reads no log file that 1.2.0 wrote (refused steps)."""
BACK: Sequence[Operation] = (
    *(Insert((1, 2)), UPDATE, SetTableVersion(6)),
    *(Insert((3,)), UPDATE, Compact(), Update((2,), ("f2",))),
)


def refused(records: Sequence[StateRecord]) -> dict[int, str]:
    """Return the steps that were refused, each with the class of the error's cause."""
    outcomes = (
        record.outcome for record in records if record.outcome.kind is not OutcomeKind.APPLIED
    )
    causes = {
        outcome.step: outcome.refusal.cause if outcome.refusal else outcome.because
        for outcome in outcomes
    }
    return {at: cause.partition(":")[0].rpartition(".")[2] for at, cause in causes.items()}


@pytest.mark.parametrize("readers", [(READER,)], indirect=True, ids=["spark"])
@pytest.mark.parametrize(("newer", "settings"), CARRIED_OUT, ids=str)
def test_what_one_writer_scheduled_another_carries_out(
    newer: str,
    settings: Mapping[str, str],
    readers: Sequence[Running],
    writer_for: WriterFor,
    target: WriteTarget,
) -> None:
    writer = Writer(OLD, settings)
    if newer != OLD:
        writer = replace(writer, then=newer, at=SCHEDULED + 1)
    variant = variant_of(PENDING, "hudi-mor", writer)
    written = write_variants.write_variant(variant, target, writer_for)
    assert refused(written.records) == {}
    tables = [written.states[variant.id, step].table for step in range(len(written.records))]
    (asked,) = timeline.scheduled(records.local(tables[SCHEDULED]).entries)
    assert timeline.scheduled(records.local(tables[-1]).entries) == ()
    assert asked in dict(written.records[-1].others)
    with metastore_client.connect(target.metastore_uri) as client:
        for state in written.states.values():
            state_store.register(client, state)
    for step in range(1, len(tables)):
        views = outcomes(written, variant, step, readers)
        actual = expected(variant, step)
        assert views["snapshot"] == views["base_name"] == actual["snapshot"], f"step {step}"
        if settings or newer == OLD:  # an upgrade of the table compacts it
            assert views["read_optimized"] == actual["read_optimized"], f"step {step}"


def test_an_upgrade_of_the_table_is_refused_where_a_compaction_waits(write: Write) -> None:
    """A table of 0.15.0 with an ordering column (near apache/hudi#13024, #13046)."""
    writer = Writer(OLD, then=NEW, at=SCHEDULED + 1)
    records = write(PENDING, "hudi-mor", writer).records
    assert refused(records) == {SCHEDULED + 1: "IllegalArgumentException"}
    refusal = records[SCHEDULED + 1].outcome.refusal
    assert refusal is not None
    assert "is inconsistent with payload class" in refusal.message


@pytest.mark.parametrize("writer", [OLD, NEW, NEWEST])
def test_a_compaction_that_waited_while_a_column_was_renamed_loses_its_values(
    writer: str, write: Write
) -> None:
    written = write(RENAMED, "hudi-mor", Writer(writer))
    assert {record.outcome.kind for record in written.records} == {OutcomeKind.APPLIED}
    (new,) = written.records[-1].values
    at = new.columns.index("f1_new")
    assert [row[at] for row in new.rows] == [None, None]


@pytest.mark.parametrize("name", ["hudi-cow", "hudi-mor"])
@pytest.mark.parametrize("newer", [NEW, NEWEST])
def test_a_table_that_is_brought_back_is_gone_on_with_by_an_older_writer(
    name: str, newer: str, write: Write
) -> None:
    scenario = replace(MOVE, steps=tuple(map(Step, BACK)))
    records = write(scenario, name, Writer(newer, then=OLD, at=4)).records
    known = {} if (name, newer) != ("hudi-mor", NEWEST) else UNREAD_LOGS
    assert refused(records) == known
    version = "8" if newer == NEW else "9"
    assert [record.table_version for record in records] == [
        *[version] * 3,
        *["6"] * (len(records) - 3),
    ]
    if known:
        return
    keys = {text_of(key) for fact in records[-1].files for key in fact.keys}
    assert keys == {"1", "2", "3"}
