"""Steps that take something back: what is on the timeline then counts, whatever was answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from harness.core.records import Outcome, OutcomeKind, Refusal
from harness.scenario.definition import Step
from harness.scenario.operations import failed_writes
from harness.scenario.operations.api import Operation
from harness.scenario.operations.failed_writes import FailedWrite
from harness.scenario.operations.row_writes import Insert
from harness.scenario.operations.snapshots import Restore, Rollback, Savepoint
from harness.write.write_variants import WriterSilent
from harness.write.writer_pool import WriteTarget
from tests.unit.write import test_write_variant
from tests.unit.write.test_half_done_step import ERROR, FailsLate
from tests.unit.write.test_write_variant import Simulated, sent, variant

catalog, place = test_write_variant.catalog, test_write_variant.place
LEAVES = {
    "create_savepoint": "100.savepoint",
    "to_savepoint": "300.restore",
    "to_instant": "400.rollback",
}
"""What each call leaves on the timeline."""


def makes(*, done: bool = True) -> Callable[[str], tuple[str, ...]]:
    """Return what each statement makes on the timeline."""
    writes = iter(("100.commit", "200.commit"))

    def made(sql: str) -> tuple[str, ...]:
        result = [name for part, name in LEAVES.items() if part in sql]
        if not result:
            return (next(writes),)
        return tuple(result) if done else tuple(f"{name}.inflight" for name in result)

    return made


def steps(*last: Operation) -> tuple[Step, ...]:
    return tuple(map(Step, (Insert(keys=(1,)), *last)))


def outcome(write_target: WriteTarget, spark: Simulated, *last: Operation) -> Outcome:
    return sent(write_target, spark, variant(steps=steps(*last))).records[-1].outcome


LAST = {
    "savepoint": (Savepoint(),),
    "restore": (Savepoint(), Insert(keys=(2,)), Restore()),
    "rollback": (Insert(keys=(2,)), Rollback()),
}


@pytest.mark.parametrize("name", LAST)
def test_what_is_completed_on_the_timeline_is_applied_and_no_write(
    place: WriteTarget, name: str
) -> None:
    result = outcome(place, Simulated(makes=makes()), *LAST[name])
    assert (result.kind, result.instant) == (OutcomeKind.APPLIED, "")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("savepoint", "no new savepoint is on the timeline"),
        ("rollback", "no new rollback is completed"),
    ],
)
def test_what_is_not_completed_did_nothing(place: WriteTarget, name: str, told: str) -> None:
    result = outcome(place, Simulated(makes=makes(done=False)), *LAST[name])
    assert result.kind is OutcomeKind.REFUSED
    assert result.refusal == Refusal("did nothing", f"no error was answered; {told}")


def test_an_error_after_it_was_completed_leaves_it_applied(place: WriteTarget) -> None:
    result = outcome(place, FailsLate(makes=makes(), part="to_instant"), *LAST["rollback"])
    assert (result.kind, result.refusal) == (OutcomeKind.APPLIED, ERROR)


def test_the_instant_of_the_step_is_sent_and_its_placeholder_is_recorded(
    place: WriteTarget,
) -> None:
    spark = Simulated(makes=makes())
    result = outcome(place, spark, *LAST["restore"])
    assert spark.sent[-1] == ("call rollback_to_savepoint(table => 'db.t', instant_time => '100')")
    assert "'{instant of step 1}'" in result.statements[0]


def test_a_refused_savepoint_is_none_to_go_back_to(place: WriteTarget) -> None:
    records = sent(
        place, Simulated(makes=makes(done=False)), variant(steps=steps(*LAST["restore"]))
    )
    last = records.records[-1].outcome
    assert last.kind is OutcomeKind.SKIPPED
    assert last.because == "step 2 refused: there is no savepoint to go back to"


@dataclass
class Fails(FailsLate):
    """Begins a write that the validator fails."""

    leaves: tuple[str, ...] = ("300.commit.requested", "300.inflight")

    def __post_init__(self) -> None:
        self.part, done = "cast(202", makes()
        self.makes = lambda sql: (
            () if sql.startswith("set ") else self.leaves if self.part in sql else done(sql)
        )


def test_a_write_that_left_its_instant_inflight_failed_as_it_was_meant_to(
    place: WriteTarget,
) -> None:
    spark = Fails()
    result = outcome(place, spark, FailedWrite((2,)))
    assert (result.kind, result.instant, result.refusal) == (OutcomeKind.APPLIED, "", None)
    assert spark.sent[-2:] == [
        f"set {failed_writes.QUERIES}=",
        f"set {failed_writes.VALIDATORS}=",
    ]


def test_one_that_left_nothing_is_refused_with_its_error(place: WriteTarget) -> None:
    result = outcome(place, Fails(leaves=()), FailedWrite((2,)))
    assert (result.kind, result.refusal) == (OutcomeKind.REFUSED, ERROR)


@pytest.mark.parametrize("spark", [Fails(leaves=("300.commit",)), Simulated()])
def test_one_that_is_committed_all_the_same_leaves_nothing_known(
    place: WriteTarget, spark: Simulated
) -> None:
    with pytest.raises(WriterSilent, match="was meant to fail, and was committed"):
        outcome(place, spark, FailedWrite((2,)))
