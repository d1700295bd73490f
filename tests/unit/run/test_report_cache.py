"""What a page shows of cells is kept from run to run: under all that is recorded, and no less."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.artifacts.result_cache import ResultCache
from harness.core import jsonl
from harness.reports import html
from harness.run import load_run, pipeline, plan_record
from harness.run.load_run import Run
from harness.run.run_judge import RunJudge
from tests.unit.run import answered_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return answered_run.make(tmp_path / "run")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """Return a list that gets the runs whose cells are worked out."""
    runs, questions = list[Run](), html._questions

    def listed(run: Run, *given: object) -> object:
        runs.append(run)
        return questions(run, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(html, "_questions", listed)
    return runs


def page(folder: Path, results: ResultCache | None) -> str:
    """Judge a run, and return its page."""
    plan = plan_record.plan_of(load_run.read_info(folder))
    return html.page(pipeline.judge_run(folder, RunJudge(plan, results)).run)


def rename(run: Run) -> None:
    later = run.info.started + datetime.timedelta(days=1)
    load_run.write_info(run.folder, replace(run.info, id="another", started=later))


def reuse(run: Run) -> None:
    answered_run.reuse(run, reused=True)


@pytest.mark.parametrize("change", [lambda _: None, rename, reuse])
def test_a_run_that_records_the_same_has_the_page_that_it_would_have(
    run: Run, tmp_path: Path, made: list[Run], change: Callable[[Run], None]
) -> None:
    results = ResultCache(tmp_path / "results", "code")
    page(run.folder, results)
    change(run)
    made.clear()
    retained = page(run.folder, results)
    assert made == []
    assert retained == page(run.folder, None)
    assert len(made) == 1


def slow_answer(run: Run) -> None:
    first, *others = run.answers.values()
    later = replace(first, seconds=first.seconds + 1)
    jsonl.write_all(run.folder / load_run.ANSWERS, [later, *others])


def text_of_reuse(run: Run) -> None:
    """Change a text that looks as what says that an answer is reused."""
    first, *others = run.answers.values()
    answer = replace(first, confirmed='"reused":true')
    jsonl.write_all(run.folder / load_run.ANSWERS, [answer, *others])
    page(run.folder, ResultCache(run.folder.with_name("results"), "code"))
    answer = replace(first, confirmed='"reused":false')
    jsonl.write_all(run.folder / load_run.ANSWERS, [answer, *others])


def other_state(run: Run) -> None:
    states = [run.states[n] for n in range(len(run.states))]
    at = next(n for n, state in enumerate(states) if len(state.files) > 1)
    states[at] = replace(states[at], files=states[at].files[1:])
    jsonl.write_all(run.folder / load_run.STATES, states)


def other_plan(run: Run) -> None:
    first, *others = run.info.variants
    changed = replace(first, about="Another scenario.")
    load_run.write_info(run.folder, replace(run.info, variants=(changed, *others)))


@pytest.mark.parametrize("change", [slow_answer, text_of_reuse, other_state, other_plan])
def test_of_other_records_all_is_worked_out(
    run: Run, tmp_path: Path, made: list[Run], change: Callable[[Run], None]
) -> None:
    results = ResultCache(tmp_path / "results", "code")
    page(run.folder, results)
    change(run)
    made.clear()
    after = page(run.folder, results)
    assert len(made) == 1
    assert after == page(run.folder, None)
