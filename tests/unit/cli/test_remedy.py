"""Which settings are tried, and what their answers are compared with."""

import datetime
import io
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from harness.cli import app, remedy, runs
from harness.core import jsonl
from harness.core.records import Finding, FindingKind, Verdict, VerdictKind, Witness
from harness.run import load_run, pipeline, plan_record
from harness.run.load_run import Run
from harness.scenario.cells import Cell, Plan, Reader, parse_reader
from tests.unit.cli.conftest import ELSEWHERE

Capture = pytest.CaptureFixture[str]

SETTINGS: Mapping[str, tuple[str, ...]] = {"names": ("true", "false"), "path": ("fetch", "mr")}
IN_JOBS = ("path", "schema-on-read", "vectorized", "input-format", "statistics")
"""Settings of Hive that say something of every format."""
BEFORE = parse_reader("engine-1{names=false}")
RIGHT, WRONG, REFUSED = VerdictKind.CORRECT, VerdictKind.WRONG, VerdictKind.REFUSED
UNKNOWN = VerdictKind.UNKNOWN


def verdict(reader: Reader, step: int, kind: VerdictKind) -> Verdict:
    cell = Cell("v", step, str(reader), "snapshot", "all")
    witness = Witness("1", "f1", "a", "b")
    findings = (Finding(FindingKind.MISALIGNED, ("f1",), witness, (witness,)),)
    return Verdict(
        cell.case,
        *("s", "v", step, str(reader), "snapshot", "all", kind),
        findings if kind is WRONG else (),
    )


def effect_of(
    before: list[VerdictKind], after: list[VerdictKind], names: str = "true"
) -> remedy.Effect:
    """Compare two lists of verdicts, one for each step; the check is about the first step."""
    other = parse_reader(f"engine-1{{names={names}}}")
    earlier = (verdict(BEFORE, step, kind) for step, kind in enumerate(before))
    was = {old.question: old for old in earlier}
    now = [verdict(other, step, kind) for step, kind in enumerate(after)]
    return remedy.effect(BEFORE, other, ("v", 0, "snapshot", "all"), now, was)


def printed(*effects: remedy.Effect) -> str:
    out = io.StringIO()
    remedy.print_effects(effects, Console(file=out, width=140, color_system=None))
    return out.getvalue()


def test_every_other_combination_is_tried_the_fewest_changes_first() -> None:
    combinations = remedy.others(BEFORE, SETTINGS)
    assert len(combinations) == len(set(combinations)) == 8
    assert BEFORE not in combinations
    assert [str(reader) for reader in combinations[:4]] == [
        "engine-1{names=true}",
        "engine-1{names=false, path=fetch}",
        "engine-1{names=false, path=mr}",
        "engine-1",
    ]


def test_what_comes_to_the_same_by_the_engines_defaults_is_tried_once() -> None:
    asked = parse_reader("trino-476{use-column-names=false}")
    able = remedy.alternatives(asked, "hudi-cow")
    assert [str(reader) for reader in able] == ["trino-476{use-column-names=true}"]
    asked = parse_reader("hive-3.1.3{path=mapreduce}")
    able = remedy.alternatives(asked, "hudi-cow")
    assert parse_reader("hive-3.1.3{path=mapreduce, vectorized=on}") in able
    assert parse_reader("hive-3.1.3{path=mapreduce, vectorized=off}") not in able
    assert all(len(remedy.changes(asked, reader)) <= 2 for reader in able)


@pytest.mark.parametrize(
    ("reader", "format_name", "able"),
    [
        ("hive-3.1.3{path=fetch}", "hudi-cow", {*IN_JOBS}),
        ("hive-3.1.3{path=fetch}", "hive-orc", {"orc.force.positional.evolution", *IN_JOBS}),
        ("trino-476", "hive-orc", {"orc.use-column-names"}),
        ("prestodb-0.283", "hive-orc", {"orc.use-column-names", "connector"}),
        ("trino-476{use-column-names=true}", "hive-parquet", {"use-column-names"}),
    ],
)
def test_settings_that_say_nothing_of_a_format_are_not_tried(
    reader: str, format_name: str, able: set[str]
) -> None:
    usable = remedy.alternatives(parse_reader(reader), format_name)
    assert {name for reader in usable for name, _ in reader.settings} == able


def test_what_a_setting_turns_is_counted_by_what_it_was_before() -> None:
    made = effect_of(
        [WRONG, RIGHT, RIGHT, WRONG, REFUSED, RIGHT, RIGHT, UNKNOWN],
        [RIGHT, RIGHT, REFUSED, RIGHT, WRONG, WRONG, UNKNOWN, RIGHT],
    )
    assert made.heals
    assert {name: [v.step for v in verdicts] for name, verdicts in made.turns.items()} == {
        "still_right": [1],
        "turned_wrong": [2, 5],
        "turned_right": [3],
        "still_wrong": [4],
        "unknown": [6, 7],
    }


