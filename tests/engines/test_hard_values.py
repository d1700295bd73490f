"""The scenarios of hard values on real engines: what each reader gives of the values as they were
first written, and of days before 1582. Where an engine itself does not give them, what it does
instead is said here exactly.
"""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from harness.core.records import FindingKind, VerdictKind
from harness.run.load_run import Run
from harness.scenario.cells import Cell, Plan
from tests.engines.planned_run import by_format, of_each, shipped

pytestmark = pytest.mark.engines

SCENARIOS = ("hudi/hard_values", "hive/hard_values", "iceberg/hard_values")
READERS: Mapping[str, tuple[str, ...]] = {
    "spark-3.5.8-hudi-1.0.2{schema-on-read=on}": ("hudi-cow", "hive-parquet"),
    "hive-3.1.3{path=fetch}": ("hudi-cow", "hive-parquet"),
    "trino-476{use-column-names=true}": ("hudi-cow", "hive-parquet"),
}
WRITTEN, ANCIENT = 1, 6
"""Steps: the hard values are there; days before 1582 are, too."""


def planned() -> Plan:
    """Return the plan with the questions above alone."""
    made = by_format("hard", shipped(*SCENARIOS), READERS)
    return replace(made, cells=tuple(cell for cell in made.cells if asked(cell)))


def asked(cell: Cell) -> bool:
    """By name Trino and Hive miss the column that was renamed in between."""
    whole = "iceberg" in cell.reader or cell.reader == "trino-476" or "hudi" in cell.reader
    return cell.step == WRITTEN or (cell.step == ANCIENT and whole)


PLAN = planned()
FORMATS = {variant.id: variant.format for variant in PLAN.variants}


@pytest.mark.parametrize("cell", of_each(PLAN.cells))
def test_hard_values_are_read_as_they_were_written(cell: Cell, run: Run) -> None:
    verdict, answer = run.recorded[cell.case], run.answers[cell.case]
    result = {finding.kind: finding.columns for finding in verdict.findings}
    hudi = FORMATS[cell.variant] == "hudi-cow"
    if hudi and cell.step == ANCIENT:
        # Hudi's files do not say by which calendar they count, and Spark does not guess.
        assert verdict.verdict is VerdictKind.REFUSED
        assert answer.refusal is not None
        assert "READ_ANCIENT_DATETIME" in answer.refusal.cause + answer.refusal.message
    elif hudi and cell.reader.startswith("hive"):
        # Its input format cuts microseconds off, towards 1970.
        assert result == {FindingKind.ALTERED_VALUE: ("at",)}
        places = verdict.findings[0].witnesses
        assert {place.key for place in places} == {"least", "greatest", "zero"}
    else:
        assert (verdict.verdict, result, verdict.because) == (VerdictKind.CORRECT, {}, "")


def test_every_cell_was_asked(run: Run) -> None:
    assert set(run.recorded) >= {cell.case for cell in run.info.cells}
    assert {FORMATS[cell.variant] for cell in PLAN.cells} == set(FORMATS.values())
