"""The summary of a run, and the reports that have it."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from markupsafe import escape
from rich.console import Console

from harness.core import tolerances
from harness.core.records import (
    Finding,
    FindingKind,
    Refusal,
    Responsible,
    Verdict,
    VerdictKind,
    Witness,
)
from harness.core.tolerances import Normalised
from harness.judge.baseline import Applied
from harness.judge.baseline.apply import Facts, seen_of_steps
from harness.reports import ci_site, github, html, junit, markdown, summary, terminal
from harness.reports.cause_texts import cause_texts
from harness.reports.summary import scoreboard
from harness.run import run_judge
from harness.run.load_run import DEFAULTS, NOT_COMPARED, WRITE, MetastoreInfo, Run, VariantInfo
from harness.scenario.cells import Excluded, Pairs, Partly, Unlike, Variant
from harness.scenario.load import loads
from tests.builders import recorded_run, sample_run

STEP: Final = 4


def shown(run: Run) -> str:
    """Return what the terminal says, without line breaks."""
    out = io.StringIO()
    terminal.render(run, Console(file=out, width=400, color_system=None))
    return " ".join(out.getvalue().split())


def with_verdicts(run: Run, verdicts: Iterable[Verdict]) -> Run:
    return replace(run, recorded={verdict.case: verdict for verdict in verdicts})


def failures(run: Run, folder: Path) -> list[ET.Element]:
    return [*ET.parse(junit.write(run, folder)).iter("failure")]  # noqa: S314 - our own


def test_how_often_one_several_or_no_read_strategy_gives_a_wrong_answer_is_counted(
    sampled: Run,
) -> None:
    wrong = [verdict for verdict in sampled.verdicts if verdict.verdict is VerdictKind.WRONG]
    given = (("by name",), ("by id", "by name"), ("by position",))
    strategies = dict(zip((verdict.case for verdict in wrong), given, strict=False))
    verdicts = [replace(v, reproduces=strategies.get(v.case, ())) for v in sampled.verdicts]
    assert summary.explained(with_verdicts(sampled, verdicts)) == (
        "Of 46 wrong answers, exactly one read strategy explains 2, and is named; "
        "several explain 1, so none is claimed; none of those tried explains 43."
    )
    small = with_verdicts(sampled, (replace(v, inconclusive=True) for v in verdicts))
    assert "one read strategy explains 0," in summary.explained(small)
    assert "; one fits 2 so small (a count, or no rows) that" in summary.explained(small)
    right = (replace(verdict, verdict=VerdictKind.CORRECT) for verdict in verdicts)
    assert summary.explained(with_verdicts(sampled, right)) == ""


def test_through_which_metastore_was_asked_is_reported_where_it_is_not_the_usual_one(
    sampled: Run,
) -> None:
    upgraded = MetastoreInfo("hive-metastore-3.1.3", "hive-metastore-2.3.10", {"tool": "modified"})
    through = replace(sampled, info=replace(sampled.info, metastore=upgraded))
    for text in (shown(through), html.page(through)):
        assert "through hive-metastore-3.1.3, whose database hive-metastore-2.3.10 had" in text
        assert "tool: modified" in text
    assert "asked through" not in shown(sampled) + html.page(sampled)


HALF_DONE: Final = "HoodieMetaSyncException: Could not sync"


def test_a_step_that_is_half_done_has_a_section_of_its_own(sampled: Run, tmp_path: Path) -> None:
    (chosen, *_) = (state for state in sampled.states if state.outcome.step == STEP)
    outcome = replace(chosen.outcome, refusal=Refusal(*HALF_DONE.split(": ")))
    failed = replace(chosen, outcome=outcome)
    states = tuple(failed if state is chosen else state for state in sampled.states)
    run = replace(sampled, states=states)
    assert [why for _, why in summary.half_done_steps(run)] == [HALF_DONE]
    assert "(committed, then failed)" in shown(run)
    assert HALF_DONE in shown(run).partition("half-done: committed, then the writer failed")[2]
    section = html.page(run).partition("Half-done by the writer</h2>")[2]
    assert HALF_DONE in section.partition("</section>")[0]
    (failure,) = (f for f in failures(run, tmp_path) if f.get("type") == "committed, then failed")
    assert failure.get("message") == f"committed, then failed: {HALF_DONE}"


PLACE: Final = Witness("", "f2", 8, 7)
LOW_ID: Final = Finding(FindingKind.LOW_MAX_ID, ("f2",), PLACE, (PLACE,), Responsible.HISTORY)
LOW_ID_TEXT: Final = "max_column_id is 7; expected at least 8, the id of f2"


@pytest.fixture(scope="module")
def wrong_step(sampled: Run) -> Verdict:
    (state, *_) = (state for state in sampled.states if state.outcome.step == STEP)
    info = sampled.info.variant(state.variant)
    return Verdict(
        f"{info.id}/s{STEP}/{WRITE}/step/{info.writer}", info.scenario, info.id, STEP, info.writer,
        WRITE, "step", VerdictKind.WRONG, (LOW_ID,),
    )  # fmt: skip


def test_a_step_after_which_the_table_s_own_record_is_wrong_is_in_every_report(
    sampled: Run, wrong_step: Verdict, tmp_path: Path
) -> None:
    run = replace(sampled, recorded={**sampled.recorded, wrong_step.case: wrong_step})
    ((_, why),) = summary.wrong_steps(run)
    assert why.startswith(LOW_ID_TEXT)
    assert why.endswith("the writer is to blame")
    assert LOW_ID_TEXT in shown(run).partition(summary.WRONG_STEPS)[2]
    assert LOW_ID_TEXT in html.page(run)
    assert LOW_ID_TEXT.replace("_", r"\_") in markdown.write(run, tmp_path).read_text("utf-8")
    messages = [failure.get("message") or "" for failure in failures(run, tmp_path)]
    assert sum(message.startswith(LOW_ID_TEXT) for message in messages) == 1
    alone = replace(run, recorded={wrong_step.case: wrong_step})
    (annotation,) = github.annotated(alone, (), ci_site.of({}))
    assert LOW_ID_TEXT in annotation.message


def test_such_a_step_fails_the_gate_until_it_is_known_and_is_not_seen_as_right(
    sampled: Run, wrong_step: Verdict
) -> None:
    assert run_judge.gate_of(sampled, Applied((wrong_step,))).status == 1
    assert run_judge.gate_of(sampled, Applied((replace(wrong_step, known="seen"),))).status == 0
    text = "table:\n  columns: {id: string, f1: string}\n  key: id\nsteps:\n  - insert: [1]\n"
    writers = ("spark-3.5.8-hudi-0.15.0",) * (STEP + 1)
    variant = Variant(wrong_step.variant, loads(text, "a/b.yaml"), "hudi-cow", {}, writers)
    facts = Facts({variant.id: variant}, {}, {}, ((variant.id, STEP),))
    assert [step.step for step in seen_of_steps(facts, ())] == [STEP]
    assert list(seen_of_steps(facts, [wrong_step])) == []


CUT, GONE = Normalised("timestamp-milliseconds", 2), Normalised("no-more", 1)


def test_what_was_normalised_is_counted_by_product_and_reported(sampled: Run) -> None:
    def met(verdict: Verdict, *applied: Normalised) -> Verdict:
        return replace(verdict, reader="prestodb-0.283{connector=hive}", normalised=applied)

    first, second, *rest = sampled.verdicts
    run = with_verdicts(sampled, (met(first, CUT), met(second, CUT, GONE), *rest))
    declared = tolerances.declared_for("prestodb")[CUT.name]
    gone, cut = summary.tolerance_counts(run.verdicts)
    assert (cut.name, cut.count, cut.cells, cut.declared) == (CUT.name, 4, 2, declared)
    assert (gone.name, gone.count, gone.declared) == ("no-more", 1, None)
    assert (
        "Normalised, as declared: prestodb was normalised by 'no-more' (1 place); prestodb has "
        "timestamps of milliseconds and cuts off what is finer (4 values)."
    ) in shown(run)
    page = html.page(run)
    assert declared.reason in page
    assert escape(declared.source) in page
    assert "4 values in 2 checks" in page
    questions = html.data(run, html.run_cells(run))["questions"]
    cells = [cell for question in questions for cell in question["cells"]]
    assert sorted(len(cell["evened"]) for cell in cells if "evened" in cell) == [1, 2]
    assert "Normalised" not in shown(sampled)


NO_PARTITIONS: Final = Excluded("rewrites=partition with partitioned=none", "no partitions")
COVERED: Final = (
    Pairs("hudi/move", {"format": ("hudi-cow", "hudi-mor")}, 2, 4, 3, (NO_PARTITIONS,)),
    Pairs("hudi/a5", {"format": ("hudi-cow",)}, 3, 5, 4, (NO_PARTITIONS,)),
)
PARTLY: Final = (Partly("hive-3.1.3{path=mapreduce}", 99, 1323, 1568),)


def test_which_pairs_of_axis_values_are_covered_and_by_whom_is_reported(sampled: Run) -> None:
    run = replace(sampled, info=replace(sampled.info, pairs=COVERED, partly=PARTLY))
    texts = ["Pairs of axis values", summary.PARTLY, "99 of 1,323 variants that it can read"]
    texts += ["5 of 9 possible variants", NO_PARTITIONS.what, NO_PARTITIONS.why]
    assert summary.covered_pairs(COVERED) == (
        "5 of 9 possible variants cover all 7 possible pairs of axis values in 2 scenarios; "
        "2 more are impossible"
    )
    for reported in (shown(run), html.page(run)):
        assert [text for text in texts if text not in reported] == []
    assert "Pairs of axis values" not in html.page(sampled)


def variant(name: str, *writers: str, **settings: str) -> VariantInfo:
    return VariantInfo(name, "s", "hudi-cow", (), settings, writers)


def test_a_table_counts_the_variants_of_each_two_values(sampled: Run) -> None:
    variants = (
        variant("v1", "a", rewrites="some"),
        variant("v2", "b", rewrites="some"),
        variant("v3", "b", rewrites="none", partitioned="last"),
    )
    info = replace(sampled.info, pairs=COVERED, variants=variants)
    tables = {
        (c.down, c.across): (c.columns, c.rows)
        for c in summary.crossings(replace(sampled, info=info))
    }
    assert len(tables) == 3
    assert tables["writer", "rewrites"] == (("some", "none"), (("a", (1, 0)), ("b", (1, 1))))
    axes = summary.axes_of(variant("v", "a", "a", "b", rewrites="some", table_version="6"))
    assert (axes["writer"], axes["partitioned"]) == ("a then b{table_version=6}", "none")


BY_POSITION: Final = f"{sample_run.TRINO}{{use-column-names=false}}"
FETCH: Final = f"{sample_run.HIVE}{{path=fetch}}"
UNLIKE: Final = {
    sample_run.TRINO: (),
    BY_POSITION: (Unlike("use-column-names", "false", "true", named=True),),
    FETCH: (
        Unlike("vectorized", "off", "on", named=False),
        Unlike("input-format", "plain", "combine", named=False),
    ),
}
"""Of the others it is not known."""


def test_how_readers_are_set_is_reported_where_it_is_known(sampled: Run) -> None:
    readers = (replace(r, unlike=UNLIKE.get(r.reader)) for r in sampled.info.readers)
    run = replace(sampled, info=replace(sampled.info, readers=tuple(readers)))
    named = "use-column-names=false (default: true)"
    expected = {
        sample_run.TRINO: DEFAULTS,
        BY_POSITION: named,
        f"{sample_run.HIVE}{{path=mapreduce}}": NOT_COMPARED,
        "nobody": NOT_COMPARED,
    }
    assert {name: run.info.reader(name).settings for name in expected} == expected
    text, page = shown(run), html.page(run)
    for legend in (
        f"trino 1: {DEFAULTS}",
        f"trino 2: {named}",
        "hive 1: vectorized=off, set by the harness (default: on); input-format=plain, set by",
        f"spark 1, spark 2, hive 2, prestos: {NOT_COMPARED}",
    ):
        assert legend in text
    marked = [cause for cause in cause_texts(run) if cause.mark]
    assert {name for text in marked for name in text.cause.readers} == {sample_run.TRINO, FETCH}
    assert f'<code>{sample_run.TRINO}</code> <span class="tag">default</span>' in page
    reported = {r["reader"]: r["beside"] for r in html.data(run, html.run_cells(run))["readers"]}
    assert reported[BY_POSITION] == named


def test_the_scoreboard_counts_every_cell_once_and_begins_with_the_defaults() -> None:
    run = recorded_run.run_of("quick_start")
    scores = scoreboard(run)
    assert [score.by_default for score in scores] == [True] * 4 + [False] * 4
    assert sum(sum(score.counts.values()) for score in scores) == len(run.verdicts)
    by_reader = {score.reader: score for score in scores}
    assert [*by_reader["trino-476{use-column-names=true}"].counts.values()] == [
        108,
        64,
        12,
        0,
        0,
        0,
    ]
    ours = "vectorized=off, input-format=plain, statistics=off"
    assert by_reader["hive-3.1.3{path=fetch}"].ours == ours
    unknown = tuple(replace(reader, unlike=None) for reader in run.info.readers)
    old = replace(run, info=replace(run.info, readers=unknown))
    assert not any(score.by_default for score in scoreboard(old))
    assert not old.info.reader("nobody").by_default
