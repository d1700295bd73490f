"""Iceberg, the control: by field id every reader gets everything right.

Through the product's own verbs, and once in place: a state answers as the table did after the same
step, though the table has gone on and the folder in which it was written is gone.
"""

import shutil
from collections.abc import Sequence
from dataclasses import replace

import pytest

from harness.core.records import OutcomeKind, VerdictKind
from harness.model.datatypes import parse_type
from harness.plan import Writer
from harness.run.load_run import Run
from harness.scenario.cells import Cell, Plan
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.columns import ChangeType
from harness.scenario.operations.row_writes import Upsert
from harness.write import write_variants
from harness.write.send_step import WriterFor
from harness.write.writer_pool import WriteTarget
from tests.engines.everyone import Running, Watch
from tests.engines.planned_run import of_each, planned, shipped

pytestmark = pytest.mark.engines

SPARK = "spark-3.5.8-iceberg-1.10.1"
HIVE = "hive-3.1.3-iceberg-1.4.3{path=fetch}"
READERS = (SPARK, HIVE, "trino-476")
MODES = ("copy-on-write", "merge-on-read")
(STORY,) = shipped("iceberg/by_field_id")
LAST = len(STORY.steps)
REFUSED = LAST + 1
AFTER = (Step(ChangeType("n", parse_type("string"))), Step(Upsert(keys=(1, 9))))
"""What happens to the original when its states are made; Iceberg refuses the first."""


def plan_of(scenario: Scenario) -> Plan:
    writers = [Writer(SPARK, {"delete_mode": mode}) for mode in MODES]
    return planned([scenario], ["iceberg"], writers, READERS, axes={"rewrites": ("some",)})


PLAN = plan_of(STORY)


def by_night(cell: Cell) -> bool:
    """Other plans of the day have tables by copy on write, too."""
    return f"delete_mode={MODES[0]}" in cell.variant


@pytest.mark.parametrize("cell", of_each(PLAN.cells, by_night))
def test_everything_is_right_and_the_files_say_that_it_was_found_by_id(
    cell: Cell, run: Run
) -> None:
    result = run.recorded[cell.case]
    assert (result.verdict, result.findings, result.because) == (VerdictKind.CORRECT, (), "")
    assert "by id" in result.reproduces


def test_the_story_tells_readers_by_id_from_all_others(run: Run) -> None:
    strategies = {case: verdict.reproduces for case, verdict in run.recorded.items()}
    assert set(strategies) == {cell.case for cell in run.info.cells}
    assert any(ways == ("by id",) for ways in strategies.values())


@pytest.mark.nightly
@pytest.mark.parametrize("readers", [READERS], indirect=True, ids=["all"])
def test_a_state_answers_as_the_table_did_in_place_and_a_refusal_leaves_it_as_it_was(
    readers: Sequence[Running], writer_for: WriterFor, target: WriteTarget
) -> None:
    watch = Watch(readers, target, "iceberg")
    variant = plan_of(replace(STORY, steps=(*STORY.steps, *AFTER))).variants[-1]
    kinds = watch.write(variant, writer_for)
    assert [step for step, kind in enumerate(kinds) if kind is OutcomeKind.REFUSED] == [REFUSED]
    (home,) = {state.home for state in watch.states.values()}
    shutil.rmtree(home)

    forks = {step: watch.fork(state) for step, state in watch.states.items()}
    assert sorted(forks) == list(range(LAST + len(AFTER) + 1))
    assert forks == watch.in_place
    assert all(
        not response.refused for everyone in forks.values() for response in everyone.values()
    )
    assert forks[REFUSED] == forks[LAST] != forks[REFUSED + 1]
    assert write_variants.find_variant(variant, target.cache) is not None
