from pathlib import Path
from typing import Final

from harness.core.records import Verdict, VerdictKind
from harness.judge.verdicts import judge
from tests.builders import recordings, replay
from tests.builders.calls import calls_of

VERDICTS: Final = "harness.judge.verdicts"
STAGES: Final = {
    "harness.judge.understand": "understand",
    "harness.judge.file_evidence": "match_strategies",
    "harness.judge.compare": "compare",
    "harness.judge.trace": "trace",
    "harness.judge.name": "name",
    "harness.judge.attribute": "attribute",
}
"""The stages in their order: the public function of each module."""


def test_the_judge_calls_each_stage_once_in_order() -> None:
    (recorded, *_) = recordings.read_all(Path(__file__).parents[2] / "recorded" / "quick_start")
    wrong = (
        c for c, verdict in recorded.verdicts.items() if verdict["verdict"] == VerdictKind.WRONG
    )
    cell = next(wrong)
    case, answer = replay.case_of(recorded), recorded.answers[cell]
    assert answer is not None
    verdicts: list[Verdict] = []
    made = calls_of(lambda: verdicts.extend(judge(case, [cell], {cell.case: answer})))
    assert [verdict.verdict for verdict in verdicts] == [VerdictKind.WRONG]
    of_stages = [call for call in made if STAGES.get(call.callee) == call.function]
    assert [stage.function for stage in of_stages] == list(STAGES.values())
    assert {stage.caller for stage in of_stages} == {VERDICTS}
