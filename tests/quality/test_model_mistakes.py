"""Planted mistakes of the harness itself: no engine and no writer may be blamed for them.

Either a rule of its model is another one than that of writer and engines, or it misreads the files.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import pytest

from harness.core.records import Outcome, Responsible, Verdict, VerdictKind
from harness.model.canonical import Value
from tests.builders import random_story
from tests.builders.judged_story import case_of, judged
from tests.builders.simulated_disk import File, Record
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import Story
from tests.builders.traced_answer import Files, read

_REWRITTEN: Final = "insert 1..4; insert 5; add z int; upsert 2"
Change = Callable[[File, Value, Record], Record]


def _story(seed: int) -> Story:
    """Let a number become a text, and some of its rows be written anew without it."""
    plot = random_story.plot(seed)
    columns = plot.columns.replace("ts long, ", "ts long, x int, y string, z boolean, ", 1)
    steps = f"insert 401..404; {plot.steps}; type x string; update 401,402 set y; update 401 set y"
    return replace(plot, columns=columns, steps=steps).story()


def _every(change: Change) -> Files:
    def changed(file: File) -> File:
        records = {key: change(file, key, row) for key, row in file.records.items()}
        return replace(file, records=records)

    return changed


def _converted(story: Story) -> Files:
    """Let numbers become texts with a zero more: a rule of conversion that is not the model's."""
    x = story.truth.schema.find("x").id

    def change(file: File, key: Value, row: Record) -> Record:
        sent = story.history[file.step].rows[key].written[x] == file.step
        number = isinstance(row["x"], str) and not sent
        return {**row, "x": f"{row['x']}.0"} if number else row

    return _every(change)


def _misread(_: File, __: Value, row: Record) -> Record:
    return {**row, "y": f"{row['y']}?"}


def _of_rule(voices: int) -> Callable[[int], tuple[Verdict, ...]]:
    def ask(seed: int) -> tuple[Verdict, ...]:
        story = _story(seed)
        files = _converted(story)
        return judged(case_of(story, files), [read(story, files=files).reply] * voices)

    return ask


def _of_values(seed: int) -> tuple[Verdict, ...]:
    """Let flags have been sent and written the other way than the model would make them by now."""
    story = _story(seed)
    files = _every(lambda _, __, row: {**row, "z": None if row["z"] is None else not row["z"]})
    case = case_of(story, files)
    states = [replace(state, outcome=_negated(state.outcome)) for state in case.states]
    return judged(replace(case, states=states), [read(story, files=files).reply] * 2)


def _of_commits(voices: int) -> Callable[[int], tuple[Verdict, ...]]:
    """Let files that are written anew say that all of their rows were committed just then."""

    def ask(seed: int) -> tuple[Verdict, ...]:
        plot = replace(random_story.plot(seed), mor=False, partition_by=(), steps=_REWRITTEN)
        story = plot.story()
        case, whole = case_of(story, lambda file: replace(file, commits={})), story.read()
        at = whole.names.index(story.history[0].table.key)
        late = {key for file in story.disk.until(4) if file.step > 2 for key in file.records}
        since = Reply(whole.columns, tuple(row for row in whole.rows if row[at] in late))
        return judged(case, [since] * voices, "incremental(2)")

    return ask


def _negated(outcome: Outcome) -> Outcome:
    other = {"true as `z`": "false as `z`", "false as `z`": "true as `z`"}
    result = re.compile("|".join(other))
    statements = (result.sub(lambda at: other[at.group()], sql) for sql in outcome.statements)
    return replace(outcome, statements=tuple(statements))


def _of_reading(seed: int) -> tuple[Verdict, ...]:
    """Let one engine misread the files just as the judge does, and another one not."""
    story = _story(seed)
    wrong = read(story, files=_every(_misread)).reply
    return judged(case_of(story, _every(_misread)), (wrong, story.read()))


MISTAKES: Final[
    Mapping[str, tuple[Callable[[int], tuple[Verdict, ...]], Responsible, VerdictKind]]
] = {
    "own: a rule of conversion, one engine asked": (
        _of_rule(1),
        Responsible.UNSURE,
        VerdictKind.WRONG,
    ),
    "own: a rule of conversion, two engines asked": (
        _of_rule(2),
        Responsible.MODEL,
        VerdictKind.UNKNOWN,
    ),
    "own: flags made otherwise, two engines asked": (
        _of_values,
        Responsible.MODEL,
        VerdictKind.UNKNOWN,
    ),
    "own: when rows were committed, one engine asked": (
        _of_commits(1),
        Responsible.UNSURE,
        VerdictKind.WRONG,
    ),
    "own: when rows were committed, two engines asked": (
        _of_commits(2),
        Responsible.MODEL,
        VerdictKind.UNKNOWN,
    ),
    "own: files misread, two engines asked": (_of_reading, Responsible.UNSURE, VerdictKind.WRONG),
}
"""What is answered; whose doing it has to be, and the verdict."""


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.parametrize("seed", range(8))
def test_nobody_is_blamed_for_a_mistake_of_our_own(name: str, seed: int) -> None:
    ask, responsible, kind = MISTAKES[name]
    shown = [verdict for verdict in ask(seed) if verdict.verdict is not VerdictKind.CORRECT]
    findings = [finding for verdict in shown for finding in verdict.findings]
    assert {finding.responsible for finding in findings} == {responsible}
    assert {verdict.verdict for verdict in shown} == {kind}
