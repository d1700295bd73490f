"""The verbs on a run's folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness import pipeline, record, run, run_info
from harness.errors import UsageProblem
from harness.gate import gate
from harness.record import Answer, Refusal
from harness.runtimes.cache import Cache

RECORDED = Path(__file__).parents[1] / "recorded" / "findings_a5"


def test_a_state_that_is_no_longer_kept_is_told_with_what_to_do(tmp_path: Path) -> None:
    found = run.load(RECORDED)
    with pytest.raises(UsageProblem, match=r"no longer in .*run the profile again"):
        pipeline.states_of(found.states, Cache(tmp_path))


def gated(folder: Path, **given: object) -> tuple[int, str]:
    """Judge a run of two right answers, as if the table were of version 9 and one of them another.

    One reader is declared not to know such tables. Give what the gate says.
    """
    found = run.load(RECORDED)
    first = next(each for each in found.info.cells if each.reader.startswith("spark-3.5.8-hudi-1"))
    cells = first, replace(first, reader="trino-476{use-column-names=true}")
    run_info.write_info(folder, replace(found.info, cells=cells))
    states = (replace(each, table_version="9") for each in found.states)
    record.write_all(folder / run.STATES, states)
    answers: list[Answer] = [found.answers[each.case] for each in cells]
    answers[0] = replace(answers[0], **given)  # type: ignore[arg-type]
    record.write_all(folder / run.ANSWERS, answers)
    said = gate(pipeline.judge_run(folder))
    return said.status, "\n".join(said.reasons)


def test_what_is_unsupported_passes_the_gate_and_an_answer_to_it_does_not(tmp_path: Path) -> None:
    refused = Refusal("HoodieException", "Unknown table versionCode:9")
    good = "2 cells judged: all correct, 1 declared unsupported."
    assert gated(tmp_path, refusal=refused, rows=(), columns=()) == (0, good)
    assert gated(tmp_path, void="not sent", probe="a case", rows=(), columns=()) == (0, good)
    status, why = gated(tmp_path)
    assert status == 1
    assert why.startswith("1 cell is declared unsupported, and answered: hudi/add_in_the_middle by")
    assert gated(tmp_path, unknown="it died", rows=(), columns=())[0] == 3
