"""The judge of a run: it judges each answer once, as it comes or, if it was there, at the end.

What one answer says by itself is provisional: the answers of others to the same query can still
change it (`judge.settle`), and so can the controls of its reader (`control_check`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Final

from harness import formats
from harness.artifacts.result_cache import ResultCache
from harness.core import jsonl
from harness.core.grouping import grouped
from harness.core.record_file import VerdictParts
from harness.core.records import Answer, StateRecord, Verdict, VerdictKind
from harness.judge import verdicts as judge
from harness.judge.final_attribution import may_change, with_final_attribution
from harness.judge.recorded_variant import RecordedVariant
from harness.judge.verdicts import JudgedVariant
from harness.plan.reader_support import declared
from harness.run import control_check, load_run, report_cache
from harness.run.load_run import Run
from harness.scenario.cells import Cell, Plan, Variant
from harness.scenario.expected_history import Truths

AT_ONCE: Final = 200
"""The truth of so many variants is kept: engines are asked about few at the same time."""


def case_of(variant: Variant, states: Sequence[StateRecord]) -> RecordedVariant:
    """Return a variant with the records of its states, which its format says how to lay out."""
    merge_on_read = formats.load(variant.format).merge_on_read
    truths = Truths(variant.scenario, merge_on_read=merge_on_read)
    return RecordedVariant(variant, truths, states, declared)


class RunJudge:
    """Takes the records of a run as they come; for one thread at a time."""

    def __init__(self, plan: Plan, results: ResultCache | None = None) -> None:
        """`results`: verdicts on variants that were recorded alike before; None: all are judged."""
        self._plan = plan
        self.results = results
        self._cells = {cell.case: cell for cell in plan.cells}
        self._variants = {variant.id: variant for variant in plan.variants}
        self._states: dict[str, list[StateRecord]] = {}
        self._by_themselves: dict[str, Verdict | None] = {}
        self._share = VerdictParts()
        self._judged = lru_cache(maxsize=AT_ONCE)(self._judged_variant)

    def add_states(self, states: Iterable[StateRecord]) -> None:
        """Take the records of variants, all of a variant at once and before any answer about it."""
        for state in states:
            self._states.setdefault(state.variant, []).append(state)

    def add_answer(self, answer: Answer) -> Verdict | None:
        """Judge an answer by itself; None where there will be none.

        An answer that comes once more takes the place of the first one.
        """
        cell = self._cells[answer.case]
        self._by_themselves.pop(answer.case, None)
        if cell.variant not in self._states:
            return None  # its records lie in the run's folder: it is judged at the end
        try:
            verdict = self._judged(cell.variant).judge(cell, answer)
        except Exception:  # noqa: BLE001 - it is met again at the end, once every answer is recorded
            return None
        self._by_themselves[answer.case] = verdict and self._share(verdict)
        return verdict

    def by_itself(self, case: str) -> Verdict | None:
        """Return what an answer that came says by itself; None where there is no verdict."""
        return self._by_themselves.get(case)

    def verdicts(self, run: Run) -> Iterator[Verdict]:
        """Yield the final verdicts, one variant after another: no more than one is in memory."""
        cells = grouped((cell.variant, cell) for cell in self._plan.cells)
        controls = control_check.controls_of(self._plan)
        with_controls = {cell.variant for cells in controls.values() for cell in cells}
        first = {
            variant.id: self._of_variant(run, variant, cells.get(variant.id, ()))
            for variant in self._plan.variants
            if variant.id in with_controls
        }
        of_controls = chain.from_iterable(first.values())
        failed = control_check.failures(of_controls, controls, run.answers)
        for variant in self._plan.variants:
            judged = first.get(variant.id)
            if judged is None:
                judged = self._of_variant(run, variant, cells.get(variant.id, ()))
            for verdict in judged:
                why = failed.get((verdict.reader, variant.format), "")
                yield control_check.invalidate(verdict, why)

    def _of_variant(self, run: Run, variant: Variant, cells: Sequence[Cell]) -> tuple[Verdict, ...]:
        """Return the verdicts on a variant, for which nothing of any other is looked at."""
        states = run.states_of(variant.id)

        def settled() -> tuple[Verdict, ...]:
            return self._settled(run, variant, states, cells)

        if self.results is None:
            return settled()
        asked = [cell.case for cell in cells if cell.case in run.answers]
        lines = {case: load_run.answer_line(run.answers, case) for case in asked}
        records = *map(jsonl.dump, states), *lines.values()
        texts = map(report_cache.unmarked, records)
        made_from = repr(variant), repr(cells), repr(run.info.locks), *texts
        reused = {case for case, line in lines.items() if line != report_cache.unmarked(line)}
        verdicts = self.results.records(
            # What is unknown is looked at again.
            Verdict, made_from, settled, lambda v: v.verdict is not VerdictKind.UNKNOWN
        )  # fmt: skip
        return tuple(replace(v, reused=bool(v.sql) and v.case in reused) for v in verdicts)

    def _settled(
        self, run: Run, variant: Variant, states: Sequence[StateRecord], cells: Sequence[Cell]
    ) -> tuple[Verdict, ...]:
        live = variant.id in self._states
        judged = self._judged(variant.id) if live else JudgedVariant(case_of(variant, states))
        verdicts = list(judge.of_steps(judged.case))
        for cell in cells:
            if cell.case in self._by_themselves:
                verdict = self._by_themselves[cell.case]
            else:
                verdict = judged.judge(cell, run.answers.get(cell.case))
            if verdict is not None:
                verdicts.append(verdict)
        if not any(map(may_change, verdicts)):
            return tuple(verdicts)
        return with_final_attribution(verdicts, run.answers)

    def _judged_variant(self, variant: str) -> JudgedVariant:
        return JudgedVariant(case_of(self._variants[variant], self._states.get(variant, [])))
