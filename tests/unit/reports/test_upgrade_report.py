"""The report on an upgrade in a terminal, as Markdown, for programs, and all files of it."""

import io
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harness.comparison import acceptance
from harness.comparison.cell_pairs import VerdictChange
from harness.comparison.result import SideComparison
from harness.core.records import VerdictKind
from harness.reports import lines, markdown, upgrade_files
from harness.reports import upgrade_report as report
from harness.run.load_run import Run
from tests.builders import comparisons, sample_run
from tests.builders.comparisons import BY_NAME, BY_POSITION, OLD, RIGHT, SILENT, compared

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "upgrade.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def worse(sampled: Run) -> SideComparison:
    return compared(sampled, BY_NAME, OLD)


def shown(result: SideComparison, width: int = 120, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding)
    lines.render(report.document(result), Console(file=out, width=width))
    out.flush()
    return raw.getvalue().decode(encoding)


def markdown_of(result: SideComparison) -> str:
    return markdown.markdown(report.document(result))


def flat(text: str) -> str:
    return " ".join(text.split())


def test_the_answer_comes_first(worse: SideComparison) -> None:
    assert shown(worse).startswith(f"Do not upgrade from {BY_NAME} to {OLD}: ")
    text = flat(shown(worse))
    order = ("What gets worse", "reader correct wrong", "answers class", "Wrong today already")
    places = [text.index(literal) for literal in order]
    assert places == sorted(places)


def test_what_is_wrong_today_counts_once_beside_several_tables_of_a_newer_writer(
    sampled: Run,
) -> None:
    result = compared(sampled, OLD, OLD)
    wrong = result.counts[VerdictChange.WRONG_AS_BEFORE]
    twice = replace(result, pairs=(*result.pairs, *result.pairs))
    for either in (result, twice):
        assert f" {wrong} answers are wrong today already" in report.headline(either)


@pytest.mark.parametrize("width", [80, 120])
def test_only_commands_are_wider_than_the_terminal(worse: SideComparison, width: int) -> None:
    wide = [line for line in shown(worse, width).splitlines() if len(line) > width]
    assert wide
    assert all(text.startswith(("    harness explain ", "    SELECT ")) for text in wide)


def test_commands_stand_alone_and_can_be_pasted(worse: SideComparison) -> None:
    printed = [line.strip() for line in shown(worse, 80).splitlines()]
    pasted = [shlex.split(text) for text in printed if text.startswith("harness ")]
    assert [words[2] for words in pasted] == [
        regression.first.either.case for regression in worse.regressions
    ]
    assert all(words[:2] == ["harness", "explain"] and "--run-dir" in words for words in pasted)


def test_what_is_not_known_is_reported_with_its_reason(sampled: Run) -> None:
    text = flat(shown(compared(sampled, RIGHT, SILENT)))
    assert "Not known One side gave no answer" in text
    assert f"- {SILENT}: time-out after 120 s, twice: no answer at all, 3 answers" in text


def test_the_first_sentence_has_its_scope_and_what_was_not_tested_follows(sampled: Run) -> None:
    same = compared(sampled, RIGHT, RIGHT)
    text = flat(shown(same))
    assert text.startswith("In part: nothing changes from ")
    assert re.search(
        r"questions: (views? [a-z_, -]+|\d views), (query all|queries|\d queries)", text
    )
    assert text.index("Not tested") < text.index("answers class")
    for step in same.untested:
        name = f"{step.scenario}, step {step.step.number} '{step.step.text}' on {step.format}"
        assert f"{name} tables: no writer applied it: " in text
    assert [*upgrade_files.comparison_data(same)["untested"]]  # type: ignore[misc]


def test_markdown_has_the_answer_the_classes_and_each_cause(worse: SideComparison) -> None:
    text = markdown_of(worse)
    assert text.startswith(f"**Do not upgrade** from {BY_NAME} to")
    for change, number, _ in report.class_lines(worse):
        assert f"| {number:,} | {change} |" in text
    for at, regression in enumerate(worse.regressions, start=1):
        title = markdown.escaped(report.cause_title(regression))
        assert f"\n\n{at}. **{title}**\n" in text
        assert markdown.escaped(report.what_to_do(regression, worse)) in text


def test_the_file_for_programs_has_every_answer_in_its_class(worse: SideComparison) -> None:
    result: dict[str, Any] = _plain(upgrade_files.comparison_data(worse))
    assert result["answer"] == report.headline(worse)
    assert (result["decision"], result["status"]) == ("do not upgrade", 1)
    assert result["counts"] == {str(change): worse.counts[change] for change in VerdictChange}
    listed = {name: len(cells) for name, cells in result["cells"].items()}
    right = {str(VerdictChange.RIGHT_AS_BEFORE): result["counts"]["right as before"]}
    assert listed | right == result["counts"]
    cases = [case for cause in result["causes"] for case in cause["cases"]]
    assert set(cases) == {pair.either.case for pair in worse.worse}
    assert [score["new"]["reader"] for score in result["scoreboard"]] == [OLD]


def test_settings_that_help_and_lines_that_accept_are_in_the_file_for_programs(
    sampled: Run, worse: SideComparison
) -> None:
    healed: dict[str, Any] = upgrade_files.comparison_data(comparisons.healed(worse))
    assert healed["settings"] == healed["remedies"][0]["settings"]
    assert all(cause["settings"] for cause in healed["causes"])
    result = comparisons.accepting_all(compared(sampled, RIGHT, BY_POSITION))
    accepted: dict[str, Any] = upgrade_files.comparison_data(result)
    assert [line["place"] for line in accepted["lines"]["gone"]] == ["accept.yaml:99"]
    assert {cause["by"]["because"] for cause in accepted["accepted"]} == {sample_run.HOSTILE}
    assert accepted["causes"] == []


def test_every_field_of_the_file_for_programs_is_documented(sampled: Run) -> None:
    result = comparisons.accepting_all(compared(sampled, RIGHT, BY_POSITION))
    for comparison in (result, comparisons.healed(compared(sampled, RIGHT, OLD))):
        for name in fields(_plain(upgrade_files.comparison_data(comparison))):
            assert f"`{name}`" in PAGE, name


def _plain(data: object) -> Any:  # noqa: ANN401 - JSON
    return json.loads(json.dumps(data, default=upgrade_files.pair_data))


def fields(data: object) -> set[str]:
    """Return every name of a field; what is counted by class or verdict is no field."""
    if isinstance(data, list):
        return {name for item in data for name in fields(item)}
    if not isinstance(data, dict):
        return set()
    words_of = {*map(str, (*VerdictChange, *VerdictKind))}
    return {name for name in data if name not in words_of}.union(*map(fields, data.values()))


def test_all_files_are_written_and_the_one_to_fill_in_is_never_written_again(
    worse: SideComparison, tmp_path: Path
) -> None:
    files = upgrade_files.write(worse, tmp_path)
    assert {file.name for file in files.values()} == {path.name for path in tmp_path.iterdir()}
    names = {"upgrade.html", "upgrade.txt", "upgrade.md", "upgrade.json", "accept.yaml"}
    assert {file.name for file in files.values()} == names
    assert all(f"`{name}`" in PAGE for name in names)
    mine = tmp_path / acceptance.FILE
    mine.write_text("# mine\n", encoding="utf-8")
    assert "accept" not in upgrade_files.write(worse, tmp_path)
    assert mine.read_text("utf-8") == "# mine\n"
