"""Reports of an answer that is left open: with its reason, and nowhere as right or wrong."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from rich.console import Console

from harness.comparison.cell_pairs import VerdictChange
from harness.comparison.result import Decision, SideComparison, compare
from harness.core.records import Verdict, VerdictKind
from harness.judge.gate import Gate
from harness.reports import (
    agreement,
    html,
    junit,
    markdown,
    terminal,
    upgrade_files,
    upgrade_report,
)
from harness.reports.cause_texts import advice, cause_texts
from harness.reports.ci_site import CiSite
from harness.run import causes
from harness.run.load_run import Run
from tests.builders import comparisons

WHY: Final = "a-name: a row was left out. A paragraph: it says nothing of it"
RIGHT: Final = comparisons.RIGHT


def with_open(run: Run, verdict: Verdict) -> Run:
    left = replace(verdict, verdict=VerdictKind.OPEN, because=WHY, findings=(), known="")
    return replace(run, recorded={**run.recorded, verdict.case: left})


@pytest.fixture(scope="module")
def right(sampled: Run) -> Verdict:
    """Return a right answer, the one that is open in `opened`."""
    return next(
        v for v in sampled.verdicts if v.verdict is VerdictKind.CORRECT and v.reader == RIGHT
    )


@pytest.fixture(scope="module")
def opened(sampled: Run, right: Verdict) -> Run:
    return with_open(sampled, right)


def test_a_build_server_shows_it_as_skipped_with_the_reason(
    opened: Run, right: Verdict, tmp_path: Path
) -> None:
    text = junit.write(opened, tmp_path).read_text("utf-8")
    assert text.count(f'<skipped message="open: {WHY}">open: {WHY}</skipped>') == 1


def test_the_terminal_counts_it_by_itself_and_gives_the_reason(opened: Run) -> None:
    out = io.StringIO()
    terminal.render(opened, Console(file=out, width=300))
    text = out.getvalue()
    assert "46 wrong, 10 refused, 6 unknown, 1 open, 3 unsupported, 158 correct" in text
    assert "answers what is left open: a-name" in text


def test_the_summary_and_the_page_give_the_reason(opened: Run) -> None:
    gate = Gate(0, ())
    assert "answers what is left open: a-name" in markdown.text(
        opened, gate, CiSite(Path("nowhere")), 1 << 20, cause_texts(opened)
    )
    page = html.data(opened, html.run_cells(opened, causes.causes(opened.verdicts, opened)))
    cells = [cell for question in page["questions"] for cell in question["cells"]]
    (shown,) = [cell for cell in cells if cell["k"] == "open"]
    assert page["pool"][shown["because"]] == WHY
    assert page["verdicts"]["open"]["label"] == "open"
    assert shown.get("f", []) == []


def test_nobody_is_accused_nothing_is_advised_and_no_alarm_is_raised(
    opened: Run, sampled: Run, right: Verdict
) -> None:
    left = opened.recorded[right.case]
    assert advice(left, opened.by_question[left.question]) == ()
    assert causes.symptoms(left, None) == (causes.Symptom(VerdictKind.OPEN, WHY),)
    question = [v for v in sampled.verdicts if v.question == right.question]
    all_open = sampled
    for verdict in question:
        all_open = with_open(all_open, verdict)
    assert len(agreement.alarms(all_open)) <= len(agreement.alarms(sampled))


def compared(old: Run, new: Run) -> SideComparison:
    return compare(comparisons.side(old, RIGHT, "old"), comparisons.side(new, RIGHT, "new"))


@pytest.mark.parametrize("opens", [True, False])
def test_a_comparison_tells_that_a_check_turned_to_open_or_from_it_and_calls_neither_worse(
    opened: Run, sampled: Run, *, opens: bool
) -> None:
    result = compared(sampled, opened) if opens else compared(opened, sampled)
    change = VerdictChange.OPEN_NOW if opens else VerdictChange.NO_LONGER_OPEN
    assert (result.counts[change], result.worse) == (1, ())
    assert result.decision is Decision.NOTHING_WORSE
    turned = "Turned 1 to open" if opens else "Turned 1 from open"
    assert f"{turned}, which is neither right nor wrong." in upgrade_report.headline(result)
    data: Any = upgrade_files.comparison_data(result)
    assert len(data["cells"][str(change)]) == 1
    assert replace(result, partial_allowed=True).status == 0


def test_what_is_open_on_both_sides_changes_nothing(opened: Run) -> None:
    comparison = compared(opened, opened)
    assert comparison.counts[VerdictChange.OPEN_AS_BEFORE] == 1
    assert comparison.decision is Decision.NOTHING_CHANGES


def test_an_open_answer_that_becomes_wrong_is_worse(opened: Run, sampled: Run) -> None:
    wrong = next(v for v in sampled.verdicts if v.findings)
    case = next(v for v in opened.verdicts if v.verdict is VerdictKind.OPEN)
    now = replace(case, verdict=VerdictKind.WRONG, findings=wrong.findings, because="")
    comparison = compared(opened, replace(opened, recorded={**opened.recorded, case.case: now}))
    assert (comparison.counts[VerdictChange.REGRESSED], comparison.status) == (1, 1)
