import io
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from rich.console import Console

from harness.core.records import VerdictKind
from harness.reports import terminal
from harness.reports.cause_texts import cause_texts
from harness.run.load_run import Run
from harness.scenario.cells import Excluded
from tests.builders import sample_run


def shown(run: Run, *, width: int = 120, colour: bool = False, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding)
    system: Literal["standard", "auto"] = "standard" if colour else "auto"
    console = Console(file=out, width=width, force_terminal=colour, color_system=system)
    terminal.render(run, console, Path("runs/x/report.html"))
    out.flush()
    return raw.getvalue().decode(encoding)


def flat(text: str) -> str:
    return " ".join(text.split())


def test_a_cell_is_a_word_beside_its_step(sampled: Run) -> None:
    line = next(line for line in shown(sampled).splitlines() if "4 update f2 of row 1" in line)
    words = line.replace("4 update f2 of row 1", "").split()
    assert words == ["snapshot", "ok", "ok", "ok", "UNKNOWN", "stale", "misalign", "refused"]


def test_no_line_is_wider_than_the_terminal(sampled: Run) -> None:
    for width in (80, 120):
        lines = shown(sampled, width=width).splitlines()
        wide = [line for line in lines if len(line) > width]
        assert all(line.startswith(("    harness explain ", "    file:///")) for line in wide)


def test_readers_that_do_not_fit_beside_each_other_follow_below(sampled: Run) -> None:
    narrow = shown(sampled, width=80)
    assert narrow.count("after step ") > shown(sampled).count("after step ")
    assert all(name in flat(narrow) for name in sample_run.NAMES)


def test_an_engine_cannot_command_the_terminal(sampled: Run) -> None:
    assert "\x1b[31m" not in shown(sampled)
    assert "\\x1b[31m" in shown(sampled)


def test_totals_and_the_place_of_the_html_report_come_last(sampled: Run) -> None:
    text = flat(shown(sampled))
    assert "224 checks: 46 wrong, 10 refused, 6 unknown, 3 unsupported, 159 correct" in text
    assert "6 of them known" in text
    assert "Of 46 wrong answers, " in text
    assert text.endswith("runs/x/report.html")


def test_what_was_left_out_for_one_reason_is_reported_once(sampled: Run) -> None:
    many = tuple(Excluded(f"thing {n}", "no such view") for n in range(9))
    text = flat(shown(replace(sampled, info=replace(sampled.info, excluded=many))))
    assert "- thing 0; thing 1; thing 2 and 6 more: no such view" in text


def test_a_variant_with_a_cell_that_did_not_run_is_never_that_one_line(sampled: Run) -> None:
    right = {
        name: replace(answer, verdict=VerdictKind.CORRECT, findings=())
        for name, answer in list(sampled.recorded.items())[1:]
    }
    text = shown(replace(sampled, recorded=right))
    first = text.partition("\n  [hudi-cow")[2].partition("\n  [hudi-mor")[0]
    assert "cells correct" not in first
    assert "UNKNOWN" in first


def test_of_many_variants_only_counts_are_reported(
    sampled: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrices = shown(sampled)
    monkeypatch.setattr(terminal, "MANY", 0)
    counts = shown(sampled)
    assert "after step  " in matrices
    assert "after step  " not in counts
    for scenario in {variant.scenario for variant in sampled.info.variants}:
        line = next(line for line in counts.splitlines() if line.startswith(scenario))
        of_it = [verdict for verdict in sampled.verdicts if verdict.scenario == scenario]
        assert sum(map(int, line.split()[2:])) == len(of_it)


def test_each_cause_can_be_asked_for_in_full(sampled: Run) -> None:
    commands = [line for line in shown(sampled).splitlines() if "harness explain" in line]
    cases = [cause_text.cause.first.case for cause_text in cause_texts(sampled)]
    assert [shlex.split(command) for command in commands] == [
        ["harness", "explain", case] for case in cases
    ]
    right = {
        name: replace(answer, verdict=VerdictKind.CORRECT, findings=())
        for name, answer in sampled.recorded.items()
    }
    cells = tuple(cell for cell in sampled.info.cells if cell.case in right)
    run = replace(sampled, recorded=right, info=replace(sampled.info, cells=cells))
    assert "harness explain" not in shown(run)
