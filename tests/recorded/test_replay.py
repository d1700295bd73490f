"""Answers of real engines, judged again without engines: every change of a check meets them.

`findings_a5` was recorded from a run of the profile of that name (copy-on-write, with twins):
Spark, Hive, Trino and PrestoSQL after an added, a dropped and a renamed column. `expected.json` is
what a person agreed to; make it anew with `python -m tests.recorded.test_replay`, then review it.
"""

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from harness.core.records import Verdict, labelled
from harness.judge.expectations import Expectations
from harness.model.commit import INCREMENTAL
from harness.model.past_views import name_of
from harness.model.simulation.strategies import ColumnMapping, ReadStrategy
from harness.run import pipeline
from tests.builders import recordings, replay
from tests.builders.recorded_run import RECORDED
from tests.builders.recordings import Recorded

EXPECTED: Final = RECORDED / "expected.json"


def summary(verdicts: tuple[Verdict, ...]) -> dict[str, Any]:
    """Say of each cell what is judged, without the tables."""
    return {
        verdict.case: [
            str(verdict.verdict),
            [f"{finding.kind}: {', '.join(finding.columns)}" for finding in verdict.findings],
            list(verdict.reproduces),
            verdict.because,
        ]
        for verdict in verdicts
    }


def judged(folder: Path) -> dict[str, Any]:
    """Judge a copy of the recorded run."""
    shutil.copytree(RECORDED, folder)
    return summary(pipeline.judge_run(folder).applied.verdicts)


@pytest.fixture(scope="module")
def lines_by_case(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return judged(tmp_path_factory.mktemp("replay") / "run")


def test_recorded_answers_are_judged_as_they_were(lines_by_case: dict[str, Any]) -> None:
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))
    changed = {
        case: lines_by_case.get(case)
        for case in expected
        if lines_by_case.get(case) != expected[case]
    }
    assert changed == {}
    assert lines_by_case.keys() == expected.keys()


def test_the_recording_holds_every_kind_of_answer(lines_by_case: dict[str, Any]) -> None:
    verdicts = Counter(lines[0] for lines in lines_by_case.values())
    assert verdicts["correct"] > 100
    assert verdicts["wrong"] > 30
    assert verdicts["refused"] > 10
    kinds = {text.partition(":")[0] for one in lines_by_case.values() for text in one[1]}
    assert {"misaligned", "missing_rename", "lost_value"} <= kinds
    assert "unexplained" not in kinds


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        text = json.dumps(judged(Path(name) / "run"), indent=1, ensure_ascii=False)
        EXPECTED.write_text(text + "\n", encoding="utf-8")


ROOT = Path(__file__).parent / "time_travel"


def explained(recorded: Recorded) -> Iterator[tuple[str, bool]]:
    """Yield for each right answer whether a flawless reader gives it."""
    expectations = Expectations(replay.case_of(recorded))
    for cell, answer in recorded.answers.items():
        right = recorded.verdicts.get(cell, {}).get("verdict") == "correct"
        if answer and right and name_of(cell.view) == INCREMENTAL:
            layout = expectations.layout(cell.step, cell.view)
            names = [column.name for column in labelled(answer.question, answer.columns)]
            _, ways = layout.fitting(answer.question, names, answer.rows)
            yield cell.case, ReadStrategy(ColumnMapping.ID) in ways


def test_every_right_answer_is_given_by_a_reader_that_errs_in_nothing() -> None:
    variants = (
        recording for folder in recordings.folders(ROOT) for recording in recordings.read(folder)
    )
    explanations = dict(pair for variant in variants for pair in explained(variant))
    assert len(explanations) > 500
    assert [case for case, given in explanations.items() if not given] == []
