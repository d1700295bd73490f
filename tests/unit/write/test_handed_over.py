"""A table that its first writer brings to an older version before another one goes on with it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.core.records import OutcomeKind
from harness.scenario.cells import Variant
from harness.scenario.definition import Step
from harness.scenario.operations.row_writes import Insert
from harness.write import write_variants
from harness.write.next_step import VariantOutcomes
from harness.write.state_records import VariantResult
from harness.write.writer_pool import WriteTarget
from tests.unit.write import test_write_variant
from tests.unit.write.test_version_step import Versioned
from tests.unit.write.test_write_variant import WRITER, refuse, variant

catalog, place = test_write_variant.catalog, test_write_variant.place
NEWER = "spark-3.5.8-hudi-1.2.0"
STEPS = tuple(Step(Insert(keys=(key,))) for key in (1, 2, 3))
DOWN = "call downgrade_table"


@dataclass
class Growing(Versioned):
    """Makes another instant with each write."""

    def _makes(self, sql: str) -> tuple[str, ...]:
        versioned = "to_version" in sql
        return super()._makes(sql) if versioned else (f"{len(self.sent)}00.commit",)


@dataclass
class Fleet:
    """The session of each writer; all of them write to one table."""

    spark: Growing

    def __post_init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def of(self, name: str) -> Fleet:
        self.name = name
        return self

    def open(self, _: object) -> Fleet:
        return _Session(self, self.name)

    @property
    def downgrades(self) -> list[tuple[str, str]]:
        return [(name, sql) for name, sql in self.told if DOWN in sql]


class _Session(Fleet):
    def __init__(self, fleet: Fleet, name: str) -> None:
        self.fleet, self.name = fleet, name

    def run(self, sql: str, *, timeout_s: float) -> None:
        self.fleet.told.append((self.name, sql))
        self.fleet.spark.run(sql, timeout_s=timeout_s)


def handed_over(version: str = "6") -> Variant:
    made = variant(steps=STEPS)
    settings = {"handover_version": version} if version else {}
    return replace(made, settings=settings, writers=(NEWER, NEWER, WRITER, WRITER))


def written(write_target: WriteTarget, fleet: Fleet, what: Variant) -> VariantResult:
    return write_variants.write_variant(what, write_target, fleet.of)  # type: ignore[arg-type]


def test_the_first_writer_does_it_before_the_first_step_of_the_other(place: WriteTarget) -> None:
    fleet = Fleet(Growing(version="6"))
    records = written(place, fleet, handed_over()).records
    assert [state.outcome.kind for state in records] == [OutcomeKind.APPLIED] * 4
    [(name, sql)] = fleet.downgrades
    assert (name, "SIX" in sql) == (NEWER, True)
    assert [DOWN in " ".join(state.outcome.statements) for state in records] == [0, 0, 1, 0]


def test_where_it_does_not_come_to_that_version_the_step_is_refused(place: WriteTarget) -> None:
    fleet = Fleet(Growing(version="9"))
    outcome = written(place, fleet, handed_over()).records[2].outcome
    assert (outcome.kind, outcome.instant) == (OutcomeKind.REFUSED, "")
    assert outcome.refusal is not None
    assert outcome.refusal.message == "no error was answered; the table version is 9"


def test_where_it_is_answered_with_an_error_the_step_is_refused_by_it(place: WriteTarget) -> None:
    fleet = Fleet(Growing(refuse(DOWN)))
    outcome = written(place, fleet, handed_over()).records[2].outcome
    assert outcome.kind is OutcomeKind.REFUSED
    assert outcome.refusal is not None
    assert outcome.refusal.kind == "java.lang.X"
    assert fleet.downgrades == [fleet.told[-2]]


def test_what_is_handed_over_otherwise_is_another_state() -> None:
    def second(version: str) -> str:
        outcomes = VariantOutcomes(handed_over(version))
        while len(outcomes.outcomes) < 2:
            outcomes = outcomes.then(replace(outcomes.next_step().skip, kind=OutcomeKind.APPLIED))
        return outcomes.next_step().address

    assert second("6") != second("")
