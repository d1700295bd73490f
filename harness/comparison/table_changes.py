"""What two readers show of the same tables, question by question, beside what their files give."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from harness.audit.known import NOTHING_KNOWN, KnownDifference, KnownDifferences
from harness.audit.records import AuditedAnswer, AuditedTable, query_text, unread
from harness.comparison.cell_pairs import BETTER, OF_OPEN, WORSE, VerdictChange, class_of
from harness.comparison.result import SAFE, Decision
from harness.core.records import VerdictKind
from harness.judge.gate import GOOD, NEW, UNKNOWN
from harness.model.query import Query

_ASKED_NO_MORE = frozenset({VerdictKind.REFUSED, VerdictKind.UNSUPPORTED, VerdictKind.UNKNOWN})


@dataclass(frozen=True, slots=True)
class AnswerPair:
    table: AuditedTable
    question: str
    old: AuditedAnswer
    new: AuditedAnswer
    change: VerdictChange
    known: KnownDifference | None = None
    """The line that accepts the new answer."""


@dataclass(frozen=True)  # no slots: what is derived is kept
class TableComparison:
    """Two readers of some tables, each judged by the tables' files."""

    old: str
    new: str
    tables: tuple[AuditedTable, ...]
    banked: Mapping[tuple[str, str], tuple[AuditedAnswer, ...]] = field(default_factory=dict)
    """By the keys of tables the answers of the old reader that were given before."""
    known: KnownDifferences = NOTHING_KNOWN
    partial_allowed: bool = False

    @cached_property
    def pairs(self) -> tuple[AnswerPair, ...]:
        return tuple(pair for table in self.tables for pair in self._of_table(table))

    def _of_table(self, table: AuditedTable) -> Iterator[AnswerPair]:
        sides = [
            [answer for answer in answers if answer.reader == reader]
            for reader, answers in (
                (self.old, self.banked.get(table.key, table.answers)),
                (self.new, table.answers),
            )
        ]
        if not table.problem:
            for query in table.questions:
                old, new = (_about(query, answers) for answers in sides)
                change = _change(old, new)
                known = self.known.by(table, new) if change in WORSE else None
                yield AnswerPair(table, query_text(query), old, new, change, known)

    def bad(self, table: AuditedTable) -> tuple[AuditedAnswer, ...]:
        """Return the answers about a table that are worse, and accepted by nobody."""
        return tuple(pair.new for pair in self.worse if pair.table is table)

    @cached_property
    def worse(self) -> tuple[AnswerPair, ...]:
        return tuple(p for p in self.pairs if p.change in WORSE and p.known is None)

    @cached_property
    def accepted(self) -> tuple[AnswerPair, ...]:
        return tuple(pair for pair in self.pairs if pair.known)

    @cached_property
    def counts(self) -> Mapping[VerdictChange, int]:
        counts = Counter(pair.change for pair in self.pairs)
        return {change: counts[change] for change in VerdictChange}

    @cached_property
    def line_problems(self) -> tuple[str, ...]:
        return self.known.problems(self.tables)

    @property
    def _all_known(self) -> bool:
        answered = len(self.pairs) > self.counts[VerdictChange.REFUSED_AS_BEFORE]
        return answered and not self.counts[VerdictChange.UNKNOWN] and not unread(self.tables)

    @property
    def in_part(self) -> bool:
        """Whether both sides refused the larger part, though the answer would be good."""
        refused = self.counts[VerdictChange.REFUSED_AS_BEFORE]
        return 2 * refused > len(self.pairs) and self.decision in SAFE

    @property
    def decision(self) -> Decision:
        if self.worse:
            return Decision.DO_NOT
        if not self._all_known:
            return Decision.NOT_KNOWN
        changed = self.accepted or any(self.counts[change] for change in (*BETTER, *OF_OPEN))
        return Decision.NOTHING_WORSE if changed else Decision.NOTHING_CHANGES

    @property
    def status(self) -> int:
        """The exit status, as `SideComparison.status`."""
        status = (NEW if self.worse else GOOD) if self._all_known else UNKNOWN
        status = UNKNOWN if status == GOOD and self.in_part and not self.partial_allowed else status
        return max(status, NEW) if self.line_problems else status


def _about(query: Query, answers: Sequence[AuditedAnswer]) -> AuditedAnswer:
    """Return the answer to a question; that of who is asked no more is the last one."""
    asked = [answer for answer in answers if answer.query == query]
    asked += [answer for answer in answers[-1:] if answer.verdict in _ASKED_NO_MORE]
    nothing = AuditedAnswer("", query, "", VerdictKind.UNKNOWN, "it was not asked")
    return (asked or [nothing])[0]


def _change(old: AuditedAnswer, new: AuditedAnswer) -> VerdictChange:
    if VerdictKind.UNKNOWN in (old.verdict, new.verdict) and old.digest == new.digest != "":
        return VerdictChange.OPEN_AS_BEFORE  # both show the same, and no rule says who is right
    # The new answer is wrong where the old one is not, unless all its places are known to be old.
    whole = all(a.total == len(a.differences) and not a.in_part for a in (old, new))
    same = new.digest == old.digest != ""
    older = same or (whole and {*new.differences} <= {*old.differences})
    wrong = new.verdict is VerdictKind.WRONG
    return class_of(old.verdict, new.verdict, elsewhere=wrong and not older)
