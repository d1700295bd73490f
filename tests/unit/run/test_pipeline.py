"""The verbs on a run's folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.artifacts.cache import Cache
from harness.core import jsonl
from harness.core.errors import UsageProblem
from harness.core.records import Answer, Refusal
from harness.judge.gate import gate
from harness.run import load_run, pipeline
from harness.run.pipeline import states_of

RECORDED = Path(__file__).parents[2] / "recorded" / "findings_a5"


def test_a_state_that_is_no_longer_kept_is_reported_with_what_to_do(tmp_path: Path) -> None:
    result = load_run.load(RECORDED)
    with pytest.raises(UsageProblem, match=r"no longer in .*run the profile again"):
        states_of(result.states, Cache(tmp_path))


def gated(folder: Path, **given: object) -> tuple[int, str]:
    """Judge a run of two right answers, as if the table were of version 9 and one of them another.

    One reader is declared not to know such tables. Give what the gate says.
    """
    run = load_run.load(RECORDED)
    first = next(cell for cell in run.info.cells if cell.reader.startswith("spark-3.5.8-hudi-1"))
    cells = first, replace(first, reader="trino-476{use-column-names=true}")
    load_run.write_info(folder, replace(run.info, cells=cells))
    states = (replace(state, table_version="9") for state in run.states)
    jsonl.write_all(folder / load_run.STATES, states)
    answers: list[Answer] = [run.answers[cell.case] for cell in cells]
    answers[0] = replace(answers[0], **given)  # type: ignore[arg-type]
    jsonl.write_all(folder / load_run.ANSWERS, answers)
    lines = gate(pipeline.judge_run(folder).applied)
    return lines.status, "\n".join(lines.reasons)


def test_what_is_unsupported_passes_the_gate_and_an_answer_to_it_does_not(tmp_path: Path) -> None:
    refused = Refusal("HoodieException", "Unknown table versionCode:9")
    good = "2 checks judged: all correct, 1 declared unsupported."
    assert gated(tmp_path, refusal=refused, rows=(), columns=()) == (0, good)
    assert gated(tmp_path, not_applicable="not sent", probe="a case", rows=(), columns=()) == (
        0,
        good,
    )
    status, why = gated(tmp_path)
    assert status == 1
    assert why.startswith(
        "1 check is declared unsupported, and answered: hudi/add_in_the_middle by"
    )
    assert gated(tmp_path, unknown="it died", rows=(), columns=())[0] == 3
