import logging
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import reports
from harness.core.errors import UsageProblem
from harness.core.records import (
    Column,
    Expected,
    Finding,
    FindingKind,
    Origin,
    Responsible,
    Verdict,
    VerdictKind,
    Witness,
)
from harness.model.query import COUNT
from harness.reports import findings, junit, markdown, words
from harness.reports.marks import marks
from harness.reports.words import NOT_WORDED
from harness.run.load_run import Run
from tests.builders import sample_run
from tests.unit.model.test_canonical import VALUES


def test_reports_are_found_by_their_files() -> None:
    assert {"github", "html", "junit", "markdown", "terminal"} <= set(reports.names())
    assert "words" not in reports.names(), "a module that several reports share"


def test_an_unknown_report_is_wrong_use_and_names_what_is_there() -> None:
    with pytest.raises(UsageProblem, match=r"'pdf'; allowed: github, html, junit, "):
        reports.load("pdf")


KEYS = st.sampled_from(["", "1", "NULL"]) | st.text(max_size=3)
COLUMNS = st.sampled_from(["", "id", "f", "f.a", "l[0].a", "f.element", COUNT])
PLACES = st.builds(
    Witness,
    KEYS,
    COLUMNS,
    VALUES,
    VALUES,
    st.none() | st.builds(Origin, st.just(3), st.just("f1"), st.just(1), st.just("2")),
    st.text(max_size=3),
)
FINDINGS = st.builds(
    lambda kind, responsible, places: Finding(
        kind, (places[0].column,), places[0], tuple(places), responsible
    ),
    st.sampled_from(FindingKind),
    st.none() | st.sampled_from(Responsible),
    st.lists(PLACES, min_size=1, max_size=3),
)
NESTED = Witness("1", "l", ({"a": 1},), "x")


@settings(max_examples=20)
@given(FINDINGS, VALUES)
def test_every_finding_has_a_place_on_the_page_and_in_a_build_server_s_report(
    finding: Finding, value: object
) -> None:
    expected = Expected((("id", "string"), ("f", "string")), (("1", value),))
    columns = (Column("id", "varchar", "string"), Column("f", "varchar", "string"))
    result = marks(expected, columns, (("1", value),), (finding,), "id")
    assert len(result.notes) == len(finding.witnesses)
    verdict = Verdict(
        "a/s1/r/snapshot/all", "a", "a", 1, "r", "snapshot", "all", VerdictKind.WRONG, (finding,)
    )
    assert NOT_WORDED not in (junit.message(verdict, None), junit.details(verdict, None))


def run_with(finding: Finding, folder: Path) -> tuple[Run, Verdict]:
    """Return the sample in which one wrong answer has another finding."""
    run = sample_run.make(folder)
    old = next(verdict for verdict in run.verdicts if verdict.verdict is VerdictKind.WRONG)
    new = replace(old, findings=(finding,))
    return replace(run, recorded={**run.recorded, new.case: new}), new


@pytest.mark.parametrize("name", reports.names())
def test_a_cell_without_words_says_so_in_every_report_and_the_log_why(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # Of this party there is no other: it is a cause of its own.
    finding = Finding(FindingKind.UNEXPLAINED, ("l",), NESTED, (NESTED,), Responsible.UNSURE)
    run, verdict = run_with(finding, tmp_path)
    wording = words.shown

    def fails(value: object) -> str:
        if value == NESTED.expected:
            raise ZeroDivisionError("in a sentence")
        return wording(value)

    monkeypatch.setattr(markdown, "MOST_CAUSES", 99)  # so many are shown in full
    whole = reports.load(name).write(run, tmp_path).read_text("utf-8")
    assert NOT_WORDED not in whole
    monkeypatch.setattr(findings, "shown", fails)
    with caplog.at_level(logging.ERROR, "harness.reports"):
        text = reports.load(name).write(run, tmp_path).read_text("utf-8")
    assert NOT_WORDED in " ".join(text.split())
    assert "in row 1, f1 shows" in " ".join(text.split())
    assert {record.message for record in caplog.records} == {f"cannot word {verdict.case}"}
    assert all(record.exc_info for record in caplog.records)
