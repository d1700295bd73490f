"""Whose doing a planted defect is, asked of the product with what the files hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum

from harness.cells import Cell, Variant
from harness.histories import Case
from harness.judge import judge
from harness.record import Answer, FileValues, Outcome, OutcomeKind, Party, StateRecord, Verdict
from harness.scenario.definition import Scenario, Step
from tests.quality.notation import Told
from tests.quality.planted import Defect
from tests.quality.shadow import Files, Seen, changed_disk
from tests.simulated import Disk, File, Reply, instant_of

WRITER = "writer: "
"""How the names of planted writers begin; all others are readers."""


class Blamed(StrEnum):
    """On whom the findings of one history put the blame."""

    INVISIBLE = "invisible"
    """The answer is right, or the history has nothing that could go wrong."""
    RIGHT = "right party"
    NOBODY = "nobody"
    """Of a finding it is not said, although the files are known."""
    WRONG = "wrong party"


def case_of(told: Told, files: Files | None = None, *, looked_at: bool = True) -> Case:
    """Give the records of a history whose files a writer has spoilt."""
    steps = tuple(Step(each) for each in told.operations)
    scenario = Scenario("family/name", told.disk.table, steps)
    mor, writers = told.disk.merge_on_read, ("writer",) * (len(steps) + 1)
    variant = Variant("variant", scenario, "hudi-mor" if mor else "hudi-cow", {}, writers)
    disk = changed_disk(told.disk, files)
    states = [
        _state(disk, step, _sent(told, step), looked_at=looked_at) for step in range(len(steps) + 1)
    ]
    return Case(variant, mor, tuple(states))


def _sent(told: Told, step: int) -> tuple[str, ...]:
    if step == 0:
        return ()
    return tuple(told.operations[step - 1].sql(told.history[step - 1], told.history[step]))


def _state(disk: Disk, step: int, sql: tuple[str, ...], *, looked_at: bool) -> StateRecord:
    there = disk.until(step)
    new = [number for number, each in enumerate(there) if each.step == step and looked_at]
    return StateRecord(
        "variant",
        Outcome(step, OutcomeKind.APPLIED, instant_of(step), statements=sql),
        "d",
        tuple(each.fact() for each in there),
        values=tuple(_values(there[number], number) for number in new if there[number].records),
    )


def _values(file: File, number: int) -> FileValues:
    rows = (tuple(record[name] for name in file.names) for record in file.records.values())
    return FileValues(number, file.names, tuple(rows))


def judged(case: Case, replies: Sequence[Reply], view: str = "snapshot") -> tuple[Verdict, ...]:
    """Let as many engines answer, each with a reply."""
    step = len(case.states) - 1
    cells = [Cell("variant", step, f"engine-{n}", view, "all") for n in range(len(replies))]
    answers = {
        cell.case: Answer(cell.case, "select", reply.columns, reply.rows)
        for cell, reply in zip(cells, replies, strict=True)
    }
    return judge(case, cells, answers)


def right_of(defect: Defect) -> Party:
    """Give whose doing a planted defect is."""
    return Party.WRITER if defect.name.startswith(WRITER) else Party.READER


def parties(defect: Defect, seed: int) -> set[Party | None]:
    """Give whose doing the findings of a defect are; none where it cannot be seen."""
    seen = defect.seen(seed)
    return _of(seen, of_writer=right_of(defect) is Party.WRITER) if seen is not None else set()


def _of(seen: Seen, *, of_writer: bool) -> set[Party | None]:
    case = case_of(seen.told, seen.files if of_writer else None)
    cell = Cell("variant", len(case.states) - 1, "engine-1", seen.view, "all")
    reply = seen.reply
    answer = Answer(cell.case, "select", reply.columns, reply.rows, question=seen.query)
    (verdict,) = judge(case, [cell], {cell.case: answer})
    return {finding.party for finding in verdict.findings}


def figures(defect: Defect, seeds: Iterable[int]) -> tuple[Counter[Blamed], list[str]]:
    """Count on whom a defect is blamed in many histories; say where it is not whose doing it is."""
    counts: Counter[Blamed] = Counter()
    misses: list[str] = []
    right = right_of(defect)
    for seed in seeds:
        found = parties(defect, seed)
        result = blamed(found, right)
        counts[result] += 1
        if result in {Blamed.WRONG, Blamed.NOBODY}:
            named = ", ".join(sorted(str(each or "nobody") for each in found))
            misses.append(f"{defect.name}, seed {seed}: blamed on {named}, not on the {right}")
    return counts, misses


def blamed(found: AbstractSet[Party | None], right: Party) -> Blamed:
    """Judge on whom the findings of an answer put the blame."""
    if not found:
        return Blamed.INVISIBLE
    if found == {right}:
        return Blamed.RIGHT
    return Blamed.NOBODY if found <= {right, None} else Blamed.WRONG
