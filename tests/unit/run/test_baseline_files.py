"""The command line on a run whose answers were put together here; no engine is asked."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harness.cli import app, plan_options
from harness.core import jsonl
from harness.core.errors import ScenarioProblem
from harness.core.records import (
    Answer,
    Column,
    Outcome,
    OutcomeKind,
    Refusal,
    StateRecord,
    VerdictKind,
)
from harness.run import baseline_files, load_run, plan_record
from harness.run.load_run import RunInfo
from harness.scenario import load
from harness.scenario.cells import Cell, Plan, Variant, parse_reader
from tests import ci_page

STORY = """table:
  columns: {id: string, f1: string, f2: string}
  key: id
steps:
  - insert: {rows: [{id: a, f1: x, f2: y}]}
  - insert: {rows: [{id: b, f1: v, f2: w}]}
"""
BROKEN = 3
WRITER = "spark-3.5.8"
BY_NAME, BY_POSITION = "trino-476{use-column-names=true}", "trino-476{use-column-names=false}"
COLUMNS = tuple(Column(name, "varchar", "string") for name in ("id", "f1", "f2"))
TRUTH: Mapping[int, tuple[tuple[str, ...], ...]] = {
    1: (("a", "x", "y"),),
    2: (("a", "x", "y"), ("b", "v", "w")),
}
SWAPPED = tuple((key, second, first) for key, first, second in TRUTH[2])


@dataclass
class Recorded:
    """A run on disk that can be answered anew, and its scenario's file."""

    folder: Path
    scenario: Path
    plan: Plan

    @property
    def known(self) -> Path:
        return self.scenario.with_name("story.known.yaml")

    def answer(self, *last: Answer | None) -> None:
        """Let every cell be answered right but the last ones; None is no answer at all."""
        right = [self.right(cell) for cell in self.plan.cells]
        answers = [*right[: len(right) - len(last)], *last]
        jsonl.write_all(self.folder / load_run.ANSWERS, [answer for answer in answers if answer])

    def right(self, cell: Cell) -> Answer:
        return Answer(cell.case, "select *", COLUMNS, TRUTH[cell.step])

    def wrong(self) -> Answer:
        """The last cell's columns, each in the other's place."""
        return Answer(self.plan.cells[-1].case, "select *", COLUMNS, SWAPPED)

    def refused(self) -> Answer:
        return Answer(self.plan.cells[-1].case, "select *", refusal=Refusal("INTERNAL", "no"))

    def harness(self, *arguments: str) -> int:
        return app.main([*arguments, "--run-dir", str(self.folder)])

    def verdicts(self) -> list[tuple[VerdictKind, str]]:
        run = load_run.load(self.folder)
        return [(verdict.verdict, verdict.known) for verdict in run.verdicts]

    def review(self) -> None:
        """Say why, as people do after an update."""
        text = self.known.read_text("utf-8")
        self.known.write_text(text.replace("TODO: say why", "by position"), "utf-8")


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    scenario = tmp_path / "mine" / "story.yaml"
    scenario.parent.mkdir()
    scenario.write_text(STORY, "utf-8")
    story = load.load(scenario)
    variant = Variant("mine/story[hive-parquet]", story, "hive-parquet", {}, (WRITER,) * 3)
    cells = tuple(
        Cell(variant.id, step, reader, "snapshot", "all")
        for step in (1, 2)
        for reader in (BY_NAME, BY_POSITION)
    )
    readers = tuple(map(parse_reader, (BY_NAME, BY_POSITION)))
    plan = Plan("by hand", (variant,), readers, cells)
    folder = tmp_path / "run"
    info = plan_record.info_of(plan, "run", datetime.datetime(2031, 6, 1, tzinfo=datetime.UTC))
    load_run.write_info(folder, info)
    states = [StateRecord(variant.id, Outcome(at, OutcomeKind.APPLIED), "") for at in range(3)]
    jsonl.write_all(folder / load_run.STATES, states)
    return Recorded(folder, scenario, plan)


def test_a_run_without_any_wrong_answer_ends_with_0_and_needs_no_baseline(
    recorded: Recorded,
) -> None:
    recorded.answer()
    assert recorded.harness("judge") == 0
    assert recorded.harness("baseline", "update") == 0
    assert not recorded.known.exists()


