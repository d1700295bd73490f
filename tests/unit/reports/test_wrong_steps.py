"""A step after which what the table says of its schema is wrong, in each report and the gate."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from harness.core.records import Finding, FindingKind, Responsible, Verdict, VerdictKind, Witness
from harness.judge.baseline import Applied
from harness.judge.baseline.apply import Facts, seen_of_steps
from harness.judge.recorded_by_table import KINDS
from harness.reports import ci_site, findings, github, html, junit, markdown, summary, terminal
from harness.run import run_judge
from harness.run.load_run import WRITE, Run
from harness.scenario.cells import Variant
from harness.scenario.load import loads
from tests.builders import sample_run

STEP = 4
PLACE = Witness("", "f2", 8, 7)
FOUND = Finding(FindingKind.LOW_MAX_ID, ("f2",), PLACE, (PLACE,), Responsible.HISTORY)
SAID = "max_column_id is 7; expected at least 8, the id of f2"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run in which one step is wrong by the table's own record."""
    found = sample_run.make(tmp_path_factory.mktemp("run"))
    (state, *_) = (state for state in found.states if state.outcome.step == STEP)
    variant = found.variant(state.variant)
    case = f"{variant.id}/s{STEP}/{WRITE}/step/{variant.writer}"
    verdict = Verdict(
        case,
        variant.scenario,
        variant.id,
        STEP,
        variant.writer,
        WRITE,
        "step",
        VerdictKind.WRONG,
        (FOUND,),
    )
    return replace(found, recorded={**found.recorded, case: verdict})


def test_it_is_no_step_that_was_not_applied(run: Run) -> None:
    ((what, why),) = summary.wrong_steps(run)
    assert f"step {STEP}" in what
    assert why.startswith(SAID)
    assert why.endswith("the writer is to blame")
    assert what not in {failed_step for failed_step, _ in summary.failed_steps(run)}


def test_terminal_page_and_comment_have_it(run: Run, tmp_path: Path) -> None:
    out = io.StringIO()
    terminal.render(run, Console(file=out, width=400), None)
    _, _, below = out.getvalue().partition(f"{summary.WRONG_STEPS}\n")
    assert SAID in below.partition("\n\n")[0]
    assert SAID in html.write(run, tmp_path).read_text("utf-8")
    comment = markdown.write(run, tmp_path).read_text("utf-8")
    assert SAID.replace("_", r"\_") in comment or SAID in comment


def test_junit_has_it_as_a_failure(run: Run, tmp_path: Path) -> None:
    cases = ET.parse(junit.write(run, tmp_path)).iter("testcase")  # noqa: S314 - our own
    named = {case.get("name"): case.find("failure") for case in cases}
    ((_, failure),) = [(n, f) for n, f in named.items() if n and n.startswith(f"s{STEP}/{WRITE}")]
    assert failure is not None
    assert failure.get("type") == "wrong"
    assert (failure.get("message") or "").startswith(SAID)


def test_an_annotation_says_what_is_wrong(run: Run) -> None:
    alone = replace(run, recorded={c: v for c, v in run.recorded.items() if v.findings == (FOUND,)})
    (told,) = github.annotated(alone, (), ci_site.of({}))
    assert SAID in told.message
    assert told.title.endswith("is wrong")


def test_it_fails_the_gate_until_it_is_known(run: Run) -> None:
    (verdict,) = (
        step_verdict for step_verdict in run.step_verdicts if step_verdict.findings == (FOUND,)
    )
    gate = run_judge.gate_of(run, Applied((verdict,)))
    assert gate.status == 1
    known = run_judge.gate_of(run, Applied((replace(verdict, known="seen"),)))
    assert known.status == 0


def test_for_baselines_it_is_no_step_that_was_right(run: Run) -> None:
    (verdict,) = (
        step_verdict for step_verdict in run.step_verdicts if step_verdict.findings == (FOUND,)
    )
    text = "table:\n  columns: {id: string, f1: string}\n  key: id\nsteps:\n  - insert: [1]\n"
    writers = ("spark-3.5.8-hudi-0.15.0",) * (STEP + 1)
    variant = Variant(verdict.variant, loads(text, "a/b.yaml"), "hudi-cow", {}, writers)
    facts = Facts({variant.id: variant}, {}, {}, ((variant.id, STEP),))
    assert [seen_of_step.step for seen_of_step in seen_of_steps(facts, ())] == [STEP]
    assert list(seen_of_steps(facts, [verdict])) == []


@pytest.mark.parametrize(
    ("kind", "place", "said"),
    [
        (
            FindingKind.REUSED_ID,
            Witness("8", "f3", None, "f2"),
            "column f3 has id 8, that of f2; expected an id of its own",
        ),
        (
            FindingKind.REUSED_ID,
            Witness("8", "f3", "f3", "f2"),
            "column f3 has id 8, that of f2; expected that of f3",
        ),
        (
            FindingKind.REUSED_ID,
            Witness("", "", "one version", "2 versions"),
            "the history has 2 versions of one version_id",
        ),
        (
            FindingKind.LOST_ID,
            Witness("9", "g", "f1", None),
            "column g has the new id 9; expected that of f1",
        ),
        (FindingKind.LOW_MAX_ID, PLACE, SAID),
        (
            FindingKind.LOST_VERSION,
            Witness("", "", "the version of step 3", None),
            "the history of the schema lacks the version of step 3",
        ),
        (
            FindingKind.OTHER_SCHEMA,
            Witness("", "f3", "int", "absent"),
            "by the table's own record column f3 is absent; expected int",
        ),
        (
            FindingKind.OTHER_SCHEMA,
            Witness("", "latest_schema", "another version", "absent"),
            "by the table's own record latest_schema is absent; expected another version",
        ),
    ],
)
def test_each_kind_has_a_sentence(kind: FindingKind, place: Witness, said: str) -> None:
    assert kind in KINDS
    assert findings.witness_text(kind, place) == said
