import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from harness.core.records import (
    Answer,
    Finding,
    FindingKind,
    Refusal,
    Responsible,
    Verdict,
    VerdictKind,
    Witness,
)
from harness.run.causes import (
    SESSION,
    HelpfulSetting,
    RunCause,
    ScenarioLine,
    ScenarioLines,
    SettingLine,
    SettingsAsked,
    causes,
    lines_of,
)
from harness.run.load_run import ReaderInfo, Run, RunInfo, StepInfo, VariantInfo
from harness.scenario.cells import Cell, Unlike
from tests.builders import recorded_run, sample_run
from tests.builders.placed_run import FILE, LINES, TEXT, placed

TRINO, OLD, HIVE = "trino-476", "trino-368{use-column-names=false}", "hive-3.1.3{path=fetch}"
CHOSEN = (Unlike("use-column-names", "false", "true", named=True),)
OURS = (Unlike("vectorized", "off", "on", named=False),)
READERS: Final = (
    ReaderInfo(TRINO, TRINO, "stock", unlike=()),
    ReaderInfo(OLD, "trino-368", "stock", unlike=CHOSEN),
    ReaderInfo(HIVE, "hive-3.1.3", "stock", unlike=OURS),
)
SHORT: Final = ("insert", "rename_column", "touch", "compact")
LONG: Final = ("insert", "insert", "touch", "rename_column", "touch", "compact")
RIGHT, STALE, RENAME = VerdictKind.CORRECT, FindingKind.STALE, FindingKind.MISSING_RENAME
PLACE: Final = Witness("1", "f", "a", None)
REFUSAL: Final = Refusal("GENERIC_INTERNAL_ERROR", "no", cause="java.io.IOException: of s_1")

Shown = VerdictKind | FindingKind | tuple[FindingKind, Responsible] | str


def verdict(name: str, step: int, reader: str, shown: Shown, query: str = "all") -> Verdict:
    """Return what a reader's answer after a step is judged to be; a text is a known reason."""
    cell = Cell(name, step, reader, "snapshot", query)
    made = Verdict(cell.case, name, name, step, reader, "snapshot", query, RIGHT)
    if isinstance(shown, VerdictKind):
        return replace(made, verdict=shown, because="time-out" if shown == "unknown" else "")
    if isinstance(shown, str) and not isinstance(shown, FindingKind):
        return replace(verdict(name, step, reader, STALE), known=shown)
    kind, responsible = shown if isinstance(shown, tuple) else (shown, Responsible.READER)
    finding = Finding(kind, ("f",), PLACE, (PLACE,), responsible)
    return replace(made, verdict=VerdictKind.WRONG, findings=(finding,))


def run_of(*verdicts: Verdict) -> Run:
    """Return a run of two scenarios that was judged so."""
    variants = tuple(
        VariantInfo(
            name,
            name,
            "hudi-mor",
            tuple(StepInfo(at, f"{step} x", named=step) for at, step in enumerate(steps, 1)),
        )
        for name, steps in (("short", SHORT), ("long", LONG))
    )
    cells = tuple(Cell(v.variant, v.step, v.reader, v.view, v.query) for v in verdicts)
    at = datetime.datetime(2031, 6, 1, tzinfo=datetime.UTC)
    info = RunInfo("x", "x", at, "1", variants, READERS, cells)
    refused = (v.case for v in verdicts if v.verdict is VerdictKind.REFUSED)
    answers = {case: Answer(case, "select", refusal=REFUSAL) for case in refused}
    return Run(Path("x"), info, (), answers, {v.case: v for v in verdicts})


def series(name: str, reader: str, shown: Sequence[Shown | None]) -> list[Verdict]:
    """Return the verdicts after each step from the first on; None where nothing was asked."""
    return [verdict(name, at, reader, kind) for at, kind in enumerate(shown, 1) if kind is not None]


def causes_of(*verdicts: Verdict) -> tuple[RunCause, ...]:
    run = run_of(*verdicts)
    return causes(run.verdicts, run)


def operations(*verdicts: Verdict) -> list[str]:
    return [cause.key.operation for cause in causes_of(*verdicts)]


def test_a_finding_is_of_the_step_since_which_it_is_there() -> None:
    (cause,) = causes_of(*series("short", TRINO, [RIGHT, RENAME, RENAME, RENAME]))
    assert (cause.key.engine, cause.key.operation, len(cause.cases)) == (
        "trino",
        "rename_column",
        3,
    )
    assert cause.key.finding is RENAME


def test_what_was_right_between_began_twice() -> None:
    result = operations(*series("short", TRINO, [STALE, RIGHT, STALE, STALE]))
    assert sorted(result) == ["insert", "touch"]


