"""An explanation has the ways of reading that the verdict of a recorded wrong answer has."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli.explain.command import CaseTables, tables_of
from harness.core.records import VerdictKind
from harness.judge.expectations import Expectations
from harness.judge.recorded_variant import view_of_rows
from harness.judge.verdicts import understand_cell
from tests.builders import recordings, replay
from tests.builders.recordings import Recorded

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
