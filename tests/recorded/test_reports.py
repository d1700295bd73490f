"""Stories in which the harness once blamed who was sound, or nobody: what real engines answer."""

from pathlib import Path
from typing import Final

import pytest

from harness.cli.explain.command import CaseTables, tables_of
from harness.core.records import VerdictKind
from harness.judge.expectations import Expectations
from harness.judge.recorded_variant import view_of_rows
from harness.judge.verdicts import understand_cell
from tests.builders import recordings, replay
from tests.builders.recordings import Recorded, VerdictRecord

REPORTS: Final = Path(__file__).parent / "reports"
SOUND: Final = ("spark-3.5.8-delta-3.3.2", "deltalake-1.6.6", "duckdb-1.5.5")
HUDI: Final = "datafusion-54.1.0-hudi-0.5.0"


@pytest.mark.parametrize(
    ("story", "step", "readers", "outcome"),
    [
        ("02-remove_without_vector", 3, SOUND, "ghost_row by writer"),
        ("02-remove_without_vector", 4, SOUND, "ghost_row by writer"),
        ("03-partition_value_beyond_its_type", 2, ("pyiceberg-0.12.0",), "open"),
        ("04-same_group_and_dropped_partition", 3, (HUDI,), "lost_row by writer"),
        ("05-merge_brings_a_deleted_row", 3, (HUDI,), "stale by writer"),
        ("09-second_writer_reads_wrongly", 2, ("trino-476", "trino-483"), "duplicate by reader"),
        ("09-second_writer_reads_wrongly", 3, ("trino-476", "trino-483"), "duplicate by writer"),
    ],
)
def test_who_did_it_is_held_responsible_and_nobody_else(
    story: str, step: int, readers: tuple[str, ...], outcome: str
) -> None:
    [recorded] = recordings.read(REPORTS / "faults" / story)
    verdicts = {
        cell.reader: _outcome(verdict)
        for cell, verdict in recorded.verdicts.items()
        if cell.step == step and verdict["verdict"] != "correct"
    }
    assert {reader: verdicts.get(reader) for reader in readers} == dict.fromkeys(readers, outcome)
    assert set(verdicts.values()) == {outcome}


def _outcome(verdict: VerdictRecord) -> str:
    findings = [
        f"{finding['kind']} by {finding['party']}" for finding in verdict.get("findings", ())
    ]
    return ", ".join(findings) or str(verdict["verdict"])


ROOT = Path(__file__).parent / "full"
FOLDERS = ("hive/without_zone", "iceberg/case")
"""Of products that cannot show all that was written, and that give names otherwise."""


def explained(recorded: Recorded) -> dict[str, tuple[CaseTables, tuple[str, ...]]]:
    """Return the tables of each wrong answer, and the ways that its verdict has."""
    case = replay.case_of(recorded)
    result = {}
    for cell, verdict in recorded.verdicts.items():
        answer = recorded.answers[cell]
        if verdict["verdict"] != VerdictKind.WRONG or answer is None:
            continue
        expectations = Expectations(case).for_reader(cell.reader, answer)
        layout = expectations.layout(cell.step, view_of_rows(cell.view))
        taken = understand_cell(cell, expectations, answer)
        result[cell.case] = tables_of(layout, taken), tuple(verdict.get("reproduces", ()))
    return result


@pytest.mark.parametrize("name", FOLDERS)
def test_an_explanation_has_the_ways_of_the_verdict(name: str) -> None:
    every = [explained(recorded) for recorded in recordings.read(ROOT / name)]
    explanations = {case: explanation for one in every for case, explanation in one.items()}
    assert len(explanations) > 5
    for case, (tables, ways) in explanations.items():
        assert tables.fitting == ways, case
        assert any(strategy.same_as_answer for strategy in tables.strategies) == bool(ways), case
