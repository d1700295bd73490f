"""Extra metadata in the commits of real writers."""

from __future__ import annotations

import pytest

from harness.core.records import OutcomeKind
from harness.plan import Writer, scenarios_folder
from harness.scenario import load
from harness.write import write_variants
from harness.write.send_step import WriterFor
from harness.write.writer_pool import WriteTarget
from tests.engines.test_writers import NEW, NEWEST, OLD, planned

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

SCENARIO = load.load(scenarios_folder() / "metadata" / "extra_metadata.yaml")
GIVEN = (
    (("hoodie.run_by", "nightly load"), ("hoodie.run_id", "17")),
    (("run.id", "18"),),
    (),  # the prefix is in quotes
    (("run.id", "20"),),
    (("run.id", "21"),),
)
"""What comes through of each step, where every name that is set does."""


@pytest.mark.parametrize(("writer", "any_name"), [(OLD, False), (NEW, True), (NEWEST, True)])
@pytest.mark.parametrize("name", ["hudi-cow", "hudi-mor"])
def test_what_comes_through_is_in_the_commit_and_shown(
    name: str, writer: str, *, any_name: bool, writer_for: WriterFor, place: WriteTarget
) -> None:
    records = write_variants.write_variant(
        planned(SCENARIO, name, Writer(writer)), place, writer_for
    ).records
    assert {each.outcome.kind for each in records} == {OutcomeKind.APPLIED}
    told = [each.metadata for each in records[1 : len(GIVEN) + 1]]
    due = GIVEN if any_name else (GIVEN[0], (), *GIVEN[2:])
    assert [each and each.stored for each in told] == list(due)
    assert [each and each.shown for each in told] == list(due)
    assert records[-1].metadata is None
