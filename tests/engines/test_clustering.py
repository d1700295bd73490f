"""Tables whose file groups are clustered: after a rename, and by another writer than planned it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.records import OutcomeKind
from harness.formats.hudi import records, timeline
from harness.plan import Writer, scenarios_folder
from harness.scenario import load
from harness.write import write_variants
from harness.write.send_step import WriterFor
from harness.write.writer_pool import WriteTarget
from tests.engines.test_writers import NEW, NEWEST, OLD, planned

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

RENAMED = load.load(scenarios_folder() / "services" / "cluster_after_rename.yaml")
PENDING = load.load(scenarios_folder() / "services" / "pending_clustering.yaml")
CLUSTERED = 4
"""The step of `services/cluster_after_rename` that clusters, and of the other that schedules it."""


@pytest.mark.parametrize("name", ["hudi-cow", "hudi-mor"])
@pytest.mark.parametrize(("writer", "kept"), [(OLD, 3), (NEW, 0), (NEWEST, 0)])
def test_a_clustering_after_a_rename_keeps_values_in_one_version_alone(
    name: str, writer: str, kept: int, writer_for: WriterFor, place: WriteTarget
) -> None:
    written = write_variants.write_variant(
        planned(RENAMED, name, Writer(writer)), place, writer_for
    )
    assert {each.outcome.kind for each in written.records} == {OutcomeKind.APPLIED}
    (new,) = written.records[CLUSTERED].values
    at = new.columns.index("f1_new")
    assert sum(row[at] is not None for row in new.rows) == kept


@pytest.mark.parametrize("newer", [OLD, NEW, NEWEST])
def test_what_one_writer_scheduled_another_carries_out(
    newer: str, writer_for: WriterFor, place: WriteTarget
) -> None:
    writer = Writer(OLD)
    if newer != OLD:
        writer = replace(writer, then=newer, at=CLUSTERED + 1)
    written = write_variants.write_variant(planned(PENDING, "hudi-cow", writer), place, writer_for)
    kinds = [each.outcome.kind for each in written.records]
    # Hudi refuses a write into the file groups that wait, and nothing else.
    refused = [at for at, kind in enumerate(kinds) if kind is not OutcomeKind.APPLIED]
    assert refused == [CLUSTERED + 1]
    tables = {each.frozen.outcome.step: each.table for each in written.states.values()}
    (asked,) = timeline.scheduled(records.local(tables[CLUSTERED]).entries)
    assert timeline.scheduled(records.local(tables[len(kinds) - 1]).entries) == ()
    assert asked in dict(written.records[-1].others)
