"""What is said first of each reader: since what it is wrong, and what helps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.records import VerdictKind
from harness.reports import html, upgrade_page
from harness.reports.cause_texts import CauseText, ReaderAnswer, cause_texts, reader_answers
from harness.run.load_run import Run
from tests.builders import recorded_run, sample_run
from tests.builders.comparisons import OLD, RIGHT, compared

BY_POSITION = "trino-476{use-column-names=false}"


@pytest.fixture(scope="module")
def run() -> Run:
    return recorded_run.run_of("quick_start")


@pytest.fixture(scope="module")
def texts(run: Run) -> tuple[CauseText, ...]:
    return cause_texts(run)


@pytest.fixture(scope="module")
def answers(run: Run, texts: tuple[CauseText, ...]) -> dict[str, ReaderAnswer]:
    return {
        reader_answer.score.reader: reader_answer for reader_answer in reader_answers(run, texts)
    }


def test_since_which_operations_a_reader_is_wrong_is_told_with_the_number_of_its_cells(
    run: Run, answers: dict[str, ReaderAnswer], texts: tuple[CauseText, ...]
) -> None:
    for reader, answer in answers.items():
        for breach in answer.silent:
            cells = {
                verdict.case
                for text in texts
                for verdict in text.cause.verdicts
                if verdict.reader == reader
                and text.verdict is VerdictKind.WRONG
                and text.cause.key.operation == breach.operation
            }
            assert breach.cells == len(cells) > 0
        wrong = [v for v in run.verdicts if v.reader == reader and v.verdict is VerdictKind.WRONG]
        assert answer.wrong == len(wrong)
        assert bool(answer.silent) or not wrong


def test_the_setting_that_helped_is_told_with_the_causes_that_it_helps_with(
    answers: dict[str, ReaderAnswer], texts: tuple[CauseText, ...]
) -> None:
    settings = answers[BY_POSITION].settings
    assert any("use-column-names=true" in line for setting in settings for line, _ in setting.lines)
    for setting in settings:
        assert all(texts[number - 1].paste == setting.lines for number in setting.causes)


def test_another_reader_is_named_only_where_it_gets_half_of_the_wrong_answers_right(
    run: Run, answers: dict[str, ReaderAnswer]
) -> None:
    verdicts = {(verdict.question, verdict.reader): verdict.verdict for verdict in run.verdicts}
    for reader, answer in answers.items():
        wrong = [v for v in run.verdicts if v.reader == reader and v.verdict is VerdictKind.WRONG]
        right = [
            verdict
            for verdict in wrong
            if verdicts.get((verdict.question, answer.instead)) is VerdictKind.CORRECT
        ]
        assert answer.instead_right == len(right)
        assert answer.helped == (bool(wrong) and 2 * len(right) >= len(wrong))
    assert any(answer.helped for answer in answers.values())


def test_the_headline_counts_readers_and_silent_wrong_answers(run: Run) -> None:
    assert html.headline(run) == "6 of 8 readers silently gave 256 wrong answers"
    right = {
        case: replace(answer, verdict=VerdictKind.CORRECT, findings=())
        for case, answer in run.recorded.items()
    }
    assert html.headline(replace(run, recorded=right)) == "No reader was seen to answer wrongly"


def test_the_page_of_two_runs_shows_each_answer_of_the_new_one_once(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    found = compared(sample_run.make(tmp_path_factory.mktemp("run")), RIGHT, OLD)
    cells = upgrade_page.page_cells(found)
    shown = [verdict for verdicts in cells.shown.values() for verdict in verdicts]
    cases = [verdict.case for verdict in (*shown, *cells.counted)]
    answers = [pair.new.case for pair in found.pairs if pair.new and not pair.is_step]
    assert sorted(cases) == sorted(answers)
    assert {verdict.case for verdict in shown} == set(cells.before)
    assert cells.numbered == len(found.relevant) > 0
    assert cells.causes[0].cases == tuple(
        pair.new.case for pair in found.relevant[0].pairs if pair.new
    )
