"""Verdicts of a run that goes on: its records are read as they come, and judged one by one.

A verdict that is told is the one that the run gives at its end. What other readers can still turn
(`final_attribution.may_change`) waits until all that are asked the same question have answered,
or the run has ended.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from harness.core import jsonl
from harness.core.grouping import grouped
from harness.core.jsonl import Record
from harness.core.records import Answer, QuestionKey, StateRecord, Verdict
from harness.judge import baseline, final_attribution
from harness.judge.baseline import Applied, Known
from harness.judge.verdicts import judge_alone
from harness.run import (
    baseline_files,
    held_to_controls,
    load_run,
    plan_record,
    run_info,
    second_round,
)
from harness.run.held_to_controls import ReaderFormat
from harness.run.load_run import Run
from harness.run.recorded_case import case_of
from harness.run.run_info import RunInfo
from harness.scenario.cells import Cell, Plan, Variant


@dataclass(frozen=True, slots=True)
class CellOutcome:
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
    """What the run set out to do."""

    info: RunInfo
    plan: Plan
    cells: Mapping[str, Cell]
    alike: Mapping[QuestionKey, Sequence[Cell]]
    """The cells of each question, one for each reader that is asked it."""
    variants: Mapping[str, Variant]
    known: Mapping[str, Sequence[Known]]
    controls: Mapping[ReaderFormat, Sequence[Cell]]

    def controls_of(self, cell: Cell) -> Sequence[Cell]:
        """Return the controls by which the verdict on a cell stands; most often there are none."""
        return self.controls.get((cell.reader, self.variants[cell.variant].format), ())


class RunFollower:
    """A run's folder that fills; nothing in it is changed."""

    def __init__(self, folder: Path) -> None:
        """`folder` may be missing yet."""
        self._folder = folder
        self._planned: _RunPlan | None = None
        self._tails = (
            Tail(folder / load_run.STATES, StateRecord),
            Tail(folder / load_run.ANSWERS, Answer),
        )
        self._states: dict[str, dict[int, StateRecord]] = {}
        self._answers: dict[str, Answer] = {}
        # As each answer tells by itself; None where nothing was to be asked.
        self._alone: dict[str, Verdict | None] = {}
        self._told: dict[str, CellOutcome] = {}

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
            self._alone.pop(answer.case, None)  # it may be what came when it was asked again

    def find(self, case: str) -> CellOutcome | None:
        """Return what the run says of a cell; None while that cannot be told, or may still turn."""
        planned = self._planned
        if planned is not None and case not in self._told and case in self._answers:
            cell = planned.cells[case]
            if self._written(planned, cell.variant) and self._controls_answered(planned, cell):
                self._hear(planned, cell)
        return self._told.get(case)

    def last(self, case: str) -> CellOutcome | None:
        """Return what is to be said of a cell once no more records come: unknown without an answer.

        None for a cell that was not asked since a step was refused, or that the run does not have.
        """
        found, planned = self.find(case), self._planned
        if found is None and planned is not None and case in planned.cells:
            self._settle(planned, planned.alike[planned.cells[case].question])
        return self._told.get(case)

    def _written(self, planned: _RunPlan, variant: str) -> bool:
        steps = planned.variants[variant].scenario.steps
        return len(self._states.get(variant, {})) > len(steps)  # the creation is one more

    def _controls_answered(self, planned: _RunPlan, cell: Cell) -> bool:
        return all(
            each.case in self._answers and self._written(planned, each.variant)
            for each in planned.controls_of(cell)
        )

    def _hear(self, planned: _RunPlan, cell: Cell) -> None:
        """Judge a cell; what the others asked alike can turn is told once all of them answered."""
        if cell.case not in self._alone:
            # All that are there of the variant: its truth is made once for them.
            own = (each for each in planned.cells.values() if each.variant == cell.variant)
            self._judge(planned, [each for each in own if each.case in self._answers])
        verdict, alike = self._alone[cell.case], planned.alike[cell.question]
        if verdict is not None and not final_attribution.may_change(verdict):
            if not self._asked_again(planned, cell):
                self._tell(planned, [verdict])
        elif all(each.case in self._answers for each in alike):
            self._judge(planned, alike)
            if not any(self._asked_again(planned, each) for each in alike):
                self._settle(planned, alike)

    def _asked_again(self, planned: _RunPlan, cell: Cell) -> bool:
        """Return whether the run will ask for a cell's answer once more."""
        verdict, answer = self._alone[cell.case], self._answers.get(cell.case)
        if verdict is None:
            return False
        return second_round.due(self._held(planned, verdict), answer, planned.plan.ask_again)

    def _settle(self, planned: _RunPlan, alike: Sequence[Cell]) -> None:
        """Tell the verdicts of a question: no other answer to it will come."""
        self._judge(planned, alike)
        alone = (self._alone[each.case] for each in alike)
        self._tell(
            planned,
            final_attribution.with_final_attribution(
                [each for each in alone if each], self._answers
            ),
        )

    def _judge(self, planned: _RunPlan, cells: Iterable[Cell]) -> None:
        """Judge those of a variant's cells that are not judged yet, each by its own answer."""
        new = [each for each in cells if each.case not in self._alone]
        if not new:
            return
        variant = planned.variants[new[0].variant]
        states = [state for _, state in sorted(self._states.get(variant.id, {}).items())]
        case = case_of(variant, states)
        found = {each.case: each for each in judge_alone(case, new, self._answers)}
        self._alone |= {each.case: found.get(each.case) for each in new}

    def _tell(self, planned: _RunPlan, verdicts: Iterable[Verdict]) -> None:
        for verdict in verdicts:
            if verdict.case not in self._told:
                held = self._held(planned, verdict)
                self._told[verdict.case] = self._followed(planned, held)

    def _held(self, planned: _RunPlan, verdict: Verdict) -> Verdict:
        """Return a verdict as the controls of its reader leave it."""
        controls = planned.controls_of(planned.cells[verdict.case])
        for each in controls:  # each is of a variant of its own
            self._judge(planned, [each])
        judged = [found for each in controls if (found := self._alone[each.case])]
        format_name = planned.variants[verdict.variant].format
        why = held_to_controls.failure(judged, self._answers, format_name)
        return held_to_controls.hold(verdict, why)

    def _followed(self, planned: _RunPlan, verdict: Verdict) -> CellOutcome:
        answer = self._answers.get(verdict.case)
        answers = {answer.case: answer} if answer else {}
        alone = Run(self._folder, planned.info, (), answers, {})
        facts = baseline_files.facts(alone, planned.plan)
        known = {verdict.scenario: planned.known[verdict.scenario]}
        return CellOutcome(baseline.apply([verdict], known, facts, baseline_files.today()), answer)


def _planned(info: RunInfo) -> _RunPlan:
    plan = plan_record.plan_of(info)
    return _RunPlan(
        info=info,
        plan=plan,
        cells={cell.case: cell for cell in plan.cells},
        alike=grouped((cell.question, cell) for cell in plan.cells),
        variants={variant.id: variant for variant in plan.variants},
        known=baseline_files.lines(info, plan),
        controls=held_to_controls.controls_of(plan),
    )