def test_what_another_finding_or_an_error_hides_goes_on() -> None:
    shown = [RIGHT, RENAME, VerdictKind.REFUSED, RENAME]
    result = causes_of(*series("short", TRINO, shown))
    assert {(cause.key.symptom.what, cause.key.operation) for cause in result} == {
        ("missing_rename", "rename_column"),
        ("GENERIC_INTERNAL_ERROR, IOException", "touch"),
    }


def test_versions_settings_and_scenarios_of_one_engine_are_one_cause() -> None:
    short = series("short", OLD, [RIGHT, RENAME])
    long = series("long", TRINO, [RIGHT, RIGHT, RIGHT, RENAME])
    (cause,) = causes_of(*short, *long)
    assert set(cause.readers) == {TRINO, OLD}
    assert set(cause.scenarios) == {"short", "long"}


def test_engines_and_parties_are_never_one_cause() -> None:
    writer = (RENAME, Responsible.WRITER)
    result = causes_of(
        *series("short", TRINO, [RIGHT, RENAME]),
        *series("short", HIVE, [RIGHT, RENAME]),
        *series("long", TRINO, [RIGHT, RIGHT, RIGHT, writer]),
    )
    assert {(cause.key.engine, cause.key.symptom.responsible) for cause in result} == {
        ("trino", Responsible.READER),
        ("hive", Responsible.READER),
        ("trino", Responsible.WRITER),
    }


def test_where_nobody_was_asked_between_the_one_that_another_reader_shows_began_it() -> None:
    sure = series("long", TRINO, [RIGHT, RIGHT, RIGHT, RENAME])
    rarely = series("long", OLD, [RIGHT, None, None, None, RENAME])
    assert operations(*sure, *rarely) == ["rename_column"]


def test_a_column_that_is_wrong_in_a_refused_row_is_of_the_same_cause() -> None:
    wrong = verdict("short", 3, TRINO, RENAME)
    refused = replace(wrong, verdict=VerdictKind.REFUSED)
    result = causes_of(*series("short", TRINO, [RIGHT, RENAME]), refused)
    assert [(cause.key.symptom.kind, len(cause.cases)) for cause in result] == [
        (VerdictKind.WRONG, 2),
        (VerdictKind.REFUSED, 1),
    ]
    assert result[0].first.verdict is VerdictKind.WRONG


def test_what_is_known_comes_last_and_by_itself() -> None:
    (new, known) = causes_of(
        *series("short", OLD, [RIGHT, RIGHT, STALE]),
        *series("long", TRINO, [RIGHT, RIGHT, "HUDI-1"]),
    )
    assert (new.known, known.known) == ((), ("HUDI-1",))
    assert new.key == known.key


def test_default_settings_come_first_then_silence_then_what_more_scenarios_show() -> None:
    result = causes_of(
        *series("short", OLD, [RIGHT, RIGHT, STALE]),
        *series("short", TRINO, [VerdictKind.REFUSED]),
        *series("short", HIVE, [RIGHT, RENAME]),
        *series("long", HIVE, [RIGHT, RIGHT, STALE, RENAME]),
    )
    ranks = [(cause.by_default, cause.key.engine, cause.key.operation) for cause in result]
    assert ranks == [
        (True, "hive", "rename_column"),
        (True, "hive", "touch"),
        (True, "trino", "insert"),
        (False, "trino", "touch"),
    ]


def test_the_smallest_scenario_of_an_engine_as_it_comes_speaks_for_all() -> None:
    (cause,) = causes_of(
        *series("short", OLD, [RIGHT, RENAME, RENAME]),
        *series("long", TRINO, [RIGHT, RIGHT, RIGHT, RENAME, RENAME]),
        *series("short", TRINO, [RIGHT, RENAME, RENAME]),
    )
    assert (cause.first.scenario, cause.first.step, cause.first.reader) == ("short", 2, TRINO)


def test_all_that_is_not_right_in_the_quick_start_is_of_sixteen_causes() -> None:
    run = recorded_run.run_of("quick_start")
    result = causes(run.verdicts, run)
    bad = {verdict.case for verdict in run.verdicts if verdict.verdict is not VerdictKind.CORRECT}
    assert {case for cause in result for case in cause.cases} == bad
    assert [cause.by_default for cause in result] == [True] * 10 + [False] * 6


NAMED, PLACED = (f"trino-476{{use-column-names={literal}}}" for literal in ("true", "false"))
MISALIGNED = FindingKind.MISALIGNED


def changed(run: Run, verdicts: Mapping[str, Verdict]) -> Run:
    return replace(run, recorded={**run.recorded, **verdicts})


