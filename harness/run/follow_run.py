"""Verdicts of a run that goes on, for whoever waits for single cells: pytest does.

The run itself writes each verdict that no later answer can change as soon as there is one
(`LiveVerdicts`), if somebody follows it; whoever follows it reads them (`RunFollower`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Generic

from harness.core import jsonl
from harness.core.grouping import grouped
from harness.core.jsonl import Record
from harness.core.records import Answer, Verdict
from harness.judge import baseline
from harness.judge.baseline import Applied, Known
from harness.judge.final_attribution import may_change, with_final_attribution
from harness.run import (
    baseline_files,
    control_check,
    load_run,
    plan_record,
    run_folder,
    run_info,
    run_judge,
)
from harness.run.load_run import Run
from harness.run.run_info import RunInfo
from harness.run.run_judge import RunJudge
from harness.scenario.cells import Cell, Plan

EARLY: Final = Path(run_folder.PYTEST, load_run.VERDICTS)
"""The early verdicts, in the run's folder; without what the baselines say."""


class LiveVerdicts:
    """Has answers judged as they come; writes the verdicts that no later answer can change."""

    def __init__(self, plan: Plan, judge: RunJudge, folder: Path) -> None:
        """`folder`: the run's. They are written where pytest has made a folder in it."""
        self._path, self._followed = folder / EARLY, (folder / run_folder.PYTEST).is_dir()
        self._plan, self.judge = plan, judge
        self._cells = {cell.case: cell for cell in plan.cells}
        self._formats = {variant.id: variant.format for variant in plan.variants}
        self._controls = control_check.controls_of(plan)
        self._by_question = grouped((cell.question, cell) for cell in plan.cells)
        self._answers: dict[str, Answer] = {}
        self._written: set[str] = set()

    def add_answer(self, answer: Answer) -> Verdict | None:
        """Judge an answer by itself, then write what is final now; None where there is no verdict.

        If nobody follows, an answer of an earlier run is judged at the end: its verdict is in the
        cache.
        """
        if not self._followed:
            return None if answer.reused else self.judge.add_answer(answer)
        self._answers[answer.case] = answer
        verdict, cell = self.judge.add_answer(answer), self._cells[answer.case]
        cells = [cell]
        if cell in self._controls_of(cell):
            cells += [c for c in self._cells.values() if self._key(c) == self._key(cell)]
        final: list[Verdict] = []
        for question in dict.fromkeys(c.question for c in cells):
            final += self._final(self._by_question[question])
        with jsonl.adding(self._path) as add:
            add(final)
        return verdict

    def _final(self, same_query: Sequence[Cell]) -> Iterator[Verdict]:
        """Yield the verdicts on a query that are final now and were not before."""
        judged = [v for cell in same_query if (v := self.judge.by_itself(cell.case))]
        again = {v.case for v in judged if self._asked_again(v)}
        if not again and all(cell.case in self._answers for cell in same_query):
            judged = list(with_final_attribution(judged, self._answers))
        else:
            judged = [v for v in judged if v.case not in again and not may_change(v)]
        for verdict in judged:
            controls = self._controls_of(self._cells[verdict.case])
            answered = all(control.case in self._answers for control in controls)
            if answered and verdict.case not in self._written:
                self._written.add(verdict.case)
                yield self._checked(verdict)

    def _asked_again(self, verdict: Verdict) -> bool:
        return run_judge.due(self._checked(verdict), self._answers, self._plan.ask_again)

    def _checked(self, verdict: Verdict) -> Verdict:
        """Return a verdict as the controls of its reader leave it."""
        cell = self._cells[verdict.case]
        controls = self._controls_of(cell)
        judged = [v for control in controls if (v := self.judge.by_itself(control.case))]
        failures = control_check.failures(judged, {self._key(cell): controls}, self._answers)
        return control_check.invalidate(verdict, failures.get(self._key(cell), ""))

    def _controls_of(self, cell: Cell) -> Sequence[Cell]:
        return self._controls.get(self._key(cell), ())

    def _key(self, cell: Cell) -> control_check.ReaderFormat:
        return cell.reader, self._formats[cell.variant]


@dataclass(frozen=True, slots=True)
class CellOutcome:
    """What is judged of a cell, and what the baselines say of this cell alone."""

    applied: Applied
    answer: Answer | None

    @property
    def verdict(self) -> Verdict:
        return self.applied.verdicts[0]


class Tail(Generic[Record]):
    """The whole lines that were added to a file of records since the last look."""

    def __init__(self, path: Path, kind: type[Record]) -> None:
        """`path` may be missing yet."""
        self._path = path
        self._kind: type[Record] = kind
        self._inode = self._offset = 0

    def new(self) -> list[Record]:
        """Return what is new; all of it again where the file was replaced.

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
        return [jsonl.parse(self._kind, line) for line in whole.split(b"\n") if line]


@dataclass(frozen=True, slots=True)
class _RunPlan:
    info: RunInfo
    plan: Plan
    known: Mapping[str, Sequence[Known]]


class RunFollower:
    """Reads a run's folder that fills; nothing in it is changed."""

    def __init__(self, folder: Path) -> None:
        """`folder` may be missing yet."""
        self._folder = folder
        self._planned: _RunPlan | None = None
        self._early_verdicts = Tail(folder / EARLY, Verdict)
        self._new_answers = Tail(folder / load_run.ANSWERS, Answer)
        self._verdicts: dict[str, Verdict] = {}
        self._answers: dict[str, Answer] = {}

    @property
    def begun(self) -> bool:
        """Whether the plan of the run is written."""
        return self._planned is not None

    def look(self) -> None:
        """Take the records that came.

        Raises:
            UsageProblem: the run's plan or a baseline cannot be read.
            ValueError: a record cannot be read.

        """
        if self._planned is None and (self._folder / run_info.INFO).is_file():
            info = run_info.read_info(self._folder)
            plan = plan_record.plan_of(info)
            self._planned = _RunPlan(info, plan, baseline_files.lines(info, plan))
        # In this order: the answer of each verdict is there.
        self._verdicts |= {verdict.case: verdict for verdict in self._early_verdicts.new()}
        self._answers |= {answer.case: answer for answer in self._new_answers.new()}

    def find(self, case: str) -> CellOutcome | None:
        """Return the final verdict on a cell; None while there is none."""
        return self._outcome(self._verdicts.get(case))

    def last(self, case: str) -> CellOutcome | None:
        """Return the verdict on a cell after the end of the run: unknown without an answer.

        None for a cell that was not asked since a step was refused, or that the run does not have.
        """
        if self._planned is None:
            return None
        return self.find(case) or self._outcome(self._last_verdicts.get(case))

    @cached_property
    def _last_verdicts(self) -> Mapping[str, Verdict]:
        """The verdicts of a run that ended, or died before it judged."""
        run = load_run.recorded(self._folder)
        if (self._folder / load_run.VERDICTS).exists():
            return load_run.with_verdicts(run).recorded
        plan = plan_record.plan_of(run.info)
        return {verdict.case: verdict for verdict in RunJudge(plan).verdicts(run)}

    def _outcome(self, verdict: Verdict | None) -> CellOutcome | None:
        if verdict is None or self._planned is None:
            return None
        info, plan, known = self._planned.info, self._planned.plan, self._planned.known
        answer = self._answers.get(verdict.case)
        run = Run(self._folder, info, (), {answer.case: answer} if answer else {}, {})
        facts = baseline_files.facts(run, plan)
        lines = {verdict.scenario: known[verdict.scenario]}
        return CellOutcome(baseline.apply([verdict], lines, facts, baseline_files.today()), answer)
