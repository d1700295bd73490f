"""The kind of each answer's verdict, as the answer comes: what can be told while engines are asked.

What is wrong is named once all is answered (`judge`), from the same truth. Only there the answers
of others count: a wrong answer is then unknown where the model is in doubt
(`judge.final_attribution`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from harness.core.records import Answer, StateRecord, VerdictKind
from harness.judge.verdicts import JudgedVariant
from harness.run.recorded_case import case_of
from harness.scenario.cells import Plan

AT_ONCE: Final = 200
"""Of so many variants the truth is kept: engines are asked about few at the same time."""


class VerdictKinds:
    """Tells the kinds of verdicts in a run that goes on; for one thread at a time."""

    def __init__(self, plan: Plan) -> None:
        """No states are known yet."""
        self._cells = {cell.case: cell for cell in plan.cells}
        self._variants = {variant.id: variant for variant in plan.variants}
        self._states: dict[str, list[StateRecord]] = {}
        self._judged = lru_cache(maxsize=AT_ONCE)(self._judge)

    def written(self, states: Iterable[StateRecord]) -> None:
        """Take the records of variants, all of a variant at once and before any answer about it."""
        for state in states:
            self._states.setdefault(state.variant, []).append(state)

    def of(self, answer: Answer) -> VerdictKind | None:
        """Return the kind of the verdict on an answer; None where there will be no verdict."""
        cell = self._cells[answer.case]
        try:
            return self._judged(cell.variant).kind(cell, answer)
        except Exception:  # noqa: BLE001 - judge meets it again, once every answer is kept
            return None

    def _judge(self, variant: str) -> JudgedVariant:
        return JudgedVariant(case_of(self._variants[variant], self._states.get(variant, [])))