def helpful(run: Run, finding: FindingKind, engine: str = "trino") -> HelpfulSetting | None:
    """Return what helps against the first cause of that finding."""
    cause = next(
        cause
        for cause in causes(run.verdicts, run)
        if (cause.key.engine, cause.key.finding) == (engine, finding)
    )
    return SettingsAsked(run).helpful(cause)


def test_the_setting_that_was_right_in_the_same_cells_is_reported_with_its_line() -> None:
    setting = helpful(recorded_run.run_of("quick_start"), MISALIGNED)
    assert setting is not None
    ((line, distributions),) = setting.lines
    assert (line.text, distributions) == ("hudi.parquet.use-column-names=true", ("trino-476",))
    assert (setting.settings, setting.right, setting.otherwise, setting.spoilt) == (
        "use-column-names=true",
        20,
        36,
        0,
    )


def test_a_setting_that_spoils_as_much_as_it_mends_is_none() -> None:
    run = recorded_run.run_of("quick_start")
    right = {
        v.question for v in run.verdicts if (v.reader, v.verdict) == (PLACED, VerdictKind.CORRECT)
    }
    spoilt = {
        v.case: replace(v, verdict=VerdictKind.REFUSED)
        for v in run.verdicts
        if v.reader == NAMED and v.question in right
    }
    one = dict([next(iter(spoilt.items()))])
    setting = helpful(changed(run, one), MISALIGNED)
    assert setting is not None
    assert setting.spoilt == 1
    assert len(spoilt) > setting.right
    assert helpful(changed(run, spoilt), MISALIGNED) is None


def test_a_setting_that_the_engine_has_by_itself_is_had_by_leaving_the_other_one_out() -> None:
    run = recorded_run.run_of("quick_start")
    plain = {
        v.case.replace(NAMED, "trino-476"): replace(
            v, case=v.case.replace(NAMED, "trino-476"), reader="trino-476"
        )
        for v in run.verdicts
        if v.reader == NAMED
    }
    cells = tuple(
        replace(cell, reader="trino-476") if cell.reader == NAMED else cell
        for cell in run.info.cells
    )
    readers = tuple(
        replace(info, reader="trino-476") if info.reader == NAMED else info
        for info in run.info.readers
    )
    info = replace(run.info, cells=cells, readers=readers)
    setting = helpful(changed(replace(run, info=info), plain), MISALIGNED)
    assert setting is not None
    assert (setting.settings, setting.lines) == ("", ())
    assert [line.text for line in setting.instead] == ["hudi.parquet.use-column-names=false"]


CATALOG = "in etc/catalog/*.properties"


@pytest.mark.parametrize(
    ("reader", "format_name", "line"),
    [
        (
            "trino-476{use-column-names=true}",
            "hudi-mor",
            SettingLine("hudi.parquet.use-column-names=true", CATALOG),
        ),
        (
            "hive-3.1.3{path=fetch, schema-on-read=on}",
            "hudi-cow",
            SettingLine("set hoodie.schema.on.read.enable=true;", SESSION),
        ),
    ],
)
def test_a_setting_is_a_line_of_the_engine_and_has_a_place(
    reader: str, format_name: str, line: SettingLine
) -> None:
    assert line in lines_of(reader, format_name)
    assert line not in lines_of(reader.partition("{")[0], format_name)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return placed(sample_run.make(tmp_path / "run"), tmp_path)


def moved(run: Run) -> str:
    return next(variant.id for variant in run.info.variants if variant.scenario == "hudi/move")


def test_a_step_is_on_its_line(run: Run, tmp_path: Path) -> None:
    places = ScenarioLines(run)
    result = {step: places.of(moved(run), step) for step in LINES}
    assert result == {step: ScenarioLine(tmp_path / FILE, line) for step, line in LINES.items()}
    assert places.of(moved(run), 0) == ScenarioLine(tmp_path / FILE, 1)


@pytest.mark.parametrize(
    "text",
    [TEXT.replace("  - insert: [3]\n", ""), TEXT.replace("insert: [3]", "touch"), "steps: 7"],
)
def test_of_a_file_that_was_changed_since_no_line_is_claimed(
    run: Run, tmp_path: Path, text: str
) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert ScenarioLines(run).of(moved(run), 3) == ScenarioLine(tmp_path / FILE, 1)


def test_a_cause_stands_where_it_began_and_not_where_it_was_seen(run: Run) -> None:
    places, result = ScenarioLines(run), causes(run.verdicts, run)
    since = [cause for cause in result if cause.key.operation.endswith("move_column")]
    assert since
    for cause in since:
        first = cause.first
        later = replace(cause, verdicts=(replace(first, step=first.step + 2), *cause.verdicts[1:]))
        assert [at and at.line for at in map(places.of_cause, (cause, later))] == [LINES[3]] * 2
