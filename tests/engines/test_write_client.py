"""Schema changes by Hudi's write client: the table has them at once, the metastore after a sync."""

from __future__ import annotations

import pytest

from harness.core.records import OutcomeKind
from harness.plan import Writer, scenarios_folder
from harness.scenario import load
from harness.scenario.operations.columns import MoveColumn
from harness.scenario.operations.services import Sync
from harness.write import write_variants
from harness.write.send_step import WriterFor
from harness.write.writer_pool import WriteTarget
from tests.engines.test_writers import NEW, NEWEST, OLD, planned

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

SCENARIO = load.load(scenarios_folder() / "services" / "write_client_changes.yaml")


@pytest.mark.parametrize("writer", [OLD, NEW, NEWEST])
def test_the_catalog_keeps_its_columns_until_it_is_told(
    writer: str, writer_for: WriterFor, place: WriteTarget
) -> None:
    told = Writer(writer, settings={"schema_changes": "write_client"})
    variant = planned(SCENARIO, "hudi-mor", told)
    records = write_variants.write_variant(variant, place, writer_for).records
    steps = [each.operation for each in variant.scenario.steps]
    truths = variant.scenario.truths(merge_on_read=True).history()
    for at, operation in enumerate(steps, start=1):
        lists, before, outcome = records[at].catalog, records[at - 1].catalog, records[at].outcome
        # Hudi's sync compares names and types of columns, and not their places.
        moved = isinstance(operation, Sync) and isinstance(steps[at - 2], MoveColumn)
        assert (outcome.kind is OutcomeKind.REFUSED) is moved
        assert bool(outcome.instant) is not isinstance(operation, Sync)
        if operation.CHANGES_SCHEMA or moved:
            assert lists == before != truths[at].schema.names
        elif isinstance(operation, Sync):
            assert lists == truths[at].schema.names
