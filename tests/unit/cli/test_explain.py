"""A case of recorded real answers in full: which one is meant, its tables, findings and files."""

import io
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest
from rich.console import Console

from harness.cli import app
from harness.cli.explain import command
from harness.cli.explain.command import (
    CaseTables,
    expectations_of,
    print_address,
    print_case,
    tables_of,
)
from harness.cli.explain.recorded_cell import RecordedCell, find
from harness.core.errors import UsageProblem
from harness.core.records import Answer, Attempt, OutcomeKind
from harness.judge.verdicts import understand_cell
from harness.model.simulation.strategies import ColumnMapping
from harness.reports.words import NOT_WORDED, STRATEGIES

RENAMED = ("hudi/rename", "rewrites=some]", "s3/", "schema-on-read=off")
REFUSED = ("hudi/drop", "twin", "s3/", "trino-476{use-column-names=false}")


def tables(check: RecordedCell) -> CaseTables:
    expectations = expectations_of(check)
    assert expectations is not None
    assert check.answer is not None
    answer = understand_cell(check.cell, expectations, check.answer)
    return tables_of(expectations.layout(check.cell.step, check.cell.view), answer)


def printed(check: RecordedCell, width: int) -> str:
    out = io.StringIO()
    print_case(check, Console(file=out, width=width, color_system=None))
    return out.getvalue()


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        (["hudi/rename", "s3/"], r"match 'hudi/rename s3/'; be more specific:\n  hu"),
        (
            ["hudi/renam", "s3", "trin0"],
            r"no check matches 'hudi/renam s3 trin0'; the closest ones:\n  hudi/rename\[",
        ),
        (["\N{SNOWMAN}"], "harness plan --checks"),
    ],
)
def test_a_name_that_does_not_fit_one_case_is_refused_with_near_ones(
    judged: Path, parts: list[str], error: str
) -> None:
    with pytest.raises(UsageProblem, match=error):
        find(judged, parts)


def test_the_strategy_that_gives_the_answer_is_named_and_its_table_equals_it(judged: Path) -> None:
    shown = tables(find(judged, RENAMED))
    assert shown.fitting == ("by name",)
    (strategy,) = [sheet for sheet in shown.strategies if sheet.same_as_answer]
    assert shown.answer is not None
    assert (strategy.titles, strategy.rows) == (("by name",), shown.answer.rows)
    assert not strategy.same_as_expected


def printed_strategies(shown: CaseTables) -> str:
    out = io.StringIO()
    command.print_strategies(shown, Console(file=out, width=400, color_system=None))
    return out.getvalue()


def test_a_strategy_that_gives_too_little_is_not_claimed(judged: Path) -> None:
    check = find(judged, RENAMED)
    assert check.answer is not None
    shown = tables(check)
    empty = tables(replace(check, answer=replace(check.answer, rows=())))
    assert (shown.inconclusive, empty.inconclusive) == (False, True)
    assert "; the smallest that gives this answer: by name." in printed_strategies(shown)
    text = printed_strategies(replace(shown, inconclusive=True))
    assert "; none is claimed: by name gives the same answer, but an answer this small" in text
    assert "the smallest that gives" not in text


def test_values_that_are_not_as_expected_are_marked(judged: Path) -> None:
    check = tables(find(judged, RENAMED)).answer
    assert check is not None
    wrong = {
        (line.key, label): value
        for line in check.rows
        for label, (value, right) in zip(check.labels, line.values or (), strict=True)
        if not right
    }
    assert wrong == {("1", "f1_new"): None, ("2", "f1_new"): None, ("3", "f1_new"): None}


def test_a_difference_is_traced_to_the_file_it_was_read_from(judged: Path) -> None:
    check = find(judged, RENAMED)
    assert check.verdict is not None
    (finding,) = check.verdict.findings
    holding = {fact.path: fact.keys for fact in check.case.state_of[check.cell.step].files}
    for place in finding.witnesses:
        assert place.key in holding[place.file]


def test_a_refusal_has_no_table_and_says_what_each_strategy_would_have_shown(judged: Path) -> None:
    check = find(judged, REFUSED)
    shown = tables(check)
    assert (shown.answer, shown.fitting) == (None, ())
    assert len(shown.strategies) > 1
    assert "refused: NOT_SUPPORTED" in printed(check, 120)


