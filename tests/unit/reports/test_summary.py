"""The summary of a run, and the reports that have it."""

import io
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from markupsafe import escape
from rich.console import Console

from harness.comparison.cell_pairs import VerdictChange
from harness.comparison.result import Decision, SideComparison, compare
from harness.core import tolerances
from harness.core.records import (
    WRITERS,
    Answer,
    Column,
    Expected,
    Finding,
    FindingKind,
    Refusal,
    Responsible,
    Verdict,
    VerdictKind,
    Witness,
)
from harness.core.tolerances import LOWER, Normalised
from harness.judge.baseline import Applied
from harness.judge.baseline.apply import Facts, seen_of_steps
from harness.judge.gate import Gate
from harness.model.query import Query
from harness.reports import (
    ci_site,
    github,
    html,
    junit,
    markdown,
    summary,
    terminal,
    upgrade_files,
    upgrade_report,
)
from harness.reports.cause_texts import advice, cause_texts
from harness.reports.ci_site import CiSite
from harness.reports.summary import scoreboard
from harness.run import causes, run_judge
from harness.run.load_run import (
    DEFAULTS,
    NOT_COMPARED,
    WRITE,
    MetastoreInfo,
    ReaderInfo,
    Run,
)
from harness.scenario.cells import Excluded, Pairs, Partly, Unlike, Variant
from harness.scenario.load import loads
from tests.builders import comparisons, recorded_run, sample_run

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
    assert len(summary.alarms(all_open)) <= len(summary.alarms(sampled))


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


COLUMNS: Final = (Column("id", "varchar", "string"), Column("n", "bigint", "long"))
VARIANT: Final = sample_run.VARIANTS[0].id
Answered = tuple[Verdict, Answer]


def answered(*rows: tuple[object, ...], kind: VerdictKind = VerdictKind.WRONG) -> Answered:
    """Return a verdict on an answer with these rows; its reader is set later."""
    verdict = Verdict("", "hudi/move", VARIANT, 3, "", "snapshot", "all", kind)
    return verdict, Answer("", "select", COLUMNS, rows)


WRONG: Final = answered(("1", 2))
"""What two engines that agree with each other say."""
SPARED: Final = answered(kind=VerdictKind.UNSUPPORTED)
NOT_SENT: Final = (
    SPARED[0],
    replace(SPARED[1], columns=(), not_applicable="it was not sent", probe="another case"),
)


def run_of(sampled: Run, answers_of: dict[str, Answered], *steps: int) -> Run:
    """Return a run in which each reader says so after these steps."""
    readers = tuple(ReaderInfo(name, name.partition("{")[0], "stock") for name in answers_of)
    cell = sampled.info.cells[0]
    cells = [replace(cell, reader=name, step=step) for step in steps or (3,) for name in answers_of]
    info = replace(sampled.info, readers=readers, cells=tuple(cells))
    verdicts = {
        c.case: replace(answers_of[c.reader][0], case=c.case, reader=c.reader, step=c.step)
        for c in cells
    }
    answers = {cell.case: replace(answers_of[cell.reader][1], case=cell.case) for cell in cells}
    return Run(sampled.folder, info, sampled.states, answers, verdicts)


def groups(run: Run) -> list[tuple[bool, tuple[str, ...]]]:
    return [(group.with_truth, group.readers) for group in summary.agreements(run, run.verdicts)]


def alarms(sampled: Run, one: Answered, other: Answered) -> tuple[summary.Alarm, ...]:
    return summary.alarms(run_of(sampled, {"a-1": one, "b-1": other}))


def test_the_same_rows_in_another_order_are_the_same_answer(sampled: Run) -> None:
    answers_of = {"a-1": answered(("1", 1), ("2", 2)), "b-1": answered(("2", 2), ("1", 1))}
    assert groups(run_of(sampled, answers_of)) == [(False, ("a-1", "b-1"))]


@pytest.mark.parametrize("other", [("1", 1.0), ("1", None), ("1", "1")])
def test_values_of_another_type_are_another_answer(sampled: Run, other: tuple[object, ...]) -> None:
    run = run_of(sampled, {"a-1": answered(("1", 1)), "b-1": answered(other)})
    assert len(groups(run)) == 2
    assert summary.alarms(run) == ()


def test_who_was_not_asked_agrees_with_nobody_and_answered_nothing(sampled: Run) -> None:
    verdict, answer = answered()
    answers_of = {"a-1": (verdict, replace(answer, columns=())), "b-1": NOT_SENT}
    assert groups(run_of(sampled, answers_of)) == [(False, ("a-1",)), (False, ("b-1",))]


