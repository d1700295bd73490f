"""Verdicts of a run that goes on: its records are read as they come, and judged one by one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from harness import (
    baseline,
    formats,
    histories,
    judge,
    known_files,
    record,
    run,
    run_info,
    run_plan,
)
from harness.baseline import Applied, Known
from harness.cells import Cell, Plan, Variant
from harness.record import Answer, Record, StateRecord, Verdict
from harness.run import Run
from harness.run_info import RunInfo


@dataclass(frozen=True, slots=True)
class Followed:
    """What is judged of a cell, and what the baselines say of this cell alone."""

    applied: Applied
    answer: Answer | None

    @property
    def verdict(self) -> Verdict:
        """Its verdict."""
        return self.applied.verdicts[0]


class Tail(Generic[Record]):
    """The whole lines that came to a file of records since it was looked at last."""

    def __init__(self, path: Path, kind: type[Record]) -> None:
        """`path` may be missing yet."""
        self._path = path
        self._kind: type[Record] = kind
        self._inode = self._offset = 0

    def new(self) -> list[Record]:
        """Give what is new; all of it again where the file was replaced.

        Raises:
            ValueError: a line is no such record.

        """
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return []
        with file:
            inode = os.fstat(file.fileno()).st_ino
            if inode != self._inode:
                self._inode, self._offset = inode, 0
            file.seek(self._offset)
            whole, end, _ = file.read().rpartition(b"\n")
        self._offset += len(whole) + len(end)
        return [record.parse(self._kind, line) for line in whole.split(b"\n") if line]


@dataclass(frozen=True, slots=True)
class _Planned:
    """What the run set out to do."""

    info: RunInfo
    plan: Plan
    cells: Mapping[str, Cell]
    variants: Mapping[str, Variant]
    known: Mapping[str, Sequence[Known]]


class Following:
    """A run's folder that fills; nothing in it is changed."""

    def __init__(self, folder: Path) -> None:
        """`folder` may be missing yet."""
        self._folder = folder
        self._planned: _Planned | None = None
        self._tails = Tail(folder / run.STATES, StateRecord), Tail(folder / run.ANSWERS, Answer)
        self._states: dict[str, dict[int, StateRecord]] = {}
        self._answers: dict[str, Answer] = {}
        self._judged: dict[str, Followed] = {}

    @property
    def begun(self) -> bool:
        """Whether the run has got as far as to say what it sets out to do."""
        return self._planned is not None

    def look(self) -> None:
        """Take the records that came.

        Raises:
            UsageProblem: the run's plan or a baseline cannot be read.
            ValueError: a record cannot be read.

        """
        if self._planned is None and (self._folder / run_info.INFO).is_file():
            self._planned = _planned(run_info.read_info(self._folder))
        states, answers = self._tails
        for state in states.new():
            self._states.setdefault(state.variant, {})[state.outcome.step] = state
        for answer in answers.new():
            self._answers[answer.case] = answer

    def find(self, case: str) -> Followed | None:
        """Give what is judged of a cell; None while that cannot be."""
        if case not in self._judged and case in self._answers and self._planned is not None:
            self._judge(self._planned, self._planned.cells[case].variant)
        return self._judged.get(case)

    def last(self, case: str) -> Followed | None:
        """Give what is to be said of a cell once no more records come: unknown without an answer.

        None for a cell that was not asked since a step was refused, or that the run does not have.
        """
        found = self.find(case)
        if found is None and self._planned is not None and case in self._planned.cells:
            self._judge_cells(self._planned, [self._planned.cells[case]])
        return self._judged.get(case)

    def _judge(self, planned: _Planned, variant: str) -> None:
        """Judge all answers of a variant that are there, once its states are."""
        steps = planned.variants[variant].scenario.steps
        if len(self._states.get(variant, {})) > len(steps):  # the creation is one more
            cells = (cell for cell in planned.cells.values() if cell.variant == variant)
            new = [c for c in cells if c.case in self._answers and c.case not in self._judged]
            self._judge_cells(planned, new)

    def _judge_cells(self, planned: _Planned, cells: Sequence[Cell]) -> None:
        variant = planned.variants[cells[0].variant]
        states = [state for _, state in sorted(self._states.get(variant.id, {}).items())]
        case = histories.Case(variant, formats.load(variant.format).merge_on_read, states)
        for verdict in judge.judge(case, cells, self._answers):
            if verdict.view != run.WRITE:
                self._judged[verdict.case] = self._followed(planned, verdict)

    def _followed(self, planned: _Planned, verdict: Verdict) -> Followed:
        answer = self._answers.get(verdict.case)
        answers = {answer.case: answer} if answer else {}
        alone = Run(self._folder, planned.info, (), answers, {})
        facts = known_files.facts(alone, planned.plan, [verdict])
        known = {verdict.scenario: planned.known[verdict.scenario]}
        return Followed(baseline.apply([verdict], known, facts, known_files.today()), answer)


def _planned(info: RunInfo) -> _Planned:
    plan = run_plan.plan_of(info)
    return _Planned(
        info=info,
        plan=plan,
        cells={cell.case: cell for cell in plan.cells},
        variants={variant.id: variant for variant in plan.variants},
        known=known_files.lines(info, plan),
    )
