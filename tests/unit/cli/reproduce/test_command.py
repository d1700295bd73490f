"""`harness reproduce` as far as it asks no engine, and what a round makes of the answers."""

import datetime
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.artifacts.cache import Cache
from harness.cli import app, plan_options, runs
from harness.cli.output import Output
from harness.cli.reproduce import files
from harness.cli.reproduce.causes import Cause, Sign
from harness.cli.reproduce.command import EngineTrials
from harness.cli.reproduce.shrink import Target, Trial
from harness.cli.runs import Resources
from harness.core.records import Outcome, OutcomeKind, Refusal
from harness.judge.verdicts import judge
from harness.run import plan_record
from harness.run.load_run import WRITE, Run
from harness.scenario.cells import Plan, parse_reader
from tests.builders.candidates import SIGN, WRITER, candidate_of, observation_of
from tests.builders.judged_story import case_without_values
from tests.builders.table_story import history
from tests.unit.cli.conftest import ELSEWHERE

Capture = pytest.CaptureFixture[str]

NOW = datetime.datetime(2031, 5, 6, 7, 8, 9, tzinfo=datetime.UTC)
FALSE, TRUE = (f"trino-476{{use-column-names={literal}}}" for literal in ("false", "true"))


def test_without_a_case_the_causes_are_listed(judged: Path, capsys: Capture) -> None:
    assert app.main(["reproduce", "--run-dir", str(judged)]) == 0
    printed = capsys.readouterr().out
    assert "causes of findings" in printed
    assert "rename_column: missing_rename (by name)" in printed


def test_a_case_that_is_right_has_no_cause(judged: Path, capsys: Capture) -> None:
    right = ["hudi/rename", "rewrites=some]", "s1/", "schema-on-read=off"]
    assert app.main(["reproduce", *right, "--run-dir", str(judged)]) == 2
    assert "has no finding; harness reproduce without a name lists" in capsys.readouterr().err


def test_each_cause_of_cases_named_in_full_is_written_as_it_was_seen_before_an_engine_is_asked(
    judged: Path, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "execute", None)
    of_add = f"hudi/add_in_the_middle[hudi-cow,rewrites=some]@{WRITER}/s3/snapshot/all/{FALSE}"
    of_rename = f"hudi/rename[hudi-cow,rewrites=some]@{WRITER}/s3/snapshot/all/{TRUE}"
    asked = ["reproduce", of_add, of_rename, "--minutes", "0", "--folder", str(tmp_path)]
    assert app.main([*asked, "--run-dir", str(judged)]) == 3
    printed = capsys.readouterr().out
    assert printed.count("nothing smaller is written: the time ran out first") == 3
    assert printed.count("as the run saw it, ") == 3
    scripts = [script.read_text(encoding="utf-8") for script in tmp_path.glob("*/reproduce.sql")]
    assert len(scripts) == 3
    assert all("-- seen:" in script and "insert into" in script for script in scripts)
    assert "add_column: misaligned (by position)" in printed
    assert "rename_column: missing_rename (by name)" in printed


OF_OTHERS = ["reproduce", "hudi/add_in_the_middle[", "some]", "/s3/snapshot/all/", ELSEWHERE]
PLATFORM = """\
engines:
  trino-of-others: {like: trino-476, address: "http://127.0.0.1:1", catalogs: {hudi: lake}}
catalogs: {theirs: {address: "thrift://127.0.0.1:2"}}
own_tables: {prefix: harness_, catalog: theirs, folder: /lake}
"""


