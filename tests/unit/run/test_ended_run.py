"""What a run that ended says of its cells, whoever judges it."""

from pathlib import Path

import pytest

from harness.core.records import VerdictKind
from harness.run.run_judge import EndedRun
from tests.builders.answered_run import READERS, answered_run, doubtful
from tests.builders.judged_story import answer_of, case_of
from tests.builders.spoilt_files import shown_as_filed


def test_of_a_folder_without_a_run_nothing_is_known(tmp_path: Path) -> None:
    ended = EndedRun(tmp_path)
    assert not ended.begun
    assert ended.find("mine") is None


@pytest.mark.parametrize("answered", [(0,), (0, 1), (2, 1), (0, 1, 2)])
def test_of_a_run_that_ended_before_it_judged_the_same_is_reported(
    tmp_path: Path, answered: tuple[int, ...]
) -> None:
    made, files = doubtful()
    run = answered_run(tmp_path, case_of(made, files), READERS)
    for at in answered:
        run.answers(at, answer_of(shown_as_filed(made, files)))
    outcomes = [EndedRun(tmp_path).find(cell.case) for cell in run.cells]
    judged = run.judged()
    assert {at: one and one.verdict for at, one in enumerate(outcomes)} == judged
    # Now the verdicts are recorded.
    again = [EndedRun(tmp_path).find(cell.case) for cell in run.cells]
    assert [one and (one.verdict, one.answer) for one in again] == [
        one and (one.verdict, one.answer) for one in outcomes
    ]
    # One voice never puts the model in doubt.
    kind = VerdictKind.WRONG if len(answered) == 1 else VerdictKind.UNKNOWN
    assert {judged[at].verdict for at in answered} == {kind}
    silent = {verdict.because for at, verdict in judged.items() if at not in answered}
    assert silent <= {"did not run"}
