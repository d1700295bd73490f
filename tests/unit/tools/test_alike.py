"""`tools/alike.py`: the canonical reports of a run, and where those of another are not the same."""

from __future__ import annotations

import datetime
import importlib
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from harness.core import jsonl
from harness.core.attempts import Attempt
from harness.core.records import (
    Answer,
    Finding,
    FindingKind,
    Outcome,
    OutcomeKind,
    Part,
    Refusal,
    StateRecord,
    Verdict,
    VerdictKind,
    Witness,
)
from harness.model.canonical import Value
from harness.model.file_facts import FileFact, FileKind
from harness.reports import html, junit, terminal
from harness.run import load_run, pipeline, run_info
from harness.run.load_run import Run
from tests.builders import tidy_records

RECORDED: Final = Path(__file__).parents[2] / "recorded" / "findings_a5"
SCENARIO: Final = "hudi/rename"
FILES: Final = {"verdicts.jsonl", "junit.xml", "report.html", "report.txt"}
INSTANT: Final = "20260101120000000"
GROUP: Final = "11111111-1111-1111-1111-111111111111"
Change = Callable[[Answer], Answer]


@pytest.fixture
def alike() -> ModuleType:
    return importlib.import_module("tools.alike")


@pytest.fixture
def canonical() -> ModuleType:
    return importlib.import_module("tools.canonical")


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return one scenario of a recorded run, judged and reported on."""
    folder, old = tmp_path_factory.mktemp("one"), load_run.load(RECORDED)
    variants = tuple(each for each in old.info.variants if each.scenario == SCENARIO)
    cells = tuple(each for each in old.info.cells if each.variant.startswith(SCENARIO))
    run_info.write_info(folder, replace(old.info, variants=variants, cells=cells))
    states = (each for each in old.states if each.variant.startswith(SCENARIO))
    jsonl.write_all(folder / load_run.STATES, states)
    jsonl.write_all(folder / load_run.ANSWERS, (old.answers[each.case] for each in cells))
    return judged(folder)


def judged(folder: Path) -> Path:
    pipeline.judge_run(folder)
    for report in (junit, html, terminal):
        report.write(load_run.load(folder), folder)
    return folder


def of_another_hour(old: Run, folder: Path, change: Change = lambda answer: answer) -> Path:
    """Make the same run of another hour: other names, durations and orders of rows."""
    groups = {each for state in old.states for each in tidy_records.UUID.findall(str(state.files))}
    instants = {each for state in old.states for each in tidy_records.instants_of(state)}
    other = str.maketrans("0123456789abcdef", "fedcba9876543210")
    renamed = {each: each.translate(other) for each in groups}
    names = tidy_records.Names(renamed | {each: f"2029{each[4:]}" for each in instants})
    hour = datetime.datetime(2029, 2, 3, tzinfo=datetime.UTC)
    run_info.write_info(folder, replace(old.info, id="another", started=hour, fresh=True))
    jsonl.write_all(folder / load_run.STATES, [state(each, names) for each in old.states])
    answers = [change(answer(each, names)) for each in old.answers.values()]
    jsonl.write_all(folder / load_run.ANSWERS, answers)
    return judged(folder)


def state(old: StateRecord, names: tidy_records.Names) -> StateRecord:
    new = tidy_records.state(old, names)
    return replace(new, reused=True, outcome=replace(new.outcome, seconds=old.outcome.seconds + 1))


def answer(old: Answer, names: tidy_records.Names) -> Answer:
    rows, raw = names.rows(old)
    return replace(
        tidy_records.answer(old, names),
        sql=names.text(old.sql),
        rows=rows[::-1],
        raw=tuple((len(rows) - 1 - row, column, text) for row, column, text in raw),
        attempts=tuple(replace(each, log="of another hour") for each in old.attempts),
        confirmed=old.confirmed,
        parts=tuple(replace(each, rows=names.rows(each)[0][::-1]) for each in old.parts),
        seconds=old.seconds + 1,
        reused=True,
    )


def test_runs_that_differ_in_times_and_ids_alone_have_the_same_bytes(
    alike: ModuleType, one: Path, tmp_path: Path
) -> None:
    other = of_another_hour(load_run.load(one), tmp_path / "other")
    for name in FILES:
        assert (one / name).read_bytes() != (other / name).read_bytes()
    sums = [
        alike.write(load_run.load(each), tmp_path / "same" / each.name) for each in (one, other)
    ]
    assert sums[0] == sums[1]
    assert sums[0].keys() == FILES
    assert not list(alike.differences(tmp_path / "same" / one.name, tmp_path / "same" / "other"))
    assert alike.verdicts(one) == alike.verdicts(other)


def another_value(old: Answer) -> Answer:
    [[_, *more], *rows] = old.rows
    return replace(old, rows=(("another", *more), *rows))


def another_type(old: Answer) -> Answer:
    return replace(old, columns=(*old.columns[:-1], replace(old.columns[-1], type="another")))


@pytest.mark.parametrize(
    ("change", "files"), [(another_value, FILES), (another_type, {"report.html"})]
)
def test_one_thing_that_is_another_is_found_and_its_place_told(
    alike: ModuleType,
    one: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    change: Change,
    files: set[str],
) -> None:
    old = load_run.load(one)
    at, case = next(
        (at, v.case) for at, v in enumerate(old.verdicts) if v.verdict is VerdictKind.CORRECT
    )
    other = of_another_hour(
        old, tmp_path / "other", lambda each: change(each) if each.case == case else each
    )
    given = ["alike.py", str(tmp_path / "sums"), str(one), str(other)]
    monkeypatch.setattr(sys, "argv", given)
    assert alike.main() == 1
    told = [line for line in capsys.readouterr().out.splitlines() if " instead of " in line]
    assert {line.strip().partition(":")[0] for line in told} == files
    of_verdicts = [line for line in told if "verdicts.jsonl" in line]
    assert all(f"verdicts.jsonl: line {at + 1}, character " in line for line in of_verdicts)
    changed = alike.different(alike.verdicts(one), alike.verdicts(other))
    assert changed == [case] * len(of_verdicts)


def test_a_report_that_is_not_what_the_records_give_is_told(
    alike: ModuleType, one: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(one, tmp_path / "copy"))
    (copy / "report.txt").unlink()  # nobody asked for it
    assert not list(alike.remade_otherwise(load_run.load(copy)))
    with (copy / "junit.xml").open("a", encoding="utf-8") as report:
        report.write("<!-- -->")
    [said] = alike.remade_otherwise(load_run.load(copy))
    assert said.startswith("junit.xml in ")


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("a\nbc", "a\nbd", "line 2, character 2: 'bd' instead of 'bc'"),
        ("a", "a\n", "line 1, character 2: 'a\\n' instead of 'a'"),
        ("", "x", "line 1, character 1: 'x' instead of ''"),
    ],
)
def test_the_first_difference_is_told_by_line_and_character(
    alike: ModuleType, was: str, now: str, said: str
) -> None:
    assert alike.first_difference(was, now) == said


def names(canonical: ModuleType, *files: FileFact) -> Mapping[str, tidy_records.Names]:
    outcome = Outcome(1, OutcomeKind.APPLIED, files[0].instant if files else INSTANT)
    found: Mapping[str, tidy_records.Names] = canonical.names_of(
        [StateRecord("v", outcome, "", files)]
    )
    return found


def verdict(**more: Any) -> Verdict:  # noqa: ANN401 - whatever a verdict has
    kind = more.pop("verdict", VerdictKind.WRONG)
    return replace(Verdict("v/s1/w/q/r", "s", "v", 1, "r", "snapshot", "q", kind), **more)


def seen(value: Value, file: str = "") -> tuple[Finding, ...]:
    place = Witness("1", "f1", "a", value, raw=str(value), file=file)
    return (Finding(FindingKind.UNEXPLAINED, ("f1",), place, (place,)),)


@pytest.mark.parametrize(
    ("shown", "same"),
    [
        (f"{INSTANT}_3_7", f"{INSTANT}_4_7"),  # the task that wrote the row
        (f"{INSTANT}_3_7", f"{INSTANT}_3_8"),
        ("x_1-2-3", "x_1-2-4"),  # looks like a task, and is nobody's name
        ("20260101120000001", "20260101120000002"),
    ],
)
def test_a_shown_value_is_another_unless_it_names_the_task_of_a_known_instant(
    canonical: ModuleType, shown: str, same: str
) -> None:
    own = names(canonical)
    one, other = (canonical.verdict(verdict(findings=seen(each)), own) for each in (shown, same))
    assert (one == other) is same.endswith("_4_7")


def file(instant: str, group: str) -> FileFact:
    path = f"{group}-0_0-{instant[-1]}-3_{instant}.parquet"
    return FileFact(path, FileKind.BASE, f"{group}-0", instant, (), ("1",))


def test_names_that_each_writing_gives_otherwise_are_no_difference(canonical: ModuleType) -> None:
    one, again = file(INSTANT, GROUP), file("20270203130000009", GROUP.replace("1", "2"))
    shown = [
        canonical.verdict(
            verdict(findings=seen(value, each.path), seconds=float(each.instant), reused=reused),
            names(canonical, each),
        )
        for each, value, reused in ((one, "x", False), (again, "x", True), (again, "y", True))
    ]
    assert shown[0] == shown[1] != shown[2]


@pytest.mark.parametrize(
    ("view", "alike"), [("as_of(1)", True), ("incremental(1)", True), ("snapshot", False)]
)
def test_a_question_about_the_past_is_asked_by_a_time_and_no_other_is(
    canonical: ModuleType, view: str, *, alike: bool
) -> None:
    sqls = [f"select {time} from s_1.t" for time in ("20260101120000009", "20270203130000008")]
    one, other = (canonical.verdict(verdict(view=view, sql=sql), names(canonical)) for sql in sqls)
    assert (one == other) is alike
    assert canonical.verdict(verdict(view=view, sql="select 1"), names(canonical)) != one


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        (Refusal("E", "no column f2", "13", "at f2"), True),
        (Refusal("F", "no column f1", "13", "at f1"), False),
        (Refusal("E", "no column f1", "14", "at f1"), False),
        (Refusal("E", "no column f1", "13"), False),
    ],
)
def test_what_a_refusal_says_of_the_first_file_that_failed_is_no_difference_and_its_kind_is_one(
    canonical: ModuleType, other: Refusal, *, alike: bool
) -> None:
    def said(refusal: Refusal) -> tuple[Answer, Answer]:
        whole = Answer("c", "", refusal=refusal)
        alone = Answer("c", "", parts=(Part("f1", "select f1", refusal=refusal),))
        own = names(canonical)["v"]
        return canonical._answer(whole, own, "q"), canonical._answer(alone, own, "q")

    first = said(Refusal("E", "no column f1", "13", "at f1"))
    assert [a == b for a, b in zip(said(other), first, strict=True)] == [alike, alike]


def test_a_second_attempt_is_a_difference_and_what_the_log_said_then_is_none(
    canonical: ModuleType,
) -> None:
    tried = [(), (Attempt("lost", "12:00"),), (Attempt("lost", "13:00"),)]
    none, one, other = (
        canonical._answer(Answer("c", "", attempts=each), names(canonical)["v"], "snapshot")
        for each in tried
    )
    assert none != one == other
