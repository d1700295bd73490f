"""What came of an audit: which answers count, and the exit status. Pure."""

from dataclasses import dataclass
from functools import cached_property

from harness.audit.known import NOTHING_KNOWN, KnownDifferences
from harness.audit.records import Audit, AuditedAnswer, AuditedTable, unread
from harness.core.records import VerdictKind
from harness.judge.gate import GOOD, NEW, UNKNOWN


@dataclass(frozen=True)  # no slots: what is derived is kept
class AuditResult:
    audit: Audit
    known: KnownDifferences = NOTHING_KNOWN

    @property
    def tables(self) -> tuple[AuditedTable, ...]:
        return self.audit.tables

    def bad(self, table: AuditedTable) -> tuple[AuditedAnswer, ...]:
        """Return the answers that are wrong, refused or not known, and accepted by nobody."""
        bad = (answer for answer in table.answers if not answer.verdict.is_good)
        return tuple(answer for answer in bad if self.known.by(table, answer) is None)

    @property
    def any_bad(self) -> bool:
        """Whether a reader is wrong or refuses, whatever is not known."""
        return bool(self._kinds - {VerdictKind.UNKNOWN})

    @cached_property
    def _kinds(self) -> set[VerdictKind]:
        return {answer.verdict for table in self.tables for answer in self.bad(table)}

    @cached_property
    def line_problems(self) -> tuple[str, ...]:
        return self.known.problems(self.tables)

    @property
    def status(self) -> int:
        if VerdictKind.UNKNOWN in self._kinds or unread(self.tables):
            return UNKNOWN
        return NEW if self._kinds or self.line_problems else GOOD
