"""A half-done step, committed before its writer failed, in each report."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from harness.core.records import OutcomeKind, Refusal
from harness.reports import html, junit, summary, terminal
from harness.run.load_run import Run
from tests.builders import sample_run

ERROR = Refusal("HoodieMetaSyncException", "Could not sync")
STEP = 4


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run in which one step of one variant is half-done."""
    found = sample_run.make(tmp_path_factory.mktemp("run"))
    (chosen, *_) = (state for state in found.states if state.outcome.step == STEP)
    assert chosen.outcome.kind is OutcomeKind.APPLIED
    failed = replace(chosen, outcome=replace(chosen.outcome, refusal=ERROR))
    return replace(found, states=tuple(failed if s is chosen else s for s in found.states))


def test_it_is_told_apart_from_steps_that_were_not_applied(run: Run) -> None:
    ((what, why),) = summary.half_done_steps(run)
    assert f"step {STEP}" in what
    assert why == "HoodieMetaSyncException: Could not sync"
    assert what not in {failed_step for failed_step, _ in summary.failed_steps(run)}


def test_the_terminal_has_it_under_a_heading_of_its_own(run: Run) -> None:
    out = io.StringIO()
    terminal.render(run, Console(file=out, width=400), None)
    text = out.getvalue()
    _, _, below = text.partition("Steps that are half-done: committed, then the writer failed\n")
    assert below.partition("\n\n")[0].endswith("HoodieMetaSyncException: Could not sync")
    assert "(committed, then failed)" in text


def test_the_page_has_it_in_a_section_of_its_own(run: Run, tmp_path: Path) -> None:
    page = html.write(run, tmp_path).read_text("utf-8")
    _, _, section = page.partition("Half-done by the writer</h2>")
    assert "HoodieMetaSyncException: Could not sync" in section.partition("</section>")[0]


def test_junit_has_it_as_a_failure_of_its_own_type(run: Run, tmp_path: Path) -> None:
    cases = ET.parse(junit.write(run, tmp_path)).iter("testcase")  # noqa: S314 - our own
    failures = [case.find("failure") for case in cases]
    (found,) = [f for f in failures if f is not None and f.get("type") == "committed, then failed"]
    assert found.get("message") == (
        "committed, then failed: HoodieMetaSyncException: Could not sync"
    )
