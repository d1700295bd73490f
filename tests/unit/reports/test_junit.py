import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from harness.core.records import Attempt, VerdictKind
from harness.reports import junit, words
from harness.run import run_judge
from harness.run.load_run import Run
from tests.builders import sample_run
from tests.builders.placed_run import FILE, LINES, placed


@pytest.fixture(scope="module")
def cases(sampled: Run, tmp_path_factory: pytest.TempPathFactory) -> list[ET.Element]:
    return read(sampled, tmp_path_factory.mktemp("out"))


def read(run: Run, folder: Path) -> list[ET.Element]:
    return list(ET.parse(junit.write(run, folder)).iter("testcase"))  # noqa: S314 - our own


def case(cases: list[ET.Element], reader: str, step: int, view: str = "snapshot") -> ET.Element:
    return next(
        element for element in cases if element.get("name") == f"s{step}/{view}/all/{reader}"
    )


def test_each_verdict_has_its_result(sampled: Run, cases: list[ET.Element]) -> None:
    results = {
        VerdictKind.CORRECT: [],
        VerdictKind.WRONG: ["failure"],
        VerdictKind.REFUSED: ["failure"],
        VerdictKind.UNKNOWN: ["error"],
        VerdictKind.UNSUPPORTED: ["skipped"],
    }
    cells = {f"{element.get('classname')}/{element.get('name')}": element for element in cases}
    for verdict in sampled.verdicts:
        result = [cell.tag for cell in cells[verdict.case] if cell.tag != "system-out"]
        assert result == results[verdict.verdict], verdict.case


def test_a_failure_tells_the_witness(cases: list[ET.Element]) -> None:
    failure = case(cases, sample_run.NAMES[5], 3).find("failure")
    assert failure is not None
    assert failure.get("type") == "misaligned"
    assert failure.get("message") == "misaligned: f2, f1"
    assert "misaligned: in row 1, f2 shows 'f3s1r1'" in (failure.text or "")
    assert "In full: report.html" in (failure.text or "")
    assert "reads by position" in (failure.text or "")
    assert "SQL: SELECT" in (failure.text or "")


def test_a_long_refusal_is_cut(sampled: Run, tmp_path: Path) -> None:
    name, answer = next((n, a) for n, a in sampled.answers.items() if a.refusal)
    assert answer.refusal
    long = replace(answer, refusal=replace(answer.refusal, message="m" * 9000, cause="c" * 9000))
    cases = read(replace(sampled, answers={**sampled.answers, name: long}), tmp_path)
    texts = [element.findtext("failure") or "" for element in cases]
    assert any("mmm" in text for text in texts)
    assert max(map(len, texts)) < 1000
    assert "m" * 9000 in junit.details(next(v for v in sampled.verdicts if v.case == name), long)


def test_what_is_unknown_shows_the_end_of_the_servers_log(sampled: Run, tmp_path: Path) -> None:
    assert "\n  log\n" in error_of(sampled, tmp_path, ())
    log = f"at a.B\n\n\tat c.D \x1b[31m{'x' * 9000}"
    tries = (Attempt("silence", "of the first try"), Attempt("silence", log))
    _, *lines = error_of(sampled, tmp_path, tries).split("\n")
    assert lines[:2] == ["the end of the server's log:", "  at a.B"]
    assert lines[2].startswith("  at c.D \\x1b[31mxxx")
    assert [len(line) for line in lines[2:]] == [2 + words.LINE]


def test_a_log_is_not_shown_where_the_server_answered_or_left_none(
    sampled: Run, tmp_path: Path
) -> None:
    why = "time-out after 120 s, twice: no answer at all"
    assert error_of(sampled, tmp_path, (Attempt("silence", "  \n"),)) == why
    answered = {"unknown": ""}
    assert error_of(sampled, tmp_path, (Attempt("silence", "at a.B"),), **answered) == why


def error_of(run: Run, folder: Path, tries: tuple[Attempt, ...], **others: str) -> str:
    """Return the text of the sample's silent cell; `tries`: in place of its own."""
    name, answer = next((n, a) for n, a in run.answers.items() if a.unknown)
    silent = replace(answer, attempts=tries or answer.attempts, **others)  # type: ignore[arg-type]
    cases = read(replace(run, answers={**run.answers, name: silent}), folder)
    result = case(cases, sample_run.NAMES[3], 5).findtext("error")
    assert result is not None
    return result


def test_control_characters_do_not_break_the_file(sampled: Run, tmp_path: Path) -> None:
    odd = {
        name: replace(verdict, because=f"{verdict.because}\x00\x1b\ud800\uffff")
        for name, verdict in sampled.recorded.items()
    }
    silent = case(read(replace(sampled, recorded=odd), tmp_path), sample_run.NAMES[3], 5).find(
        "error"
    )
    assert silent is not None
    assert (silent.get("message") or "").endswith("\\x00\\x1b\\ud800\\uffff")


def test_a_place_names_the_file_that_it_was_read_from(sampled: Run, tmp_path: Path) -> None:
    wrong = next(verdict for verdict in sampled.verdicts if verdict.verdict is VerdictKind.WRONG)
    (first, *rest), others = wrong.findings[0].witnesses, wrong.findings[1:]
    first = replace(first, file="day=1/a.parquet")
    finding = replace(wrong.findings[0], witness=first, witnesses=(first, *rest))
    reported = replace(wrong, findings=(finding, *others))
    run = replace(sampled, recorded={**sampled.recorded, wrong.case: reported})
    texts = [element.findtext("failure") or "" for element in read(run, tmp_path)]
    assert sum("; read from day=1/a.parquet\n" in text for text in texts) == 1
    assert "; read from day=1/a.parquet\n" in junit.details(reported, None)


