from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

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
from harness.run.causes import RunCause, causes
from harness.run.load_run import ReaderInfo, Run, RunInfo, StepInfo, VariantInfo
from harness.scenario.cells import Cell, Unlike
from tests.builders import recorded_run

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
    kind, party = shown if isinstance(shown, tuple) else (shown, Responsible.READER)
    found = Finding(kind, ("f",), PLACE, (PLACE,), party)
    return replace(made, verdict=VerdictKind.WRONG, findings=(found,))


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
    refused = (each.case for each in verdicts if each.verdict is VerdictKind.REFUSED)
    answers = {case: Answer(case, "select", refusal=REFUSAL) for case in refused}
    return Run(Path("x"), info, (), answers, {each.case: each for each in verdicts})


def series(name: str, reader: str, shown: Sequence[Shown | None]) -> list[Verdict]:
    """Return the verdicts after each step from the first on; None where nothing was asked."""
    return [verdict(name, at, reader, each) for at, each in enumerate(shown, 1) if each is not None]


def found(*verdicts: Verdict) -> tuple[RunCause, ...]:
    run = run_of(*verdicts)
    return causes(run.verdicts, run)


def operations(*verdicts: Verdict) -> list[str]:
    return [cause.key.operation for cause in found(*verdicts)]


def test_a_finding_is_of_the_step_since_which_it_is_there() -> None:
    (cause,) = found(*series("short", TRINO, [RIGHT, RENAME, RENAME, RENAME]))
    assert (cause.key.engine, cause.key.operation, len(cause.cases)) == (
        "trino",
        "rename_column",
        3,
    )
    assert cause.key.finding is RENAME


def test_what_was_right_between_began_twice() -> None:
    told = operations(*series("short", TRINO, [STALE, RIGHT, STALE, STALE]))
    assert sorted(told) == ["insert", "touch"]


def test_what_another_finding_or_an_error_hides_goes_on() -> None:
    shown = [RIGHT, RENAME, VerdictKind.REFUSED, RENAME]
    told = found(*series("short", TRINO, shown))
    assert {(cause.key.symptom.what, cause.key.operation) for cause in told} == {
        ("missing_rename", "rename_column"),
        ("GENERIC_INTERNAL_ERROR, IOException", "touch"),
    }


def test_versions_settings_and_scenarios_of_one_engine_are_one_cause() -> None:
    short = series("short", OLD, [RIGHT, RENAME])
    long = series("long", TRINO, [RIGHT, RIGHT, RIGHT, RENAME])
    (cause,) = found(*short, *long)
    assert set(cause.readers) == {TRINO, OLD}
    assert set(cause.scenarios) == {"short", "long"}


def test_engines_and_parties_are_never_one_cause() -> None:
    writer = (RENAME, Responsible.WRITER)
    told = found(
        *series("short", TRINO, [RIGHT, RENAME]),
        *series("short", HIVE, [RIGHT, RENAME]),
        *series("long", TRINO, [RIGHT, RIGHT, RIGHT, writer]),
    )
    assert {(cause.key.engine, cause.key.symptom.responsible) for cause in told} == {
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
    told = found(*series("short", TRINO, [RIGHT, RENAME]), refused)
    assert [(cause.key.symptom.kind, len(cause.cases)) for cause in told] == [
        (VerdictKind.WRONG, 2),
        (VerdictKind.REFUSED, 1),
    ]
    assert told[0].first.verdict is VerdictKind.WRONG


def test_what_is_known_comes_last_and_by_itself() -> None:
    (new, known) = found(
        *series("short", OLD, [RIGHT, RIGHT, STALE]),
        *series("long", TRINO, [RIGHT, RIGHT, "HUDI-1"]),
    )
    assert (new.known, known.known) == ((), ("HUDI-1",))
    assert new.key == known.key


def test_default_settings_come_first_then_silence_then_what_more_scenarios_show() -> None:
    told = found(
        *series("short", OLD, [RIGHT, RIGHT, STALE]),
        *series("short", TRINO, [VerdictKind.REFUSED]),
        *series("short", HIVE, [RIGHT, RENAME]),
        *series("long", HIVE, [RIGHT, RIGHT, STALE, RENAME]),
    )
    ranks = [(cause.by_default, cause.key.engine, cause.key.operation) for cause in told]
    assert ranks == [
        (True, "hive", "rename_column"),
        (True, "hive", "touch"),
        (True, "trino", "insert"),
        (False, "trino", "touch"),
    ]


def test_the_smallest_scenario_of_an_engine_as_it_comes_speaks_for_all() -> None:
    (cause,) = found(
        *series("short", OLD, [RIGHT, RENAME, RENAME]),
        *series("long", TRINO, [RIGHT, RIGHT, RIGHT, RENAME, RENAME]),
        *series("short", TRINO, [RIGHT, RENAME, RENAME]),
    )
    assert (cause.first.scenario, cause.first.step, cause.first.reader) == ("short", 2, TRINO)


def test_the_findings_of_the_quick_start_are_sixteen_causes() -> None:
    run = recorded_run.run_of("quick_start")
    told = causes(run.verdicts, run)
    assert [
        (
            cause.key.engine,
            cause.key.symptom.what,
            cause.key.operation,
            len(cause.cases),
            cause.by_default,
        )
        for cause in told
    ] == [
        ("trino", "stale", "touch", 88, True),
        ("hive", "resurrected", "add_column", 20, True),
        ("spark", "resurrected", "add_column", 12, True),
        ("trino", "resurrected", "add_column", 24, True),
        ("hive", "missing_rename", "rename_column", 40, True),
        ("spark", "missing_rename", "rename_column", 24, True),
        ("trino", "missing_rename", "rename_column", 24, True),
        ("hive", "ClassCastException", "add_column", 20, True),
        ("spark", "SparkException, NullPointerException", "add_column", 6, True),
        ("trino", "a file's column has another type than the table's", "add_column", 12, True),
        ("trino", "lost_value", "add_column", 30, False),
        ("trino", "misaligned", "add_column", 56, False),
        ("trino", "misaligned", "drop_column", 15, False),
        ("trino", "misaligned", "move_column", 40, False),
        ("trino", "a file's column has another type than the table's", "drop_column", 20, False),
        ("trino", "a file's column has another type than the table's", "move_column", 20, False),
    ]
    bad = {each.case for each in run.verdicts if each.verdict is not VerdictKind.CORRECT}
    assert {case for cause in told for case in cause.cases} == bad
