from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from harness.core.records import Outcome, OutcomeKind, Refusal, StateRecord
from harness.formats.hudi import files as hudi_files
from harness.scenario.definition import Step
from harness.scenario.operations.api import Operation, ServiceMode
from harness.scenario.operations.row_writes import Insert, Update
from harness.scenario.operations.services import Clean, Compact
from harness.scenario.operations.snapshots import Restore, Rollback, Savepoint
from harness.scenario.operations.unfinished_writes import QUERIES, VALIDATORS, FailedWrite
from harness.write.write_variants import WriterSilent
from harness.write.writer_pool import WriteTarget
from tests.builders.written_variant import (
    ERROR,
    WAITING,
    WITH_N,
    FailsLate,
    Simulated,
    sent,
    variant,
)

LEAVES = {
    "run_clean": "250.clean",
    "create_savepoint": "100.savepoint",
    "to_savepoint": "300.restore",
    "to_instant": "400.rollback",
}


def makes(*, done: bool = True) -> Callable[[str], tuple[str, ...]]:
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
    "clean": (Insert(keys=(2,)), Clean()),
}


@pytest.mark.parametrize("name", LAST)
def test_what_is_completed_on_the_timeline_is_applied_and_no_write(
    target: WriteTarget, name: str
) -> None:
    result = outcome(target, Simulated(makes=makes()), *LAST[name])
    assert (result.kind, result.instant) == (OutcomeKind.APPLIED, "")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("savepoint", "no new savepoint is on the timeline"),
        ("rollback", "no new rollback is completed"),
    ],
)
def test_what_is_not_completed_did_nothing(target: WriteTarget, name: str, shown: str) -> None:
    result = outcome(target, Simulated(makes=makes(done=False)), *LAST[name])
    assert result.kind is OutcomeKind.REFUSED
    assert result.refusal == Refusal("did nothing", f"no error was answered; {shown}")


def test_an_error_after_it_was_completed_leaves_it_applied(target: WriteTarget) -> None:
    result = outcome(target, FailsLate(makes=makes(), part="to_instant"), *LAST["rollback"])
    assert (result.kind, result.refusal) == (OutcomeKind.APPLIED, ERROR)


def test_the_instant_of_the_step_is_sent_and_its_placeholder_is_recorded(
    target: WriteTarget,
) -> None:
    spark = Simulated(makes=makes())
    result = outcome(target, spark, *LAST["restore"])
    assert spark.sent[-1] == ("call rollback_to_savepoint(table => 'db.t', instant_time => '100')")
    assert "'{instant of step 1}'" in result.statements[0]


@dataclass
class Fails(FailsLate):
    leaves: tuple[str, ...] = ("300.commit.requested", "300.inflight")

    def __post_init__(self) -> None:
        self.part, done = "cast(202", makes()
        self.makes = lambda sql: (
            () if sql.startswith("set ") else self.leaves if self.part in sql else done(sql)
        )


def test_a_write_that_left_its_instant_inflight_failed_as_it_was_meant_to(
    target: WriteTarget,
) -> None:
    spark = Fails()
    result = outcome(target, spark, FailedWrite((2,)))
    assert (result.kind, result.instant, result.refusal) == (OutcomeKind.APPLIED, "", None)
    assert spark.sent[-2:] == [f"set {QUERIES}=", f"set {VALIDATORS}="]


def test_one_that_left_nothing_is_refused_with_its_error(target: WriteTarget) -> None:
    result = outcome(target, Fails(leaves=()), FailedWrite((2,)))
    assert (result.kind, result.refusal) == (OutcomeKind.REFUSED, ERROR)


@pytest.mark.parametrize("spark", [Fails(leaves=("300.commit",)), Simulated()])
def test_one_that_is_committed_all_the_same_leaves_nothing_known(
    target: WriteTarget, spark: Simulated
) -> None:
    with pytest.raises(WriterSilent, match="was meant to fail, and was committed"):
        outcome(target, spark, FailedWrite((2,)))


SCHEDULED = "300.compaction.requested"
UPDATE = Step(Update(keys=(1,), set=("n",)))
PLANNED = (
    Step(Insert(keys=(1,))),
    UPDATE,
    Step(Compact(ServiceMode.SCHEDULE)),
    UPDATE,
    Step(Compact()),
)
Makes = Callable[[str], tuple[str, ...]]


def plans(scheduled: tuple[str, ...] = (SCHEDULED,), done: tuple[str, ...] = ()) -> Makes:
    writes = iter(("100.deltacommit", "200.deltacommit", "400.deltacommit"))

    def made(sql: str) -> tuple[str, ...]:
        if "'schedule'" in sql:
            return scheduled
        if "compaction" in sql:
            return done if "'execute'" in sql else ()
        return (next(writes),)

    return made


def written_mor(
    write_target: WriteTarget, spark: Simulated, steps: tuple[Step, ...] = PLANNED
) -> tuple[StateRecord, ...]:
    what = replace(variant(steps=steps), format="hudi-mor")
    scenario = replace(what.scenario, table=WITH_N)
    return sent(write_target, spark, replace(what, scenario=scenario)).records


@pytest.fixture(autouse=True)
def waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hudi_files, "facts", lambda *_: (WAITING,))


def test_what_is_scheduled_is_applied_and_makes_no_instant_of_a_write(target: WriteTarget) -> None:
    record = written_mor(target, Simulated(makes=plans()))[3]
    assert (record.outcome.kind, record.outcome.instant) == (OutcomeKind.APPLIED, "")


def test_a_compaction_that_is_scheduled_nowhere_did_nothing(target: WriteTarget) -> None:
    outcome = written_mor(target, Simulated(makes=plans(())))[3].outcome
    assert outcome.refusal is not None
    assert (outcome.kind, outcome.refusal.kind) == (OutcomeKind.REFUSED, "did nothing")
    assert "no compaction was scheduled, but 1 log blocks wait" in outcome.refusal.message


def test_what_a_refused_write_schedules_besides_does_not_make_it_applied(
    target: WriteTarget,
) -> None:
    # As an upgrade of the table does that comes with the write.
    spark = FailsLate(makes=lambda _: (SCHEDULED,), part="insert")
    record = written_mor(target, spark, PLANNED[:1])[1]
    assert record.outcome.kind is OutcomeKind.REFUSED


def test_what_was_scheduled_and_is_carried_out_later_holds_the_rows_of_then(
    target: WriteTarget,
) -> None:
    records = written_mor(target, Simulated(makes=plans(done=("300.commit",))))
    assert [state.outcome.instant for state in records] == ["", "100", "200", "", "400", ""]
    assert records[5].outcome.kind is OutcomeKind.APPLIED
    assert records[4].others == ()
    assert records[5].others == (("300", 2),)
