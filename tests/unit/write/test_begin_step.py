"""A second writer that waits before its commit, and what the timeline says of it; no Spark runs."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.core.records import OutcomeKind, Refusal
from harness.engines.api import RefusedError
from harness.scenario.definition import Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.row_writes import Insert
from harness.scenario.operations.second_writer import BeginWrite, CommitWrite
from harness.write import write_variants
from harness.write.state_records import VariantResult
from harness.write.stopped_writer import LOCK
from harness.write.writer_pool import WriteTarget
from tests.unit.write import test_write_variant
from tests.unit.write.test_held_write import take
from tests.unit.write.test_write_variant import Simulated, kinds, variant

catalog, place = test_write_variant.catalog, test_write_variant.place
CONFLICT = Refusal("HoodieWriteConflictException", "overlapping writes")
OPERATIONS: tuple[Operation, ...] = (
    Insert((1,)),
    BeginWrite(update=(1,)),
    Insert((2,)),
    CommitWrite(),
    Insert((3,)),
)


@dataclass
class Second:
    """Stands in for the second writer's process: it begins an instant, waits, and completes it."""

    first: Simulated
    refuses: bool = False
    waits: bool = True
    told: dict[str, str] = field(default_factory=dict)
    went_on: threading.Event = field(default_factory=threading.Event)

    def open(self, request: dict[str, str]) -> Second:
        self.told = request
        return self

    def run(self, _: str, *, timeout_s: float) -> None:
        assert self.first.folder is not None
        timeline = self.first.folder / ".hoodie"
        (timeline / "150.commit.requested").touch()
        (timeline / "150.inflight").touch()
        if self.waits:
            take(Path(self.told["hoodie.write.lock.filesystem.path"]) / LOCK, timeout_s)
        self.went_on.set()
        if self.refuses:
            raise RefusedError(CONFLICT, 1.0)
        (timeline / "150.commit").touch()


def written(
    write_target: WriteTarget, second: Second, does: tuple[Operation, ...] = OPERATIONS
) -> VariantResult:
    writers = {1: second.first, 2: second}

    def writer_for(_: str, number: int = 1, /) -> object:
        return writers[number]

    steps = tuple(map(Step, does))
    return write_variants.write_variant(variant(steps=steps), write_target, writer_for)  # type: ignore[arg-type]


@pytest.fixture
def second() -> Second:
    made = iter(("100.commit", "200.commit", "300.commit"))
    return Second(Simulated(makes=lambda _: (next(made),)))


def test_a_write_that_waits_is_begun_and_its_commit_is_a_step_of_its_own(
    place: WriteTarget, second: Second
) -> None:
    records = written(place, second).records
    assert kinds(records) == ["applied"] * 6
    assert [state.outcome.instant for state in records] == ["", "100", "", "200", "150", "300"]


def test_a_commit_that_is_refused_leaves_the_table_as_the_other_writer_left_it(
    place: WriteTarget, second: Second
) -> None:
    second.refuses = True
    records = written(place, second).records
    assert kinds(records) == [*["applied"] * 4, "refused", "applied"]
    assert records[4].outcome.refusal == CONFLICT


def test_of_a_write_that_did_not_wait_nothing_is_known(place: WriteTarget, second: Second) -> None:
    second.waits = False
    with pytest.raises(write_variants.WriterSilent, match="did not wait for its lock"):
        written(place, second)


def test_a_write_that_no_step_commits_is_let_go(place: WriteTarget, second: Second) -> None:
    records = written(place, second, OPERATIONS[:3]).records
    assert records[-1].outcome.kind is OutcomeKind.APPLIED
    assert second.went_on.wait(60)
