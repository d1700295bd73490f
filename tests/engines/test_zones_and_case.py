"""Times without a zone, and names in upper and lower case, on real engines: what each reader gives
of them, and which writer refuses them.
"""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from harness.core.records import VerdictKind
from harness.model.datatypes import parse_type
from harness.model.schema import Table
from harness.run.load_run import Run
from harness.scenario.cells import Cell, Plan
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.row_writes import Insert
from tests.engines.planned_run import by_format, of_each, shipped

pytestmark = pytest.mark.engines

PLAIN, CASE, HUDI = "hive/without_zone", "iceberg/case", "hudi/without_zone"
READERS: Mapping[str, tuple[str, ...]] = {
    "spark-3.5.8-hudi-1.0.2{schema-on-read=on}": ("hive-parquet", "hudi-cow"),
    "hive-3.1.3{path=fetch}": ("hive-parquet",),
    "trino-476{use-column-names=true}": ("hive-parquet",),
}
WRITTEN = 1


def on_hudi() -> Scenario:
    types = {"id": "string", "ts": "long", "at": "timestamp_ntz"}
    columns = tuple((name, parse_type(text)) for name, text in types.items())
    steps = (Step(Insert(("1",))),)
    return Scenario(HUDI, Table(columns, "id", ("ts",)), steps, formats=("hudi-cow",))


def planned() -> Plan:
    made = by_format("zones and case", [*shipped(PLAIN, CASE), on_hudi()], READERS)
    asked = [cell for cell in made.cells if "iceberg" in cell.variant or cell.step == WRITTEN]
    return replace(made, cells=tuple(asked))


PLAN = planned()
FORMATS = {variant.id: variant.format for variant in PLAN.variants}
CELLS = [cell for cell in PLAN.cells if FORMATS[cell.variant] != "hudi-cow"]


@pytest.mark.parametrize("cell", of_each(CELLS))
def test_times_and_names_are_read_as_they_were_written(cell: Cell, run: Run) -> None:
    verdict = run.recorded[cell.case]
    result = {finding.kind: finding.columns for finding in verdict.findings}
    plain = FORMATS[cell.variant] == "hive-parquet"
    if plain and cell.reader.startswith("spark"):
        # The metastore has one type of timestamps, and Spark takes it for that with a zone.
        assert "one-timestamp" in {met.name for met in verdict.normalised}
    if plain and cell.reader.startswith("hive"):
        # It reads no timestamps of 64 bits (HIVE-21215, in Hive 4).
        assert verdict.verdict is VerdictKind.REFUSED
    else:
        assert (verdict.verdict, result, verdict.because) == (VerdictKind.CORRECT, {}, "")


def test_hudi_refuses_times_without_a_zone(run: Run) -> None:
    (refused,) = [
        verdict for verdict in run.recorded.values() if FORMATS[verdict.variant] == "hudi-cow"
    ]
    assert (refused.step, refused.verdict) == (0, VerdictKind.REFUSED)
    assert "TimestampNTZType" in refused.because


@pytest.mark.parametrize("reader", ["trino-476", "hive-3.1.3-iceberg-1.4.3{path=fetch}"])
def test_who_folds_names_is_said_to_have_done_so(reader: str, run: Run) -> None:
    met = [
        verdict
        for verdict in run.recorded.values()
        if verdict.reader == reader and verdict.step > WRITTEN
    ]
    assert {one.name for verdict in met for one in verdict.normalised} >= {"lower-case-names"}
