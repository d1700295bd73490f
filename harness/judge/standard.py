"""What the answers about a variant are held against: all that was written, or what a product shows.

A product may be declared to cut what was written (`harness.core.tolerances`): its answers are held
against the history as it can show it.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.core import tolerances
from harness.core.records import Answer
from harness.judge import cut_history
from harness.judge.case import Case
from harness.judge.evidence import Evidence
from harness.judge.expectations import Expectations
from harness.judge.state_files import StateFiles
from harness.model.truth import History


@dataclass(frozen=True, slots=True)
class Standard:
    """What is expected of one product, and what the files tell beside it."""

    case: Case
    expectations: Expectations
    evidence: Evidence
    written: Standard | None = None
    """The same of all that was written, where the product cannot show all of it."""

    @property
    def cuts(self) -> bool:
        """Whether the product cannot show all that was written."""
        return self.written is not None


class Standards:
    """The standards of one variant, each made once."""

    def __init__(self, case: Case) -> None:
        """Work out the truth of all that was written."""
        self.case = case
        self.written = _standard(case, case.history)
        self._products: dict[str, Standard] = {}

    def of(self, reader: str, answer: Answer | None = None) -> Standard:
        """Return the standard of a reader's product.

        It is that of all that was written where the answer shows more than the product is declared
        to show.
        """
        less = self._of_product(reader)
        finer = less.written is not None and answer is not None and cut_history.finer(answer)
        return self.written if finer else less

    def _of_product(self, reader: str) -> Standard:
        name = tolerances.product(reader)
        if name not in self._products:
            written = self.written.expectations.history
            history = cut_history.cut_history(written, tolerances.of(reader))
            less = _standard(self.case, history, self.written) if history is not written else None
            self._products[name] = less or self.written
        return self._products[name]


def _standard(case: Case, history: History, written: Standard | None = None) -> Standard:
    files = StateFiles(case, history)
    expectations = Expectations(case, history, files)
    whole = written.evidence if written else None
    evidence = Evidence(case, expectations, files, whole)
    return Standard(case, expectations, evidence, written)
