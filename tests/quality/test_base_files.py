"""Read-optimized views of random merge-on-read histories: what base files show, and nothing else.

The right reader has no finding, also where the files lie as the model does not foresee; whatever
is changed in one place of its answer is found there, under its right name.
"""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from harness.core.records import FindingKind
from harness.judge.name import name_of
from harness.model.canonical import Value, same
from harness.model.file_facts import FileKind
from harness.model.query import ALL
from harness.model.simulation.column_resolution import WrittenFiles
from harness.model.simulation.row_files import base_rows
from tests.builders import random_story
from tests.builders.judge_stages import findings, wrong
from tests.builders.simulated_disk import File
from tests.builders.simulated_reader import Reader
from tests.builders.table_story import Story
from tests.builders.traced_answer import Line, Seen, read
from tests.quality import asked, judged_defects
from tests.quality.defects_base import BASE, VIEW
from tests.quality.judged_defects import Result
from tests.quality.planted import with_cell

FOUND = {Result.RIGHT, Result.UNDECIDABLE}


def merge_on_read(seed: int) -> random_story.Plot:
    plot = random_story.plot(seed)
    return replace(
        plot, mor=True, steps=f"{plot.steps}; insert 401,402,403,404; upsert 401; delete 402"
    )


def right(story: Story) -> Seen:
    return replace(read(story, BASE), view=VIEW)


def otherwise(story: Story, seed: int) -> Story:
    """Let some compactions of some file groups not have taken place."""
    by_chance = random.Random(seed)  # noqa: S311 - nothing is kept secret by it
    firsts: set[str] = set()
    files: list[File] = []
    for file in story.disk.files:
        again = file.kind is FileKind.BASE and file.group in firsts
        firsts.add(file.group)
        if not (again and by_chance.random() < 0.5):
            files.append(file)
    return replace(story, disk=replace(story.disk, files=files))


@pytest.mark.parametrize("seed", range(12))
def test_the_files_tell_what_the_truth_says_of_base_files(seed: int) -> None:
    story = merge_on_read(seed).story()
    assert story.base.why == ""
    assert story.base.rows == story.truth.base


@pytest.mark.parametrize("seed", range(8))
def test_a_right_answer_to_any_question_has_no_finding_however_the_files_lie(seed: int) -> None:
    plotted = merge_on_read(seed).story()
    for story in (plotted, otherwise(plotted, seed)):
        assert story.base.why == ""
        for query in asked.questions(story):
            reply = asked.ask(story, query.query, BASE)
            state = story.state(VIEW).narrowed(query.query)
            assert findings(wrong(state, query.query, reply.columns, reply.rows), state) == ()


def test_rows_of_groups_with_log_files_alone_are_premature() -> None:
    plotted = merge_on_read(1).story()
    keys = [key for key in plotted.truth.rows if str(key) in {"403", "404"}]
    last = {plotted.disk.group_of(key) for key in keys}
    facts = tuple(
        replace(fact, kind=FileKind.LOG) if fact.file_group in last else fact
        for fact in plotted.facts
    )
    rows = base_rows(WrittenFiles(plotted.history, facts, plotted.steps)).rows
    state = replace(plotted.state(VIEW), rows=rows, base=rows)
    reply = right(plotted).reply
    places = wrong(state, ALL, reply.columns, reply.rows)
    named = {(witness.key, name_of(witness, state)) for witness in places}
    assert {key for key, _ in named} >= {"403", "404"}
    assert {kind for key, kind in named if key != "402"} == {FindingKind.PREMATURE}


@pytest.mark.parametrize("seed", range(8))
def test_every_change_of_one_value_is_found_under_its_right_name(seed: int) -> None:
    story = merge_on_read(seed).story()
    results: Counter[Result] = Counter()
    for seen in changed_values(story):
        judged = judged_defects.judge_defect(seen)
        assert judged.result in FOUND, judged.detail
        results[judged.result] += 1
    assert results[Result.RIGHT] > results[Result.UNDECIDABLE]


def changed_values(story: Story) -> Iterator[Seen]:
    """Yield the right answer with one value changed, each in every way that is tried.

    A flag of another column may be the row's own of another version, which is the nearer one.
    """
    seen = right(story)
    sources = [read(story), *(read(story, step=step) for step in range(1, story.truth.step))]
    for at, line in enumerate(seen.lines):
        others = [other for source in sources for other in source.lines if other.key == line.key]
        for column, value in enumerate(line.values):
            tried: list[Value] = [value]
            for new, token in (
                *_versions(others, column),
                *_of_same_type(seen, line, column),
                (None, None),
            ):
                if not any(same(new, query) for query in tried):
                    tried.append(new)
                    yield _with(seen, at, column, new, token)


def _versions(lines: list[Line], column: int) -> Iterator[tuple[Value, Value]]:
    for line in lines:
        yield line.values[column], line.tokens[column]


def _of_same_type(seen: Seen, line: Line, column: int) -> Iterator[tuple[Value, Value]]:
    for at, other in enumerate(seen.columns):
        if at != column and other.canonical == seen.columns[column].canonical:
            yield line.values[at], line.tokens[at]


def _with(seen: Seen, at: int, column: int, value: Value, token: Value) -> Seen:
    line = seen.lines[at]
    new = with_cell(line, column, value, token)
    return replace(seen, lines=(*seen.lines[:at], new, *seen.lines[at + 1 :]))


@pytest.mark.parametrize("seed", range(6))
def test_every_change_of_one_row_is_found_under_its_right_name(seed: int) -> None:
    story = merge_on_read(seed).story()
    seen = right(story)
    for at in range(len(seen.lines)):
        less = replace(seen, lines=(*seen.lines[:at], *seen.lines[at + 1 :]))
        twice = replace(seen, lines=(*seen.lines, seen.lines[at]))
        now = [line for line in read(story).lines if line.key == seen.lines[at].key]
        newer = replace(seen, lines=(*seen.lines[:at], *now, *seen.lines[at + 1 :]))
        assert judged_defects.judge_defect(less).result is Result.RIGHT
        assert {kind for _, kind in judged_defects.named(twice)} == {FindingKind.DUPLICATE}
        changed = now != [seen.lines[at]]
        expected = {FindingKind.PREMATURE} if changed else set()
        assert {kind for _, kind in judged_defects.named(newer)} == expected


@pytest.mark.parametrize("seed", range(12))
def test_a_row_that_was_deleted_before_a_compaction_is_a_ghost(seed: int) -> None:
    plot = merge_on_read(seed)
    story = replace(plot, steps=f"{plot.steps}; compact").story()
    before = read(story, Reader("id", logs="undeleted"), step=story.truth.step - 1)
    ghosts = tuple(line for line in before.lines if line.key == "402")
    seen = replace(right(story), lines=(*right(story).lines, *ghosts))
    assert judged_defects.named(seen) == [(("402", ""), FindingKind.GHOST_ROW)]