def test_an_answer_to_what_is_declared_unsupported_is_a_failure_even_where_it_is_right(
    sampled: Run, tmp_path: Path
) -> None:
    right = next(verdict for verdict in sampled.verdicts if verdict.verdict is VerdictKind.CORRECT)
    reported = replace(right, disclaimed="it knows version 8")
    result = read(
        replace(sampled, recorded={**sampled.recorded, reported.case: reported}), tmp_path
    )
    failures = [element for one in result for element in one.iter("failure")]
    (failure,) = (failure for failure in failures if failure.get("type") == junit.ANSWERED)
    assert failure.get("message") == "declared unsupported (it knows version 8), but answered"


ALLOWED = {
    "testsuites": ({"testsuite"}, {"name"}, {"name"}),
    "testsuite": (
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
        {"name", "tests", "failures", "errors"},
        {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"},
    ),
    "properties": ({"property"}, set[str](), set[str]()),
    "property": (set[str](), {"name", "value"}, {"name", "value"}),
    "testcase": (
        {"skipped", "error", "failure", "system-out", "system-err"},
        {"name"},
        {"name", "classname", "time"},
    ),
    **dict.fromkeys(("skipped", "error", "failure"), (set[str](), set[str](), {"type", "message"})),
    "system-out": (set[str](), set[str](), set[str]()),
}
"""What `junit-10.xsd` of Jenkins' xUnit plugin, which refuses other files, lets an element have:
the elements in it, the attributes that it must have, and those that we give it."""


def test_the_file_is_as_the_schema_of_jenkins_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKSPACE", str(tmp_path))
    run = placed(sample_run.make(tmp_path / "run"), tmp_path)
    root = ET.parse(junit.write(run, tmp_path)).getroot()  # noqa: S314 - our own
    assert root.tag == "testsuites"
    for element in root.iter():
        inner, needed, known = ALLOWED[element.tag]
        assert {child.tag for child in element} <= inner, element.tag
        assert needed <= set(element.attrib) <= known, element.tag
    for suite in root:
        assert re.fullmatch(r"\d*(\.\d{0,3})?", suite.get("time") or "")
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp") or "")
        assert suite.get("tests") == str(len(suite.findall("testcase")))


def test_no_test_has_the_class_and_name_of_another_one(cases: list[ET.Element]) -> None:
    # GitLab ignores those that come later ("Unit test reports", "duplicate test names").
    names = [(element.get("classname"), element.get("name")) for element in cases]
    assert len(names) == len(set(names))


def test_each_result_says_in_its_text_what_its_message_does_where_nothing_else_is_reported(
    cases: list[ET.Element],
) -> None:
    results = [element for case in cases for element in case if element.tag != "system-out"]
    assert {element.tag for element in results} == {"failure", "error", "skipped"}
    assert [element.get("message") for element in results if not (element.text or "").strip()] == []
    known = [element for element in results if element.get("type") == junit.KNOWN]
    assert known
    assert [element for element in known if not (element.text or "").startswith("known: ")] == []


def test_where_a_build_server_shows_lines_each_result_has_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI_PROJECT_DIR", str(tmp_path))
    monkeypatch.setenv("CI_PROJECT_URL", "https://lab.example/x")
    result = read(placed(sample_run.make(tmp_path / "run"), tmp_path), tmp_path)
    moved = [
        element for element in result if (element.get("classname") or "").startswith("hudi/move[")
    ]
    for element in moved:
        step = int((element.get("name") or "")[1])
        location = (FILE, str(LINES[step])) if element.findall("*") else (None, None)
        bare = [child.tag for child in element] == ["system-out"]
        assert (element.get("file"), element.get("line")) == ((None, None) if bare else location)
    assert {test.get("file") for test in result} == {None, FILE}


def test_of_very_many_cells_what_is_right_is_summed_up_and_nothing_else(
    sampled: Run, cases: list[ET.Element], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(junit, "MOST_TESTS", len(sampled.verdicts) - 1)
    result = read(sampled, tmp_path)
    sums = [
        element
        for element in result
        if " by " in (element.get("name") or "") and not element.findall("*")
    ]
    every = [verdict for verdict in sampled.verdicts if verdict.verdict is VerdictKind.CORRECT]
    right = [verdict for verdict in every if verdict.case not in run_judge.late(sampled)]
    assert len(right) < len(every)
    assert sum(int((sum_.get("name") or "").partition(" ")[0]) for sum_ in sums) == len(right)
    assert len(sums) == len({(verdict.variant, verdict.reader) for verdict in right}) < len(right)
    remaining = {
        (element.get("classname"), element.get("name")) for element in result if element not in sums
    }
    before = {(element.get("classname"), element.get("name")): element for element in cases}
    names = {
        (verdict.variant, verdict.case.removeprefix(f"{verdict.variant}/")) for verdict in right
    }
    assert remaining == {at for at in before if at not in names}
    monkeypatch.setattr(junit, "MOST_TESTS", len(sampled.verdicts))
    assert len(read(sampled, tmp_path)) == len(cases)
