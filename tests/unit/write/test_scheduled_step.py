from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.core import outcomes
from harness.core.records import OutcomeKind, StateRecord
from harness.formats.hudi import files as hudi_files
from harness.scenario.definition import Step
from harness.scenario.operations.api import ServiceMode
from harness.scenario.operations.row_writes import Insert, Update
from harness.scenario.operations.services import Cluster, Compact
from harness.write.writer_pool import WriteTarget
from tests.unit.write import test_write_variant
from tests.unit.write.test_half_done_step import FailsLate
from tests.unit.write.test_write_variant import WAITING, WITH_N, Simulated, sent, variant

catalog, place = test_write_variant.catalog, test_write_variant.place
SCHEDULED = "300.compaction.requested"
UPDATE = Step(Update(keys=(1,), set=("n",)))
STEPS = (
    Step(Insert(keys=(1,))),
    UPDATE,
    Step(Compact(ServiceMode.SCHEDULE)),
    UPDATE,
    Step(Compact()),
)
Makes = Callable[[str], tuple[str, ...]]


def makes(scheduled: tuple[str, ...] = (SCHEDULED,), done: tuple[str, ...] = ()) -> Makes:
    writes = iter(("100.deltacommit", "200.deltacommit", "400.deltacommit"))

    def made(sql: str) -> tuple[str, ...]:
        if "'schedule'" in sql:
            return scheduled
        if "compaction" in sql:
            return done if "'execute'" in sql else ()
        return (next(writes),)

    return made


def written(
    write_target: WriteTarget, spark: Simulated, steps: tuple[Step, ...] = STEPS
) -> tuple[StateRecord, ...]:
    what = replace(variant(steps=steps), format="hudi-mor")
    scenario = replace(what.scenario, table=WITH_N)
    return sent(write_target, spark, replace(what, scenario=scenario)).records


@pytest.fixture(autouse=True)
def waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hudi_files, "facts", lambda *_: (WAITING,))


def test_what_is_scheduled_is_applied_and_makes_no_instant_of_a_write(place: WriteTarget) -> None:
    record = written(place, Simulated(makes=makes()))[3]
    assert (record.outcome.kind, record.outcome.instant) == (OutcomeKind.APPLIED, "")


def test_a_compaction_that_is_scheduled_nowhere_did_nothing(place: WriteTarget) -> None:
    outcome = written(place, Simulated(makes=makes(())))[3].outcome
    assert outcome.refusal is not None
    assert (outcome.kind, outcome.refusal.kind) == (OutcomeKind.REFUSED, "did nothing")
    assert "no compaction was scheduled, but 1 log blocks wait" in outcome.refusal.message


def test_one_that_is_scheduled_before_its_writer_fails_is_applied(place: WriteTarget) -> None:
    outcome = written(place, FailsLate(makes=makes(), part="'schedule'"))[3].outcome
    assert outcome.kind is OutcomeKind.APPLIED
    assert outcomes.half_done(outcome)


def test_what_a_refused_write_schedules_besides_does_not_make_it_applied(
    place: WriteTarget,
) -> None:
    # As an upgrade of the table does that comes with the write.
    spark = FailsLate(makes=lambda _: (SCHEDULED,), part="insert")
    record = written(place, spark, STEPS[:1])[1]
    assert record.outcome.kind is OutcomeKind.REFUSED


def test_what_was_scheduled_and_is_carried_out_later_holds_the_rows_of_then(
    place: WriteTarget,
) -> None:
    records = written(place, Simulated(makes=makes(done=("300.commit",))))
    assert [state.outcome.instant for state in records] == ["", "100", "200", "", "400", ""]
    assert records[5].outcome.kind is OutcomeKind.APPLIED
    assert records[4].others == ()
    assert records[5].others == (("300", 2),)


def test_a_clustering_waits_and_is_carried_out_as_a_compaction_does(place: WriteTarget) -> None:
    steps = (STEPS[0], UPDATE, Step(Cluster(ServiceMode.SCHEDULE)), UPDATE, Step(Cluster()))
    writes = iter(("100.deltacommit", "200.deltacommit", "400.deltacommit"))
    made = {
        "'schedule'": ("300.replacecommit.requested",),
        "'execute'": ("300.replacecommit",),
        "'scheduleAndExecute'": ("500.replacecommit",),
    }

    def makes(sql: str) -> tuple[str, ...]:
        called = next((entry for what, entry in made.items() if what in sql), None)
        return called or (next(writes),)

    records = written(place, Simulated(makes=makes), steps)
    assert [state.outcome.instant for state in records] == ["", "100", "200", "", "400", "500"]
    assert records[5].others == (("300", 2),)
