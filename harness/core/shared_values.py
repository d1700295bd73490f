"""Equal values of records that are held once: most readers of a table are told the same."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TypeVar

from harness.core.records import Expected, Finding, Verdict

Shared = TypeVar("Shared")


class VerdictParts:
    """Verdicts with what they have in common held once; those of a variant come after each other.

    Of a million verdicts nothing else would fit into memory. Only what one variant has is shared:
    tables of several are seldom alike, and what is looked up stays small.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._variant = ""
        self._values: dict[str, object] = {}

    def __call__(self, verdict: Verdict) -> Verdict:
        """Return the same verdict."""
        if verdict.variant != self._variant:
            self._variant = verdict.variant
            self._values.clear()
        return replace(
            verdict,
            case=sys.intern(verdict.case),
            scenario=sys.intern(verdict.scenario),
            variant=sys.intern(verdict.variant),
            reader=sys.intern(verdict.reader),
            query=sys.intern(verdict.query),
            because=sys.intern(verdict.because),
            sql=self._one(verdict.sql),
            findings=self._all_of(verdict.findings),
            reproduces=self._one(verdict.reproduces),
            expected=self._table(verdict.expected),
            normalised=self._one(verdict.normalised),
        )

    def _one(self, value: Shared) -> Shared:
        # By its text: equal numbers of several types are values of their own.
        return self._values.setdefault(repr(value), value)  # type: ignore[return-value]

    def _all_of(self, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        return self._one(tuple(map(self._finding, findings)))

    def _finding(self, finding: Finding) -> Finding:
        places = tuple(map(self._one, finding.places))
        columns, witness = self._one(finding.columns), self._one(finding.witness)
        return self._one(replace(finding, columns=columns, witness=witness, places=places))

    def _table(self, table: Expected | None) -> Expected | None:
        if table is None:
            return None
        rows = tuple(map(self._one, table.rows))
        return self._one(replace(table, columns=self._one(table.columns), rows=rows))
