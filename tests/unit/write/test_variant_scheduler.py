"""Variants written side by side: what becomes of the others where a writer falls silent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

from harness.core.progress import Progress
from harness.core.records import Outcome, OutcomeKind, StateRecord
from harness.scenario.cells import Variant
from harness.write import variant_scheduler
from harness.write.state_records import Written
from harness.write.variant_writer import WriterSilent
from tests.unit.write.test_variant_writer import kinds, variant


class SimulatedBench:
    """Stands in for the one that starts processes: each variant behaves as it is told to."""

    def __init__(self, silent: dict[str, int]) -> None:
        self.where = SimpleNamespace(progress=Progress())
        self.silent = silent
        self.processes = 0

    @contextmanager
    def at_work(self) -> Iterator[None]:
        self.processes += 1
        yield

    def write(self, variant: Variant) -> Written:
        if self.silent.get(variant.id, 0):
            self.silent[variant.id] -= 1
            outcome = Outcome(1, OutcomeKind.UNKNOWN, because="dead")
            raise WriterSilent(Written((), {}), outcome)
        return Written((StateRecord(variant.id, Outcome(0, OutcomeKind.APPLIED), ""),), {})


def group(bench: SimulatedBench) -> dict[str, list[str]]:
    found = variant_scheduler._write_group([variant("a"), variant("b")], bench)  # type: ignore[arg-type]
    return {each.records[0].variant: kinds(each.records) for each in found}


def test_a_variant_whose_writer_fell_silent_is_written_once_more_alone() -> None:
    bench = SimulatedBench({"a": 1})
    assert group(bench) == {"b": ["applied"], "a": ["applied"]}
    assert bench.processes == 2


def test_after_the_second_silence_the_step_is_unknown_and_the_others_stand() -> None:
    assert group(SimulatedBench({"a": 2})) == {"b": ["applied"], "a": ["unknown"]}