def test_who_agrees_with_the_truth_comes_first(sampled: Run) -> None:
    right = answered(("1", 1), kind=VerdictKind.CORRECT)
    run = run_of(sampled, {"a-1": WRONG, "b-1": WRONG, "c-1": right})
    assert groups(run) == [(True, ("c-1",)), (False, ("a-1", "b-1"))]
    assert summary.alarms(run) == ()


def test_truth_standing_alone_against_two_engines_is_an_alarm(sampled: Run) -> None:
    verdict, answer = answered(kind=VerdictKind.REFUSED)
    refused = verdict, replace(answer, refusal=Refusal("K", "m"))
    answers_of = {"a-1": WRONG, "b-1": WRONG, "c-1": refused, "d-1": NOT_SENT}
    (alarm,) = summary.alarms(run_of(sampled, answers_of))
    assert alarm == summary.Alarm(((VARIANT, 3, "snapshot", "all"),), ("a-1", "b-1"), "")
    assert alarm.text.endswith("Check the reference model before you blame them.")


@pytest.mark.parametrize("responsible", sorted(WRITERS))
def test_what_was_found_to_be_the_writers_is_no_alarm(
    sampled: Run, responsible: Responsible
) -> None:
    lost = Finding(FindingKind.LOST_ROW, (), Witness("2", "", None, None), (), responsible)
    doubtful = replace(lost, responsible=Responsible.MODEL)
    verdict, answer = WRONG
    theirs, one = (replace(verdict, findings=(f,)) for f in (lost, doubtful))
    assert alarms(sampled, (theirs, answer), (theirs, answer)) == ()
    assert len(alarms(sampled, (theirs, answer), (one, answer))) == 1


def test_questions_that_the_same_readers_answer_alike_are_one_alarm(sampled: Run) -> None:
    (alarm,) = summary.alarms(run_of(sampled, {"a-1": WRONG, "b-1": WRONG}, 3, 4))
    assert [step for _, step, _, _ in alarm.questions] == [3, 4]
    assert f"({VARIANT}, step 3, snapshot, all and 1 question more)" in alarm.text


def test_an_alarm_names_the_one_read_strategy_that_all_of_them_have(sampled: Run) -> None:
    verdict, answer = WRONG
    by_name = replace(verdict, reproduces=("by name",)), answer
    (alarm,) = alarms(sampled, by_name, by_name)
    assert "what reading by name gives" in alarm.text


def test_two_settings_of_one_engine_are_no_alarm(sampled: Run) -> None:
    assert summary.alarms(run_of(sampled, {"a-1{x=1}": WRONG, "a-1{x=2}": WRONG})) == ()


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        (Query(count=True), ("_c0", "count(1)", "_col0")),
        (Query(columns=("a.b",)), ("b", "_col0", "a.b")),
    ],
)
def test_labels_that_engines_give_a_count_or_a_part_of_a_struct_are_no_difference(
    sampled: Run, question: Query, labels: tuple[str, ...]
) -> None:
    def one(label: str) -> Answered:
        columns = (Column(label, "bigint", "long"),)
        return WRONG[0], Answer("", "select", columns, ((7,),), question=question)

    (alarm,) = summary.alarms(run_of(sampled, {f"{label}-1": one(label) for label in labels}))
    assert len(alarm.readers) == len(labels)


def test_a_name_that_came_in_lower_case_as_declared_is_no_difference(sampled: Run) -> None:
    verdict, answer = WRONG
    spelt = replace(verdict, expected=Expected((("id", "string"), ("N", "long")), (("1", 1),)))
    upper = spelt, replace(answer, columns=(COLUMNS[0], replace(COLUMNS[1], name="N")))
    lowered = replace(spelt, normalised=(Normalised(LOWER, 1),))
    assert len(alarms(sampled, (lowered, answer), upper)) == 1
    assert alarms(sampled, (spelt, answer), upper) == ()


def test_a_declared_type_counts_where_it_is_judged_to_be_another_one(sampled: Run) -> None:
    verdict, answer = WRONG
    without = verdict, replace(answer, columns=(COLUMNS[0], Column("n", "BIGINT_TYPE")))
    drift = Witness("", "n", "long", "string")
    finding = Finding(FindingKind.TYPE_DRIFT, ("n",), drift, (drift,))
    assert len(alarms(sampled, WRONG, without)) == 1
    assert alarms(sampled, (replace(verdict, findings=(finding,)), answer), without) == ()
