"""Variants written side by side: what becomes of the others where a writer falls silent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from harness.artifacts import distributions
from harness.core.progress import Progress
from harness.core.records import Outcome, OutcomeKind, StateRecord
from harness.scenario.cells import Variant
from harness.scenario.definition import Step
from harness.scenario.operations.failed_writes import KilledWrite
from harness.scenario.operations.second_writer import BeginWrite, CommitWrite
from harness.write import write_variants
from harness.write.state_records import VariantResult
from harness.write.write_variants import WriterSilent
from tests.unit.write.test_write_variant import kinds, variant


class SimulatedPool:
    """Stands in for the one that starts processes, and for who writes with them.

    Each variant behaves as it is told to.
    """

    def __init__(self, silent: dict[str, int]) -> None:
        self.context = SimpleNamespace(progress=Progress())
        self.silent = silent
        self.processes = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        self.processes += 1
        yield

    def target(self) -> None:
        """Nothing is made."""

    def writer(self, _: str) -> None:
        """Nothing runs."""

    def write(self, variant: Variant, *_: object) -> VariantResult:
        if self.silent.get(variant.id, 0):
            self.silent[variant.id] -= 1
            outcome = Outcome(1, OutcomeKind.UNKNOWN, because="dead")
            raise WriterSilent(outcome)
        return VariantResult((StateRecord(variant.id, Outcome(0, OutcomeKind.APPLIED), ""),), {})


Group = Callable[[dict[str, int]], tuple[SimulatedPool, dict[str, list[str]]]]


@pytest.fixture(name="written")
def _written(monkeypatch: pytest.MonkeyPatch) -> Group:
    """Write two variants, each silent so many times; tell by whom, and what came of them."""

    def group(silent: dict[str, int]) -> tuple[SimulatedPool, dict[str, list[str]]]:
        pool = SimulatedPool(silent)
        monkeypatch.setattr(write_variants, "write_variant", pool.write)
        some = [variant("a"), variant("b")]
        results = write_variants._write_group(some, pool)  # type: ignore[arg-type]
        return pool, {result.records[0].variant: kinds(result.records) for result in results}

    return group


def test_a_variant_whose_writer_fell_silent_is_written_once_more_alone(written: Group) -> None:
    pool, result = written({"a": 1})
    assert result == {"b": ["applied"], "a": ["applied"]}
    assert pool.processes == 2


def test_after_the_second_silence_the_step_is_unknown_and_the_others_stand(written: Group) -> None:
    _, result = written({"a": 2})
    assert result == {"b": ["applied"], "a": ["unknown"]}


def test_who_kills_its_writer_shares_it_with_no_other() -> None:
    local = variant("a", steps=(Step(KilledWrite(keys=(1,))),))
    assert write_variants._group(local) != write_variants._group(variant("b"))


def test_a_second_writer_takes_as_much_memory_again() -> None:
    begins = variant("a", steps=(Step(BeginWrite(insert=(1,))), Step(CommitWrite())))
    one, two = (write_variants.memory_mb([variant]) for variant in (variant("b"), begins))
    assert two - one == distributions.load(begins.writers[0]).memory_mb


def test_a_server_that_is_killed_runs_beside_the_one_that_goes_on() -> None:
    dies = variant("a", steps=(Step(KilledWrite(keys=(1,))),))
    hive = replace(dies, format="hive-acid", writers=("hive-3.1.3",) * 2)
    one, two = (write_variants.memory_mb([variant]) for variant in (variant("b"), dies))
    assert one == two, "a process of Spark that was killed is replaced by another one"
    calm = replace(hive, scenario=variant("b").scenario)
    one, two = (write_variants.memory_mb([variant]) for variant in (calm, hive))
    assert two - one == distributions.load("hive-3.1.3").memory_mb
