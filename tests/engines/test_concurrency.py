"""Two real writers at once: who writes the same file groups is refused, and leaves nothing."""

from __future__ import annotations

import pytest

from harness.core.records import OutcomeKind
from harness.plan import Writer, scenarios_folder
from harness.scenario import load
from harness.write import write_variants
from harness.write.send_step import WriterFor
from harness.write.state_records import VariantResult
from harness.write.writer_pool import WriteTarget
from tests.engines.test_writers import NEW, NEWEST, OLD, planned

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

CONFLICTS = {
    "same_file_group": {4, 7},
    "other_file_group": set[int](),
    "many_times": {5, 14, 17, 23, 29, 35},
}
"""The steps of these scenarios in which the second writer must be refused."""


def written(
    what: str, name: str, writer: str, writer_for: WriterFor, place: WriteTarget
) -> VariantResult:
    scenario = load.load(scenarios_folder() / "concurrency" / f"{what}.yaml")
    return write_variants.write_variant(planned(scenario, name, Writer(writer)), place, writer_for)


@pytest.mark.parametrize("what", CONFLICTS)
@pytest.mark.parametrize("writer", [OLD, NEW, NEWEST])
@pytest.mark.parametrize("name", ["hudi-cow", "hudi-mor"])
def test_only_who_writes_the_same_file_groups_is_refused_and_leaves_nothing(
    name: str, writer: str, what: str, writer_for: WriterFor, place: WriteTarget
) -> None:
    records = written(what, name, writer, writer_for, place).records
    refused = {each.outcome.step for each in records if each.outcome.kind is OutcomeKind.REFUSED}
    assert refused == CONFLICTS[what]
    assert all(records[step].files == records[step - 1].files for step in refused)
