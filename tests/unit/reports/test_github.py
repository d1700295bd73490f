import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from harness.core.records import VerdictKind
from harness.judge.gate import Gate
from harness.reports import ci_site, github
from harness.reports.cause_texts import cause_texts
from harness.reports.github import Annotation
from harness.run.causes import ScenarioLine
from harness.run.load_run import Run
from tests.builders import sample_run
from tests.builders.placed_run import FILE, LINES, placed

NEW: Final = Gate(1, ("2 wrong answers are new.",))
COMMAND: Final = re.compile(r"::(?P<level>\w+) (?P<inner>[^\n]*?)::(?P<message>[^\n]*)")
UNESCAPED: Final = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return placed(sample_run.make(tmp_path / "run"), tmp_path)


def read(line: str) -> tuple[str, dict[str, str], str]:
    """Read a command as the runner does: level, properties, message."""
    result = COMMAND.fullmatch(line)
    assert result, line
    pairs = (part.split("=", 1) for part in result["inner"].split(","))
    return (
        result["level"],
        {name: plain(answer_text) for name, answer_text in pairs},
        plain(result["message"]),
    )


def plain(text: str) -> str:
    for sign, answer_text in UNESCAPED.items():
        text = text.replace(sign, answer_text)
    return text


def reported(run: Run, *, fails: bool = True) -> list[tuple[str, dict[str, str], str]]:
    out = io.StringIO()
    github.tell(run, NEW, out, fails=fails)
    return [read(line) for line in out.getvalue().splitlines()]


def test_whatever_a_text_holds_the_runner_reads_it_back() -> None:
    odd = "a,b::c%0A=d\r\n::error::x%25,file=y"
    level, properties, message = read(Annotation(odd, odd, "my/a,b:c.yaml", 3).command("error"))
    assert (level, message) == ("error", odd)
    assert properties["file"] == "my/a,b:c.yaml"
    assert properties["line"] == "3"
    assert properties["title"] == r"a,b::c%0A=d ::error::x%25,file=y"


def test_each_new_cause_has_one_and_known_ones_have_none(run: Run) -> None:
    texts = [cause_text for cause_text in cause_texts(run) if not cause_text.known]
    expected_ones = [e for e in texts if e.verdict is not VerdictKind.UNSUPPORTED]
    result = reported(run)
    assert len(result) == min(len(expected_ones), github.MOST_ANNOTATIONS)
    for (level, properties, message), text in zip(result, expected_ones, strict=False):
        assert level == "error"
        assert text.what in properties["title"] or properties["title"].endswith("…")
        assert text.commands[0] in message


def test_no_more_than_ten_are_reported_and_steps_come_last(run: Run) -> None:
    (step,) = {step_verdict.case: step_verdict for step_verdict in run.step_verdicts[:1]}.values()
    many = {
        f"{at}": replace(step, case=f"{at}", because=f"reason {at}", known="") for at in range(20)
    }
    few = replace(run, recorded=many)
    titles = [properties["title"] for _, properties, _ in reported(few)]
    assert len(titles) == github.MOST_ANNOTATIONS
    alone = [p["title"] for _, p, _ in reported(replace(run, recorded={**run.recorded, **many}))]
    assert len(alone) == github.MOST_ANNOTATIONS
    one = replace(run, recorded={step.case: replace(step, known="")}, answers={})
    every = github.annotated(one, (), ci_site.of({}))
    assert [annotation.title for annotation in every] == [
        f"{step.reader}: step 6 'change type of n from long to int' is refused"
    ]


def test_it_is_on_the_line_since_which_it_is_so(run: Run) -> None:
    places = [(p.get("file"), p.get("line")) for _, p, _ in reported(run)]
    assert (FILE, str(LINES[3])) in places


def test_what_is_in_no_file_of_the_repository_names_none(run: Run, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    site = ci_site.of({"GITHUB_WORKSPACE": str(tmp_path / "other")})
    result = github.annotated(run, cause_texts(run), site)
    assert {(annotation.file, annotation.line) for annotation in result} == {("", 0)}
    assert COMMAND.fullmatch(result[0].command("error"))
    assert result[0].command("error").startswith("::error title=")


def test_the_summary_is_added_to_that_of_the_step_and_both_stay_below_its_limit(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "step"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    before = "x" * (github.MOST_SUMMARY - 2000) + "\n"
    summary.write_text(before, encoding="utf-8")
    reported(run)
    text = summary.read_text(encoding="utf-8")
    assert text.startswith(f"{before}\n### Lake tables: something is new")
    assert "**Left out for want of room:**" in text
    assert len(text.encode()) <= github.MOST_SUMMARY


def test_outside_of_github_it_is_a_file_beside_the_others(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder := tmp_path / "out").mkdir()
    path = github.write(run, folder)
    assert path == folder / "github.md"
    assert path.read_text("utf-8").startswith("### Lake tables: ")
    assert all(COMMAND.fullmatch(line) for line in capsys.readouterr().out.splitlines())


GITHUB = {
    "GITHUB_SERVER_URL": "https://git.example",
    "GITHUB_REPOSITORY": "us/lake",
    "GITHUB_SHA": "abc",
    "GITHUB_RUN_ID": "7",
}
GITLAB = {
    "CI_PROJECT_URL": "https://lab.example/us/lake",
    "CI_COMMIT_SHA": "abc",
    "CI_JOB_URL": "https://lab.example/us/lake/-/jobs/7",
}


@pytest.mark.parametrize(
    ("variables", "root", "link", "job"),
    [
        (
            GITHUB,
            "GITHUB_WORKSPACE",
            "https://git.example/us/lake/blob/abc/my/a%20b.yaml#L9",
            "https://git.example/us/lake/actions/runs/7",
        ),
        (
            GITLAB,
            "CI_PROJECT_DIR",
            "https://lab.example/us/lake/-/blob/abc/my/a%20b.yaml#L9",
            "https://lab.example/us/lake/-/jobs/7",
        ),
        ({"BUILD_URL": "https://j.example/1/"}, "WORKSPACE", "", "https://j.example/1/"),
        ({}, "", "", ""),
    ],
)
def test_a_line_has_its_path_and_the_address_that_the_build_server_gives_it(
    variables: dict[str, str],
    root: str,
    link: str,
    job: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    site = ci_site.of({**variables, **({root: str(tmp_path)} if root else {})})
    location = ScenarioLine(tmp_path / "my" / "a b.yaml", 9)
    assert (site.path(location), site.link(location), site.job) == ("my/a b.yaml", link, job)
    assert site.shows_lines == bool(link)


@pytest.mark.parametrize(
    "path", ["../elsewhere/a.yaml", ".venv/lib/python3.11/site-packages/harness/scenarios/a.yaml"]
)
def test_what_is_in_no_repository_has_no_path(path: str, tmp_path: Path) -> None:
    (root := tmp_path / "work").mkdir()
    site = ci_site.of({**GITHUB, "GITHUB_WORKSPACE": str(root)})
    assert site.path(ScenarioLine(root / path, 9)) == ""
    assert site.link(ScenarioLine(root / path, 9)) == ""
    assert site.path(None) == ""
