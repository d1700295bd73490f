"""Which type Hudi lets become which, and that what it refuses leaves the table as it was."""

from __future__ import annotations

import pytest

from harness.core.records import OutcomeKind
from harness.plan import Writer, scenarios_folder
from harness.scenario import load
from harness.scenario.operations.columns import ChangePartitionColumn, ChangeType
from harness.write import write_variants
from harness.write.send_step import WriterFor
from harness.write.writer_pool import WriteTarget
from tests.engines.test_writers import NEW, NEWEST, OLD, planned

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

LONG = load.load(scenarios_folder() / "types" / "from_long.yaml")
PARTITIONS = load.load(scenarios_folder() / "evolution" / "partition_columns.yaml")
REFUSED = {"int", "date"}
"""What a long cannot become; float it can, though the source document says otherwise (A2.3)."""


@pytest.mark.parametrize("writer", [OLD, NEW, NEWEST])
def test_a_long_becomes_what_can_hold_it_in_every_place(
    writer: str, writer_for: WriterFor, place: WriteTarget
) -> None:
    variant = planned(LONG, "hudi-cow", Writer(writer))
    records = write_variants.write_variant(variant, place, writer_for).records
    for at, step in enumerate(LONG.steps, start=1):
        outcome, done = records[at].outcome, step.operation
        refused = isinstance(done, ChangeType) and str(done.to) in REFUSED
        assert (outcome.kind is OutcomeKind.REFUSED) is refused
        assert not (refused and outcome.instant)


@pytest.mark.parametrize("writer", [OLD, NEW, NEWEST])
def test_a_partition_column_is_neither_renamed_nor_dropped_and_the_table_is_written_on(
    writer: str, writer_for: WriterFor, place: WriteTarget
) -> None:
    variant = planned(PARTITIONS, "hudi-cow", Writer(writer))
    records = write_variants.write_variant(variant, place, writer_for).records
    for at, step in enumerate(PARTITIONS.steps, start=1):
        done = step.operation
        refused = isinstance(done, ChangePartitionColumn) and (done.drop or bool(done.rename))
        assert (records[at].outcome.kind is OutcomeKind.REFUSED) is refused