def test_the_table_says_what_heals_at_what_cost_the_least_harm_first() -> None:
    text = printed(
        effect_of([WRONG, RIGHT], [RIGHT, WRONG], "harm"),
        effect_of([WRONG, RIGHT], [WRONG, RIGHT], "none"),
        effect_of([WRONG, RIGHT], [RIGHT, RIGHT], "heals"),
    )
    assert re.findall(r"^ *names=(\w+)", text, re.MULTILINE) == [
        *("heals", "harm", "none"),
        *("heals", "harm"),
    ]
    assert "names=harm: this check is right; but these turn wrong:\n  v/s1/" in text
    assert "wrong: misaligned" in text


def test_a_case_that_is_right_or_not_judged_has_no_remedy(
    recorded: Path, judged: Path, capsys: Capture
) -> None:
    asked = ["remedy", "hudi/rename", "rewrites=some]", "s1/", "schema-on-read=off"]
    assert app.main([*asked, "--run-dir", str(recorded)]) == 2
    assert "was never judged; run harness judge" in capsys.readouterr().err
    assert app.main([*asked, "--run-dir", str(judged)]) == 2
    assert "is correct: there is nothing to remedy" in capsys.readouterr().err


def test_the_settings_of_an_engine_that_runs_already_are_not_tried(
    of_others: Path, capsys: Capture
) -> None:
    asked = ["remedy", "hudi/add_in_the_middle[", "some]", "/s3/snapshot/all/", ELSEWHERE]
    assert app.main([*asked, "--run-dir", str(of_others)]) == 2
    message = capsys.readouterr().err
    assert f"{ELSEWHERE} runs already, with settings of its own" in message
    assert "harness read --reader VERSION" in message


NOW = datetime.datetime(2031, 5, 6, 7, 8, 9, tzinfo=datetime.UTC)
BY_NAME, BY_POSITION = (f"trino-476{{use-column-names={literal}}}" for literal in ("true", "false"))
RENAMED = ["remedy", "hudi/rename[hudi-cow,rewrites=some]", "/s3/", BY_NAME]


def remedied(
    judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answering: Mapping[str, str]
) -> tuple[int, Plan]:
    """Ask for a remedy where a reader answers what another one is recorded to have answered."""
    plans, recorded = list[Plan](), load_run.load(judged)

    def done(made: Plan, *_: object) -> Run:
        plans.append(made)
        pairs = [
            (cell, replace(cell, reader=answering.get(cell.reader, ""))) for cell in made.cells
        ]
        answers = [
            replace(recorded.answers[other.case], case=cell.case)
            for cell, other in pairs
            if other.case in recorded.answers
        ]
        load_run.write_info(tmp_path, plan_record.info_of(made, "x", NOW))
        ids = {variant.id for variant in made.variants}
        states = [state for state in recorded.states if state.variant in ids]
        jsonl.write_all(tmp_path / load_run.STATES, states)
        jsonl.write_all(tmp_path / load_run.ANSWERS, answers)
        pipeline.judge_run(tmp_path)
        return load_run.load(tmp_path)

    monkeypatch.setattr(runs, "execute", done)
    monkeypatch.chdir(tmp_path)
    status = app.main([*RENAMED, "--run-dir", str(judged)])
    return status, plans[0]


def test_the_other_settings_are_asked_about_the_whole_scenario_and_what_heals_is_printed(
    judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    answering = {BY_NAME: BY_NAME, BY_POSITION: BY_POSITION}
    status, made = remedied(judged, tmp_path, monkeypatch, answering)
    by_name = [cell for cell in load_run.load(judged).info.cells if cell.reader == BY_NAME]
    scenario = {
        replace(cell, reader="") for cell in by_name if cell.variant.startswith("hudi/rename[")
    }
    asked = {(replace(cell, reader=""), cell.reader) for cell in made.cells}
    assert len({cell.variant for cell in scenario}) == 2
    assert asked == {(cell, reader) for cell in scenario for reader in answering}
    out = capsys.readouterr().out
    assert "use-column-names=false: this check is right; nothing else turns wrong" in out
    assert status == 0


def test_a_setting_that_nobody_answered_with_is_unknown(
    judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    status, _ = remedied(judged, tmp_path, monkeypatch, {BY_NAME: BY_NAME})
    assert "this check is right" not in capsys.readouterr().out
    assert status == 3
