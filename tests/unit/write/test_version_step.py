from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.core.records import Outcome, OutcomeKind, Refusal
from harness.scenario.definition import Step
from harness.scenario.operations.row_writes import Insert
from harness.scenario.operations.services import Clean, SetTableVersion
from harness.write.writer_pool import WriteTarget
from tests.unit.write import test_write_variant
from tests.unit.write.test_half_done_step import ERROR, FailsLate
from tests.unit.write.test_write_variant import Simulated, refuse, sent, variant

catalog, place = test_write_variant.catalog, test_write_variant.place
TO_6, TO_9 = Step(SetTableVersion(6)), Step(SetTableVersion(9))
INSERT = Step(Insert(keys=(1,)))


@dataclass
class Versioned(FailsLate):
    version: str = "9"
    compacts: bool = False

    def __post_init__(self) -> None:
        self.makes = self._makes

    def _makes(self, sql: str) -> tuple[str, ...]:
        if "to_version" not in sql:
            return ("100.commit",)
        assert self.folder is not None
        properties = self.folder / ".hoodie" / "hoodie.properties"
        properties.write_text(f"hoodie.table.version={self.version}\n")
        return ("200.commit",) if self.compacts else ()


def last(write_target: WriteTarget, spark: Simulated, *steps: Step) -> Outcome:
    return sent(write_target, spark, variant(steps=(INSERT, *steps))).records[-1].outcome


def test_a_version_that_is_there_then_is_applied(place: WriteTarget) -> None:
    records = sent(place, Versioned(), variant(steps=(INSERT, TO_9))).records
    assert (records[2].outcome.kind, records[2].outcome.instant) == (OutcomeKind.APPLIED, "")
    assert [state.table_version for state in records] == ["6", "6", "9"]


def test_one_that_is_there_already_is_applied_too(place: WriteTarget) -> None:
    assert last(place, Versioned(version="6"), TO_6).kind is OutcomeKind.APPLIED


def test_another_one_without_an_error_did_nothing(place: WriteTarget) -> None:
    outcome = last(place, Versioned(version="6"), TO_9)
    assert outcome.kind is OutcomeKind.REFUSED
    assert outcome.refusal == Refusal(
        "did nothing", "no error was answered; the table version is 6"
    )


def test_what_is_compacted_on_the_way_is_an_instant_of_the_step(place: WriteTarget) -> None:
    assert last(place, Versioned(compacts=True), TO_9).instant == "200"


def test_an_error_after_it_was_set_leaves_it_applied(place: WriteTarget) -> None:
    outcome = last(place, Versioned(part="to_version"), TO_9)
    assert (outcome.kind, outcome.refusal) == (OutcomeKind.APPLIED, ERROR)


def test_a_cleaning_is_what_the_timeline_has_of_it(place: WriteTarget) -> None:
    def outcome(*made: str) -> Outcome:
        def makes(sql: str) -> tuple[str, ...]:
            return made if "run_clean" in sql else ("100.commit",)

        return last(place, Simulated(makes=makes), Step(Clean()))

    assert (outcome("200.clean").kind, outcome("200.clean").instant) == (OutcomeKind.APPLIED, "")


def test_an_error_instead_is_a_refusal(place: WriteTarget) -> None:
    reply: Callable[[str], None] = refuse("to_version")
    assert last(place, Simulated(reply), TO_9).kind is OutcomeKind.REFUSED
