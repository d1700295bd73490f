"""The files that a plan expects, beside those that real writers made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from harness.formats.api import Changes, FileLayout
from harness.model.file_facts import FileFact
from harness.model.simulation.column_resolution import META, slices
from harness.plan.separation import expected_files
from harness.run import load_run, plan_record
from harness.scenario.operations.row_writes import Insert, MoveRow, Upsert
from harness.scenario.operations.services import Compact
from tests.builders.recorded_run import RECORDED
from tests.builders.scenarios import scenario_of

STEPS = {str(step): step for step in range(20)}


def newest(facts: Sequence[FileFact], steps: Mapping[str, int]) -> list[tuple[object, ...]]:
    """Return what the files hold that a reader of the newest state reads."""
    result = [fact for base, logs in slices(facts, steps) for fact in (base, *logs) if fact]
    return sorted(
        (
            str(fact.kind),
            steps[fact.instant],
            tuple(sorted(fact.keys)),
            fact.deleted,
            columns_of(fact),
        )
        for fact in result
    )


def columns_of(fact: FileFact) -> tuple[str, ...]:
    return tuple(name for name, _ in fact.columns if name not in META)


def test_the_files_of_every_recorded_state_were_foretold() -> None:
    run = load_run.load(RECORDED)
    for variant in plan_record.plan_of(run.info).variants:
        operations = variant.scenario.operations
        truths = variant.scenario.truths(merge_on_read=False).history()
        facts = expected_files(truths, operations, FileLayout(Changes.REPLACE, partitions=True))
        states = [state for state in run.states if state.variant == variant.id]
        made = {
            state.outcome.instant: state.outcome.step for state in states if state.outcome.instant
        }
        for state in states:
            expected = newest(facts[state.outcome.step], STEPS)
            assert newest(state.files, made) == expected, (variant.id, state.outcome.step)


@pytest.mark.parametrize("changes", [Changes.REPLACE, Changes.LOG])
def test_a_row_that_moves_is_gone_from_its_file_and_in_a_new_one(changes: Changes) -> None:
    operations = Insert(keys=(1, 2, 3)), MoveRow(1, 2), Upsert(keys=(1,)), Compact()
    columns = {"id": "string", "f1": "string", "p": "string"}
    moving = scenario_of(*operations, columns=columns, partition_by=("p",))
    truths = moving.truths(merge_on_read=False).history()
    facts = expected_files(truths, operations, FileLayout(changes, partitions=True))
    old, logged = ("base", 1, ("1", "3"), ()), changes is Changes.LOG
    after = [values[:4] for values in newest(facts[2], STEPS)]
    retained = [old, ("log", 2, (), ("1",))] if logged else [("base", 2, ("3",), ())]
    assert after == sorted([*retained, ("base", 1, ("2",), ()), ("base", 2, ("1",), ())])
    bases = [base for base, _ in slices(facts[-1], STEPS) if base]
    assert sorted(key for base in bases for key in base.keys) == ["1", "2", "3"]
