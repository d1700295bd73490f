"""Candidates whose readers are simulated: what each shows is known at once."""

from __future__ import annotations

from collections.abc import Callable

from harness.cli.reproduce.candidate import Candidate, begin
from harness.cli.reproduce.causes import Sign, signs
from harness.scenario import expected_history
from harness.scenario.definition import Scenario
from tests import simulated, simulated_disk
from tests.quality.notation import Told
from tests.simulated import Reader
from tests.unit.judge.test_verdicts import case_of, judged

WRITER = "spark-3.5.8-hudi-0.15.0"


def candidate_of(told: Told, view: str = "snapshot") -> Candidate:
    """Return the whole of a history as the candidate that a search begins with."""
    variant = case_of(told).variant
    writers = (WRITER,) * len(variant.writers)
    made = begin(variant, len(told.operations), view, ())
    return made.__class__(made.scenario, made.format, {}, writers, made.numbers)


def told_of(candidate: Candidate) -> Told:
    """Write a candidate by the simulated writer."""
    scenario, mor = candidate.scenario, candidate.format == "hudi-mor"
    done = [True] * len(scenario.steps)
    history = expected_history.history(scenario, merge_on_read=mor, applied=done)
    operations = candidate.operations
    disk = simulated_disk.written(scenario.table, operations, history, merge_on_read=mor)
    return Told(operations, history, disk)


def seen_by(reader: Reader, candidate: Candidate) -> frozenset[Sign]:
    """Return how a reader's answer after the last step is wrong."""
    told = told_of(candidate)
    return signs(judged(told, simulated.read(told.disk, told.truth, reader)), None)


def showing(reader: Reader, sign: Sign) -> Callable[[Candidate], bool]:
    """Return the question whether a reader shows a sign."""
    return lambda candidate: sign.among(seen_by(reader, candidate))


def scenario_of(told: Told) -> Scenario:
    """Return the scenario of a history."""
    return case_of(told).variant.scenario
