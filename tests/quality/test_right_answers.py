"""Right readers of random histories, asked everything: nothing may be found in their answers."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from harness.core.records import Answer, VerdictKind
from harness.judge.verdicts import judge
from harness.model import past_views
from harness.model.canonical import from_json, text_of, to_json
from harness.model.commit import AS_OF, INCREMENTAL
from harness.model.query import Query
from harness.scenario.cells import Cell
from tests.builders import random_story
from tests.builders.judged_story import case_of
from tests.builders.simulated_reader import Reader, Reply
from tests.builders.table_story import Story
from tests.quality import asked


@dataclass(frozen=True, slots=True)
class Answered:
    view: str
    text: str
    query: Query
    reply: Reply


def answered(story: Story) -> Iterator[Answered]:
    logs = {"snapshot": "merged", "read_optimized": "ignored"}
    for view, how in logs.items() if story.disk.merge_on_read else [("snapshot", "merged")]:
        reader = Reader("id", logs=how)
        for query in asked.questions(story):
            yield Answered(view, query.text, query.query, asked.ask(story, query.query, reader))


def of_past(story: Story) -> Iterator[Answered]:
    for name in (AS_OF, INCREMENTAL):
        planned = past_views.asked(name, story.history)
        if planned is None:
            continue
        view, history = planned
        then = story.until(len(history) - 1)
        since = _written_since(story, view) if name == INCREMENTAL else None
        for query in asked.questions(then):
            reply = asked.ask(then, query.query, Reader("id"), only=since)
            yield Answered(view, query.text, query.query, reply)


def _written_since(story: Story, view: str) -> frozenset[str]:
    back = past_views.past(view)
    before = story.history[back.step].rows if back else {}
    rows = story.truth.rows.items()
    return frozenset(text_of(key) for key, row in rows if before.get(key) != row)


def judged(seed: int) -> Iterator[tuple[str, bool]]:
    """Judge the right answers; yield each question, and whether its verdict is not correct."""
    story = random_story.story_of_seed(seed)
    case = case_of(story, bare=seed % 2 == 1)
    cells, answers = [], {}
    for shown in (*answered(story), *of_past(story)):
        cell = Cell(case.variant.id, story.truth.step, "engine-1", shown.view, shown.text)
        rows = tuple(tuple(from_json(to_json(value)) for value in row) for row in shown.reply.rows)
        columns = shown.reply.columns
        answers[cell.case] = Answer(cell.case, "select", columns, rows, question=shown.query)
        cells.append(cell)
    verdicts = {verdict.case: verdict for verdict in judge(case, cells, answers)}
    for cell in cells:
        verdict = verdicts.get(cell.case)
        right = verdict is not None and verdict.verdict is VerdictKind.CORRECT
        yield f"{cell.view} {cell.query}", not right or bool(verdict and verdict.findings)


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_found_in_a_right_answer_to_any_question(seed: int) -> None:
    answers = list(judged(seed))
    assert answers
    assert [question for question, wrong in answers if wrong] == []


def test_every_view_is_among_them() -> None:
    stories = map(random_story.story_of_seed, range(24))
    views = {past_views.name_of(a.view) for s in stories for a in (*answered(s), *of_past(s))}
    assert views == {"snapshot", "read_optimized", "as_of", "incremental"}
