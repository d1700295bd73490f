"""The records that a writer leaves of a table's story, and answers about it, judged."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from harness.core.records import (
    Answer,
    FileValues,
    FindingKind,
    Outcome,
    OutcomeKind,
    Responsible,
    StateRecord,
    Verdict,
)
from harness.judge.recorded_variant import RecordedVariant
from harness.judge.verdicts import judge
from harness.model.canonical import text_of
from harness.model.query import Query
from harness.scenario.cells import Cell, Variant
from harness.scenario.definition import Scenario, Step
from tests.builders.simulated_disk import Disk, File, instant_of
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import Story
from tests.builders.traced_answer import Files, changed_disk

COUNTED: Final = "by position, Hudi's meta columns counted"
ANEW: Final = "by id, ids given anew in each file"
NULLS_BY_SCHEMA: Final = "by id, conditions on NULL answered from the schema"
READER: Final = "engine-1"


def case_of(
    story: Story,
    files: Files | None = None,
    *,
    outcomes: Mapping[int, Outcome] | None = None,
    looked_at: bool = True,
    bare: bool = False,
) -> RecordedVariant:
    """Return the records of a history; `outcomes`: of steps that were not applied as others are.

    `looked_at`: whether the values in the files were read; `bare`: whether the catalog lists no
    meta columns of Hudi's.
    """
    steps = tuple(Step(operation) for operation in story.operations)
    scenario = Scenario("family/name", story.disk.table, steps)
    mor, writers = story.disk.merge_on_read, ("writer",) * (len(steps) + 1)
    variant = Variant("variant", scenario, "hudi-mor" if mor else "hudi-cow", {}, writers)
    disk = changed_disk(story.disk, files)
    states = [
        _state(disk, step, _sent(story, step), looked_at=looked_at)
        for step in range(len(steps) + 1)
    ]
    for step, outcome in (outcomes or {}).items():
        states[step] = replace(states[step], outcome=outcome)
    if not bare:
        states = [_listed(state) for state in states]
    return RecordedVariant(variant, mor, tuple(states))


def _listed(state: StateRecord) -> StateRecord:
    values = tuple(replace(value, meta=()) for value in state.values)
    return replace(state, values=values, bare=False)


def _sent(story: Story, step: int) -> tuple[str, ...]:
    if step == 0:
        return ()
    return tuple(story.operations[step - 1].sql(story.history[step - 1], story.history[step]))


def _state(disk: Disk, step: int, sql: tuple[str, ...], *, looked_at: bool) -> StateRecord:
    there = disk.until(step)
    new = [number for number, name in enumerate(there) if name.step == step and looked_at]
    return StateRecord(
        "variant",
        Outcome(step, OutcomeKind.APPLIED, instant_of(step), statements=sql),
        "d",
        tuple(name.fact() for name in there),
        values=tuple(_values(there[number], number) for number in new if there[number].records),
        bare=True,
    )


def _values(file: File, number: int) -> FileValues:
    rows = (tuple(record[name] for name in file.names) for record in file.records.values())
    meta = (tuple(file.added(key).values()) for key in file.records)
    commits = (file.commits.get(key, instant_of(file.step)) for key in file.records)
    return FileValues(number, file.names, tuple(rows), meta=tuple(meta), commits=tuple(commits))


def answer_of(reply: Reply, query: Query | None = None) -> Answer:
    return Answer("", "select", reply.columns, reply.rows, question=query or Query())


def judged(
    case: RecordedVariant,
    replies: Sequence[Reply],
    view: str = "snapshot",
    query: Query | None = None,
) -> tuple[Verdict, ...]:
    """Let as many engines answer, each with a reply; that of a refused step is the first."""
    step = len(case.states) - 1
    cells = [Cell("variant", step, f"engine-{n}", view, "all") for n in range(len(replies))]
    answers = {
        cell.case: replace(answer_of(reply, query), case=cell.case)
        for cell, reply in zip(cells, replies, strict=True)
    }
    return judge(case, cells, answers)


def verdict_on(
    case: RecordedVariant, answer: Answer, view: str = "snapshot", reader: str = READER
) -> Verdict:
    cell = Cell("variant", len(case.states) - 1, reader, view, "all")
    verdicts = judge(case, [cell], {cell.case: replace(answer, case=cell.case)})
    return next(verdict for verdict in verdicts if verdict.view == view)


def with_last(case: RecordedVariant, last: StateRecord) -> RecordedVariant:
    return replace(case, states=(*case.states[:-1], last))


def without_rows(reply: Reply, keys: Collection[str], key: str) -> Reply:
    at = reply.names.index(key)
    return replace(reply, rows=tuple(row for row in reply.rows if text_of(row[at]) not in keys))


def blamed(verdict: Verdict) -> set[tuple[FindingKind, Responsible | None]]:
    return {(finding.kind, finding.responsible) for finding in verdict.findings}


def case_without_values(
    story: Story, outcomes: Mapping[int, Outcome] | None = None
) -> RecordedVariant:
    return case_of(story, outcomes=outcomes, looked_at=False)


def cell_at(story: Story, view: str = "snapshot", step: int | None = None) -> Cell:
    return Cell("variant", len(story.operations) if step is None else step, READER, view, "all")


def judged_answer(story: Story, reply: Reply, view: str = "snapshot") -> Verdict:
    return verdict_on(case_without_values(story), answer_of(reply), view)