def test_an_engine_that_runs_already_is_asked_with_its_platform_file_alone(
    of_others: Path, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans, platform = list[Plan](), tmp_path / "platform.yaml"
    platform.write_text(PLATFORM, encoding="utf-8")

    def silent(made: Plan, *_: object) -> Run:
        plans.append(made)
        return Run(tmp_path, plan_record.info_of(made, "x", NOW), (), {}, {})

    monkeypatch.setattr(runs, "execute", silent)
    asked = [*OF_OTHERS, "--run-dir", str(of_others), "--folder", str(tmp_path / "made")]
    assert app.main(asked) == 2
    assert "if --platform FILE says in own_tables where" in capsys.readouterr().err
    assert not plans
    assert not (tmp_path / "made").exists()
    assert app.main([*asked, "--platform", str(platform)]) == 3  # nobody answered
    assert {str(reader) for made in plans for reader in made.readers} == {ELSEWHERE}
    made = (tmp_path / "made").glob("*/reproduce.sql")
    scripts = [script.read_text(encoding="utf-8") for script in made]
    assert scripts
    assert all('from "lake"."reproducer"."t"' in script for script in scripts)
    assert not any("etc/catalog" in script for script in scripts)


def trial_of(reader: str, text: str) -> Trial:
    cause = Cause("move_column", reader, "snapshot", "hudi-cow", SIGN)
    return Target(cause, parse_reader(reader), "all"), candidate_of(history(text))


def trials_in(
    folder: Path, execute: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> EngineTrials:
    monkeypatch.setattr(runs, "execute", execute)
    return EngineTrials(Resources(Output(quiet=True), Cache(folder)))


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[EngineTrials, list[Plan]]:
    """Return rounds whose only reader that answers reads by position."""
    plans = list[Plan]()

    def done(made: Plan, *_: object) -> Run:
        plans.append(made)
        info = plan_record.info_of(made, "x", NOW)
        candidates = {candidate.variant.id: candidate for _, candidate in ASKED}
        seen = [
            observation_of(candidates[c.variant], c.reader) for c in made.cells if c.reader == FALSE
        ]
        answers = {observation.answer.case: observation.answer for observation in seen}
        recorded = {observation.verdict.case: observation.verdict for observation in seen}
        return Run(tmp_path, info, (), answers, recorded)

    return trials_in(tmp_path, done, monkeypatch), plans


ASKED = [
    trial_of(FALSE, "insert 1,2; move f1 after f2"),
    trial_of(TRUE, "insert 1,2; move f1 after f2"),
    trial_of(FALSE, "insert 1,2; touch all"),
]


def test_a_candidate_of_two_searches_is_written_once_and_silence_shows_nothing(
    planned: tuple[EngineTrials, list[Plan]],
) -> None:
    rounds, plans = planned
    assert rounds.ask(ASKED) == [True, False, False]
    (made,) = plans
    assert (len(made.variants), len(made.cells)) == (2, 3)
    assert rounds.unknown == {ASKED[1][1].key}
    assert rounds.observation(ASKED[0]).verdict.findings


def test_a_round_whose_questions_do_not_exist_starts_nothing(
    planned: tuple[EngineTrials, list[Plan]],
) -> None:
    rounds, plans = planned
    target = Target(ASKED[0][0].cause, parse_reader(FALSE), "column")
    assert rounds.ask([(target, candidate_of(history("insert 1")))]) == [False]
    assert plans == []


REFUSED = Refusal("AnalysisException", "no such thing")
WRITERS = Cause(
    "move_column", f"writer {WRITER}", WRITE, "hudi-cow", Sign(f"refused {REFUSED.kind}", ())
)


def rounds_after(outcome: Outcome, folder: Path, monkeypatch: pytest.MonkeyPatch) -> EngineTrials:
    """Return rounds in which nobody answers and the second step comes out so."""

    def done(made: Plan, *_: object) -> Run:
        (variant,) = made.variants
        case = replace(case_without_values(history(MOVED), {2: outcome}), variant=variant)
        states = tuple(replace(state, variant=variant.id) for state in case.states)
        recorded = {verdict.case: verdict for verdict in judge(case, made.cells, {})}
        return Run(folder, plan_record.info_of(made, "x", NOW), states, {}, recorded)

    return trials_in(folder, done, monkeypatch)


MOVED = "insert 1,2; move f1 after f2"


@pytest.mark.parametrize(
    ("outcome", "shown", "silent"),
    [
        (Outcome(2, OutcomeKind.REFUSED, refusal=REFUSED), True, False),
        (Outcome(2, OutcomeKind.REFUSED, refusal=Refusal("Other", "x")), False, False),
        (Outcome(2, OutcomeKind.APPLIED, "2"), False, False),
        (Outcome(2, OutcomeKind.UNKNOWN), False, True),
    ],
)
def test_a_refused_step_is_written_again_and_nobody_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outcome: Outcome, *, shown: bool, silent: bool
) -> None:
    target = Target(WRITERS, parse_reader(WRITER), "all", REFUSED)
    trial = target, candidate_of(history(MOVED))
    rounds = rounds_after(outcome, tmp_path, monkeypatch)
    assert rounds.ask([trial]) == [shown]
    assert bool(rounds.unknown) == silent
    if shown:
        folder = files.write(tmp_path, target, trial[1], rounds.observation(trial))
        script = (folder / "reproduce.sql").read_text()
        assert "seen: an error. AnalysisException: no such thing" in script
        assert "Spark refused it" in script
        assert "the query" not in script
        (variant,) = plan_options.make([folder / "scenario.yaml"], folder.name, "").variants
        assert variant.writers == trial[1].writers


@pytest.mark.parametrize(
    ("outcome", "silent"),
    [
        (Outcome(2, OutcomeKind.REFUSED, refusal=REFUSED), False),
        (Outcome(2, OutcomeKind.APPLIED, "2"), True),
        (Outcome(2, OutcomeKind.UNKNOWN), True),
    ],
)
def test_of_what_the_writer_refused_it_is_known_that_no_reader_shows_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outcome: Outcome, *, silent: bool
) -> None:
    rounds = rounds_after(outcome, tmp_path, monkeypatch)
    assert rounds.ask([trial_of(FALSE, MOVED)]) == [False]
    assert bool(rounds.unknown) == silent
