"""Verdicts are cached from run to run, by everything that decides them, per variant."""

import dataclasses
import datetime
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from pathlib import Path

import pytest

from harness.artifacts.result_cache import ResultCache
from harness.core import jsonl
from harness.core.records import Verdict
from harness.judge import verdicts
from harness.judge.recorded_variant import RecordedVariant
from harness.reports import html
from harness.run import load_run, pipeline, plan_record
from harness.run.load_run import Run
from harness.run.run_judge import RunJudge
from tests.unit.run import answered_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return answered_run.make(tmp_path / "run")


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the variants that are judged."""
    seen, of_steps = list[str](), verdicts.of_steps

    def listed(case: RecordedVariant) -> Iterator[Verdict]:
        seen.append(case.variant.id)
        return of_steps(case)

    monkeypatch.setattr(verdicts, "of_steps", listed)
    return seen


def text(folder: Path, results: ResultCache | None = None) -> bytes:
    """Judge a run, and return its verdicts as they are recorded."""
    plan = plan_record.plan_of(load_run.read_info(folder))
    pipeline.judge_run(folder, RunJudge(plan, results))
    return (folder / load_run.VERDICTS).read_bytes()


def test_a_run_that_is_recorded_as_another_is_judged_by_what_is_kept(
    run: Run, tmp_path: Path, judged: list[str]
) -> None:
    results = ResultCache(tmp_path / "results", "code")
    plain, first = text(run.folder), text(run.folder, results)
    judged.clear()
    assert text(run.folder, results) == first == plain
    verdicts = load_run.load(run.folder).verdicts
    unknown = {verdict.variant for verdict in verdicts if verdict.verdict.value == "unknown"}
    every = {variant.id for variant in run.info.variants}
    assert set(judged) == unknown, "what is unknown is looked at again"
    assert every - unknown


def test_what_an_earlier_run_asked_and_judged_is_not_judged_when_it_is_reused(
    run: Run, tmp_path: Path, judged: list[str]
) -> None:
    results = ResultCache(tmp_path / "results", "code")
    before = text(run.folder, results)
    judged.clear()
    text(run.folder, results)
    always = list(judged)
    answered_run.reuse(run, reused=True)
    judged.clear()
    after = text(run.folder, results)
    assert judged == always
    assert after == text(run.folder)
    assert after != before


def answers(run: Run, first: int, **changed: object) -> None:
    """Record another answer in the place of one."""
    every = list(run.answers.values())
    every[first] = replace(every[first], **changed)  # type: ignore[arg-type]
    jsonl.write_all(run.folder / load_run.ANSWERS, every)


def change_answer(run: Run) -> str:
    at, was = next((n, a) for n, a in enumerate(run.answers.values()) if len(a.rows) > 1)
    answers(run, at, rows=was.rows[1:], raw=())
    return was.case


def slow_answer(run: Run) -> str:
    at, was = next((n, a) for n, a in enumerate(run.answers.values()) if a.rows)
    answers(run, at, seconds=was.seconds + 1)
    return was.case


def lose_answer(run: Run) -> str:
    first, *others = run.answers.values()
    jsonl.write_all(run.folder / load_run.ANSWERS, others)
    return first.case


def change_state(run: Run) -> str:
    states = [run.states[n] for n in range(len(run.states))]
    at = next(n for n, state in enumerate(states) if len(state.files) > 1)
    states[at] = replace(states[at], files=states[at].files[1:])
    jsonl.write_all(run.folder / load_run.STATES, states)
    return states[at].variant + "/"


def change_scenario(run: Run) -> str:
    first = next(iter(run.info.scenarios))
    texts = dict(run.info.scenarios)
    texts[first] = texts[first].replace("insert: [3]", "insert: [4]")
    assert texts != run.info.scenarios
    load_run.write_info(run.folder, replace(run.info, scenarios=texts))
    return first + "/"


def leave_out_cell(run: Run) -> str:
    first, *others = run.info.cells
    load_run.write_info(run.folder, replace(run.info, cells=tuple(others)))
    return first.case


@pytest.mark.parametrize(
    "change",
    [change_answer, slow_answer, lose_answer, change_state, change_scenario, leave_out_cell],
)
def test_whatever_changes_is_judged_and_nothing_else(
    run: Run, tmp_path: Path, judged: list[str], change: Callable[[Run], str]
) -> None:
    results = ResultCache(tmp_path / "results", "code")
    before = text(run.folder, results)
    judged.clear()
    text(run.folder, results)
    always, case = set(judged), change(run)
    judged.clear()
    after = text(run.folder, results)
    [variant] = {variant.id for variant in run.info.variants if case.startswith(f"{variant.id}/")}
    assert set(judged) == always | {variant}
    assert after == text(run.folder)
    assert after != before


def parts(value: object) -> Iterator[object]:
    """Yield a value and everything in it, as far as `repr` shows it."""
    yield value
    inner: list[object] = []
    if dataclasses.is_dataclass(value):
        inner = [getattr(value, field.name) for field in dataclasses.fields(value) if field.repr]
    elif isinstance(value, Mapping):
        inner = [*value, *value.values()]
    elif isinstance(value, tuple | list | frozenset):
        inner = list(value)
    for part in inner:
        yield from parts(part)


def test_the_text_of_a_variant_tells_all_but_where_in_a_file_it_stands(run: Run) -> None:
    shown = [part for variant in plan_record.plan_of(run.info).variants for part in parts(variant)]
    kinds = {type(part) for part in shown}
    records = {kind for kind in kinds if dataclasses.is_dataclass(kind)}
    plain = (str, int, float, bool, type(None), tuple, list, dict, frozenset, Enum)
    assert [kind for kind in kinds - records if not issubclass(kind, plain)] == []
    hidden = {f.name for record in records for f in dataclasses.fields(record) if not f.repr}
    assert hidden == {"format_lines", "setting_lines"}


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


def text_of_reuse(run: Run) -> None:
    """Change a text that looks as what says that an answer is reused."""
    first, *others = run.answers.values()
    answer = replace(first, confirmed='"reused":true')
    jsonl.write_all(run.folder / load_run.ANSWERS, [answer, *others])
    page(run.folder, ResultCache(run.folder.with_name("results"), "code"))
    answer = replace(first, confirmed='"reused":false')
    jsonl.write_all(run.folder / load_run.ANSWERS, [answer, *others])


def other_plan(run: Run) -> None:
    first, *others = run.info.variants
    changed = replace(first, about="Another scenario.")
    load_run.write_info(run.folder, replace(run.info, variants=(changed, *others)))


@pytest.mark.parametrize("change", [slow_answer, text_of_reuse, change_state, other_plan])
def test_of_other_records_all_is_worked_out(
    run: Run, tmp_path: Path, made: list[Run], change: Callable[[Run], object]
) -> None:
    results = ResultCache(tmp_path / "results", "code")
    page(run.folder, results)
    change(run)
    made.clear()
    after = page(run.folder, results)
    assert len(made) == 1
    assert after == page(run.folder, None)