def test_an_update_learns_nothing_of_unknown_cells_and_says_so(
    recorded: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded.answer(None, None)
    assert recorded.harness("baseline", "update") == BROKEN
    message = capsys.readouterr().out
    assert (
        "2 checks are unknown, so nothing is written about them: use harness run --res" in message
    )
    assert "already says" not in message
    assert not recorded.known.exists()


def test_a_new_wrong_answer_ends_with_1_until_it_is_known_and_somebody_has_said_why(
    recorded: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded.answer(recorded.wrong())
    assert recorded.harness("judge") == 1
    assert recorded.harness("baseline", "update") == 0
    assert recorded.harness("judge") == 1
    assert "1 line does not say why yet" in capsys.readouterr().out
    recorded.review()
    assert recorded.harness("judge") == 0
    right = (VerdictKind.CORRECT, "")
    assert recorded.verdicts() == [right, right, right, (VerdictKind.WRONG, "by position")]


def test_a_known_answer_that_is_right_now_ends_with_1_and_the_update_takes_the_line_out(
    recorded: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded.answer(recorded.wrong())
    recorded.harness("baseline", "update")
    recorded.review()
    recorded.answer()
    assert recorded.harness("judge") == 1
    assert "no longer occurs" in capsys.readouterr().out
    assert recorded.harness("baseline", "update") == 0
    assert not recorded.known.exists()
    assert recorded.harness("judge") == 0


def test_what_is_unexplained_is_told_by_the_gate_until_somebody_has_said_what_is_known_of_it(
    recorded: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded.answer(replace(recorded.wrong(), rows=(TRUTH[2][0], ("b", "?", "w"))))
    assert recorded.harness("judge") == 1
    assert "1 of them is unexplained: " in capsys.readouterr().out
    assert recorded.harness("baseline", "update") == 0
    assert recorded.harness("judge") == 1
    recorded.review()
    assert recorded.harness("judge") == 0
    assert "is unexplained" not in capsys.readouterr().out


@pytest.mark.parametrize("show", [(), ("--show",)])
def test_a_cell_without_an_answer_ends_with_3_whatever_is_only_shown(
    recorded: Recorded, show: tuple[str, ...]
) -> None:
    recorded.answer(None)
    assert recorded.harness("judge", *show) == 3


def test_a_refused_step_can_be_known(recorded: Recorded) -> None:
    recorded.answer()
    path = recorded.folder / load_run.STATES
    first, second, _ = jsonl.read_all(path, StateRecord)
    refused = Outcome(2, OutcomeKind.REFUSED, refusal=Refusal("Analysis", "no"))
    jsonl.write_all(path, [first, second, replace(second, outcome=refused)])
    cells = recorded.plan.cells
    right = [replace(recorded.right(cell), rows=TRUTH[1]) for cell in cells]
    jsonl.write_all(recorded.folder / load_run.ANSWERS, right)
    assert recorded.harness("judge") == 1
    recorded.harness("baseline", "update")
    recorded.review()
    assert "view: write" in recorded.known.read_text("utf-8")
    assert recorded.harness("judge") == 0


def test_a_half_done_step_can_be_known_and_is_no_refused_one(recorded: Recorded) -> None:
    recorded.answer()
    path = recorded.folder / load_run.STATES
    first, second, last = jsonl.read_all(path, StateRecord)
    outcome = replace(last.outcome, refusal=Refusal("SyncException", "no"))
    jsonl.write_all(path, [first, second, replace(last, outcome=outcome)])
    assert recorded.harness("judge") == 1
    recorded.harness("baseline", "update")
    recorded.review()
    assert "committed, then SyncException" in recorded.known.read_text("utf-8")
    assert recorded.harness("judge") == 0
    refused = replace(outcome, kind=OutcomeKind.REFUSED)
    jsonl.write_all(path, [first, second, replace(last, outcome=refused)])
    right = [replace(recorded.right(cell), rows=TRUTH[1]) for cell in recorded.plan.cells]
    jsonl.write_all(recorded.folder / load_run.ANSWERS, right)
    assert recorded.harness("judge") == 1


def test_a_line_that_no_cell_can_use_ends_with_2(recorded: Recorded) -> None:
    recorded.answer(recorded.wrong())
    recorded.harness("baseline", "update")
    recorded.review()
    text = recorded.known.read_text("utf-8")
    recorded.known.write_text(text.replace("engine: trino", "engine: trion"), "utf-8")
    assert recorded.harness("judge") == 2


def test_a_wrong_baseline_is_reported_before_anything_is_run(recorded: Recorded) -> None:
    recorded.known.write_text("- when: {enginge: trino}\n", "utf-8")
    now = datetime.datetime(2031, 6, 1, tzinfo=datetime.UTC)
    with pytest.raises(ScenarioProblem, match="enginge"):
        plan_record.info_of(recorded.plan, "run", now)


def test_a_run_remembers_its_baselines_where_the_scenario_files_are_not(
    recorded: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded.answer(recorded.wrong())
    recorded.harness("baseline", "update")
    recorded.review()
    now = datetime.datetime(2031, 6, 1, tzinfo=datetime.UTC)
    load_run.write_info(recorded.folder, plan_record.info_of(recorded.plan, "run", now))
    recorded.known.unlink()
    assert recorded.harness("judge") == 1  # the scenario is there: what is beside it counts
    recorded.scenario.unlink()
    assert recorded.harness("judge") == 0
    assert recorded.harness("baseline", "update") == 2
    assert "the file of scenario mine/story is not here" in capsys.readouterr().err


KNOWN = "my/orders/rename.known.yaml"
LINE = """\
- when: {{engine: trino}}
  expect: {{finding: missing_rename, columns: [amount]}}
  support: notyet
  because: {}
"""


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[RunInfo, Plan]:
    """A run planned in a repository that is elsewhere since, in the folder `clone`."""
    for name in ci_page.OWN:
        (tmp_path / "first" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "first" / name).write_text(ci_page.FILES[name], encoding="utf-8")
    (tmp_path / "first" / KNOWN).write_text(LINE.format("then"), encoding="utf-8")
    monkeypatch.chdir(tmp_path / "first")
    plan = plan_options.make([Path("my")], "nightly", "")
    info = plan_record.info_of(plan, "x", datetime.datetime.now(datetime.UTC))
    (tmp_path / "first").rename(tmp_path / "clone")
    (tmp_path / "clone" / KNOWN).write_text(LINE.format("now"), encoding="utf-8")
    return info, plan


@pytest.mark.parametrize(("folder", "because"), [("clone", "now"), (".", "then")])
def test_in_a_clone_its_own_baseline_counts_and_elsewhere_what_the_run_remembers(
    planned: tuple[RunInfo, Plan],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    folder: str,
    because: str,
) -> None:
    monkeypatch.chdir(tmp_path / folder)
    (line,) = baseline_files.lines(*planned)["orders/rename"]
    assert line.because == because