@pytest.mark.parametrize("width", [80, 120])
def test_a_page_fits_its_width_and_says_all_without_colour(judged: Path, width: int) -> None:
    check = find(judged, RENAMED)
    text = printed(check, width)
    commands = [line for line in text.splitlines() if line.startswith("    harness ")]
    words = [["harness", verb, check.cell.case] for verb in ("remedy", "reproduce")]
    assert [*map(shlex.split, commands)] == words  # whole, however long: they are copied
    assert all(len(line) <= width for line in text.splitlines() if line not in commands)
    printed_text = " ".join(text.split())
    for what in (
        *("expected found", "= FOUND", "as expected", "≠NULL", "missing rename", "SQL: select"),
        *("read from file #1", "#1 base file of step 1", "the smallest that gives this answer"),
        *("What was written 0 create the table 1 insert", "f3s1r2, or 301002, is field 3, step 1"),
        f"by name: {STRATEGIES[ColumnMapping.NAME]}",
        "other settings this engine gets it right: spark-3.5.8-hudi-1.0.2{schema-on-read=on}.",
    ):
        assert what in printed_text


def test_a_step_that_did_not_take_place_is_not_shown_as_written(judged: Path) -> None:
    check = find(judged, RENAMED)
    refused = [
        replace(state, outcome=replace(state.outcome, kind=OutcomeKind.REFUSED))
        if state.outcome.step == 2
        else state
        for state in check.case.states
    ]
    text = printed(replace(check, case=replace(check.case, states=refused)), 120)
    assert re.search(r"\n  1 insert 2 rows\n  2 .* \(refused\)\n  3 ", text)


def test_a_broken_record_is_named_with_its_line(judged: Path, tmp_path: Path) -> None:
    made = tmp_path / "run"
    shutil.copytree(judged, made)
    case = find(made, RENAMED).cell.case
    (made / "answers.jsonl").write_text(f'{{"case": "{case}", "rows": 7}}\n', encoding="utf-8")
    with pytest.raises(UsageProblem, match=r"answers\.jsonl:1: "):
        find(made, RENAMED)


def test_the_command_explains_a_case_of_a_run(
    judged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.main(["explain", *RENAMED, "--run-dir", str(judged)]) == 0
    assert "the smallest that gives this answer: by name" in capsys.readouterr().out
    assert app.main(["explain", "nothing", "--run-dir", str(judged / "none")]) == 2
    assert "there is no run at" in capsys.readouterr().err


def test_what_is_unknown_is_shown_with_the_end_of_the_server_s_log(judged: Path) -> None:
    check = find(judged, RENAMED)
    assert check.answer is not None
    silent = Answer(
        check.answer.case,
        check.answer.sql,
        unknown="connection lost",
        attempts=(Attempt("connection lost", "INFO ready\nFATAL out of memory"),),
    )
    text = printed(replace(check, answer=silent, verdict=None), 100)
    assert "no answer: connection lost" in text
    assert "the end of the server's log:\n  INFO ready\n  FATAL out of memory" in text


def test_a_difference_and_a_section_that_cannot_be_worded_say_so_and_the_rest_is_there(
    judged: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    check, whole = find(judged, RENAMED), printed(find(judged, RENAMED), 120)
    monkeypatch.setattr(command, "witness_text", lambda *_: 1 / 0)
    shown_text = printed(check, 120)
    assert NOT_WORDED in shown_text
    assert shown_text.count("\nFiles\n") == whole.count("\nFiles\n") == 1
    monkeypatch.setattr(command, "print_tables", lambda *_: 1 / 0)
    assert check.cell.case in (printed_text := printed(check, 120))
    assert NOT_WORDED in printed_text
    assert {record.message for record in caplog.records} == {f"cannot word {check.cell.case}"}


def test_the_address_of_the_cell_is_printed_where_there_is_a_page(
    judged: Path, tmp_path: Path
) -> None:
    check, out = find(judged, RENAMED), io.StringIO()
    console = Console(file=out, width=80, color_system=None)
    print_address(tmp_path, check, console)
    assert out.getvalue() == ""
    (tmp_path / "report.html").touch()
    print_address(tmp_path, check, console)
    address = out.getvalue().split()[-1]
    assert address.startswith((tmp_path / "report.html").as_uri() + "#")
    assert unquote(address.partition("#")[2]) == check.cell.case


def test_the_timeline_names_the_steps_of_its_instants(judged: Path) -> None:
    check = find(judged, RENAMED)
    first = next(state.outcome for state in check.case.states if state.outcome.instant)
    out = io.StringIO()
    entries = (f"{first.instant} commit: completed", "999 deltacommit: inflight")
    command.print_timeline(entries, check, Console(file=out, width=100, color_system=None))
    assert out.getvalue().splitlines()[1:] == [
        "Timeline of the table",
        f"  {entries[0]} (step {first.step})",
        f"  {entries[1]}",
    ]
