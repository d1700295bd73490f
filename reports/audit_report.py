"""What readers show of somebody's own tables: an audit, or two readers side by side. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from harness.audit.comparison import TableDifferenceKind
from harness.audit.known import KnownDifference
from harness.audit.records import AuditedAnswer, AuditedTable, ShownDifference, unread
from harness.audit.result import AuditResult
from harness.comparison.cell_pairs import WORSE, VerdictChange
from harness.comparison.table_changes import TableComparison
from harness.core.grouping import grouped
from harness.core.records import VerdictKind
from harness.core.texts import counted, first_of
from harness.judge.gate import GOOD
from harness.reports.document import Block, Code, Item, Line, ReportTable, Tone, section, table
from harness.reports.upgrade_report import CHANGES, DECISION_TONES, TONES, became

Result = AuditResult | TableComparison
SHOWN: Final = 3
"""So many differences of an answer are shown; the file has more."""
FEW: Final = 5
KNOWN: Final = "known"
_NUMBER: Final = re.compile(r"\d+")
"""Reasons that differ in numbers alone, such as those of tasks, are one."""
_RIGHT: Final = {str(VerdictKind.CORRECT), str(VerdictChange.RIGHT_AS_BEFORE)}
_WORST_FIRST: Final = (
    *(VerdictKind.WRONG, VerdictKind.UNKNOWN, VerdictKind.REFUSED, VerdictKind.UNSUPPORTED),
    *(*WORSE, VerdictChange.UNKNOWN, VerdictChange.FIXED, VerdictChange.REFUSED_NOW),
    *(VerdictChange.WRONG_AS_BEFORE, VerdictChange.REFUSED_AS_BEFORE),
    *(VerdictChange.OPEN_AS_BEFORE, KNOWN, VerdictKind.CORRECT, VerdictChange.RIGHT_AS_BEFORE),
)


@dataclass(frozen=True, slots=True)
class TableOutcome:
    """What came of a question about a table."""

    table: AuditedTable
    question: str
    word: str
    tone: Tone
    title: Line
    evidence: AuditedAnswer
    known: KnownDifference | None


def _outcomes(result: Result) -> Iterator[TableOutcome]:
    if isinstance(result, TableComparison):
        for pair in result.pairs:
            word, tone = KNOWN if pair.known else str(pair.change), TONES.get(pair.change)
            title = Line(f": {became(_side(pair.old), _side(pair.new))}", str(pair.change), tone)
            evidence = pair.new if pair.new.differences else pair.old
            yield TableOutcome(pair.table, pair.question, word, tone, title, evidence, pair.known)
        return
    for one in result.tables:
        for answer in one.answers:
            known, tone = result.known.by(one, answer), answer.verdict
            because = f": {answer.because}" if answer.because else ""
            title = Line(f": {tone}{because}", answer.reader, tone)
            word = KNOWN if known else str(tone)
            yield TableOutcome(one, answer.question, word, tone, title, answer, known)


def _side(answer: AuditedAnswer) -> str:
    right = "right" if answer.verdict is VerdictKind.CORRECT else str(answer.verdict)
    return f"{right} ({answer.because})" if answer.because else right


@dataclass(frozen=True)  # no slots: what is derived is kept
class AuditReport:
    """What a page, a text and a terminal say of a result."""

    result: Result

    @cached_property
    def outcomes(self) -> Sequence[TableOutcome]:
        """Of all questions, the worst first."""
        ranks = {word: at for at, word in enumerate(_WORST_FIRST)}
        return sorted(_outcomes(self.result), key=lambda one: ranks.get(one.word, len(ranks)))

    @cached_property
    def totals(self) -> tuple[tuple[Tone, str, int, str], ...]:
        """Of each thing that came of questions its tone, the word, the number, the meaning."""
        words = grouped((one.word, one) for one in self.outcomes)
        meanings = {str(change): meaning for change, meaning in CHANGES.items()}
        if isinstance(self.result, AuditResult):
            meanings = {VerdictKind.UNKNOWN.value: "not known"}
        return tuple((of[0].tone, w, len(of), meanings.get(w, w)) for w, of in words.items())

    @property
    def tone(self) -> VerdictKind:
        result = self.result
        if isinstance(result, TableComparison):
            return VerdictKind.UNKNOWN if result.in_part else DECISION_TONES[result.decision]
        if result.status == GOOD:
            return VerdictKind.CORRECT
        return VerdictKind.WRONG if result.any_bad else VerdictKind.UNKNOWN

    @cached_property
    def headline(self) -> Line:
        """The answer, what it is about, and what came of it."""
        result = self.result
        tables = [one for one in result.tables if not one.problem]
        names = ", ".join(one.name for one in tables[:FEW]) + ", …" * (len(tables) > FEW)
        questions = counted(sum(len(one.questions) for one in tables), "question")
        where = (
            f"in {questions} about {counted(len(tables), 'table')}{f' ({names})' if names else ''}"
        )
        came = [f"{n:,} {meaning.partition(';')[0]}" for *_, n, meaning in self.totals]
        number = len(unread(result.tables))
        came += [f"of {counted(number, 'table')} nothing is known"] if number else []
        came += ["a line of what is known wants a look"] if result.line_problems else []
        if isinstance(result, TableComparison):
            who = f" from {result.old} to {result.new}, "
            label = (
                f"In part: {result.decision}" if result.in_part else result.decision.capitalize()
            )
        else:
            who = f": {', '.join(result.audit.readers)} "
            label = "Not all is right" if result.any_bad else "Not all is known"
            if result.status == GOOD:
                words = {word for _, word, *_ in self.totals}
                label = "All is right" if words <= _RIGHT else "Nothing is new"
        return Line(f"{who}{where}: {'; '.join(came)}.", label)

    def document(self) -> Iterator[Block]:
        result, every = self.result, self.outcomes
        yield self.headline
        lines = [f"{one.name}: {one.problem}" for one in unread(result.tables)]
        title = "Of these tables nothing is known"
        yield from section(title, lines, VerdictKind.UNKNOWN, most=len(lines))
        by_table = grouped((one.table.key, one) for one in every)
        yield from section("Table by table", map(_item, by_table.values()), most=len(every))
        known = (
            f"{line}; {counted(number, 'answer')}; {line.owner}, {line.date}: "
            f"{line.because.rstrip('.')} ({line.location})"
            for line, number in Counter(one.known for one in every).items()
            if line
        )
        review = [Item(Line(text, tone=VerdictKind.UNKNOWN)) for text in result.line_problems]
        yield from section("Known differences", (*known, *review), most=len(every) + len(review))

    def asked(self) -> ReportTable:
        """Return what was looked at, table by table."""
        heads = "table", "format", "version", "rows", "files", "columns", "questions", "where"
        rows = (
            (
                *(one.name, one.format, one.version),
                *(f"{n:,}" for n in (one.rows, one.files, len(one.columns), len(one.questions))),
                one.location,
            )
            for one in self.result.tables
            if not one.problem
        )
        return table(heads, rows, numbers=heads[3:7])


def _item(of_table: Sequence[TableOutcome]) -> Item:
    """Return what came of one table in a line, and the evidence for what is not right."""
    one = of_table[0].table
    size = f"{counted(one.rows, 'row')} in {counted(one.files, 'file')}"
    words = Counter(outcome.word for outcome in of_table)
    came = ", ".join(f"{number:,} {word}" for word, number in words.items())
    blocks: list[Line | Code] = [Line(text, "left open:") for text in one.undecided]
    blocks += [Line(text, "note:") for text in one.notes]
    if one.moved_from:
        text = "its metadata name it there; readers are given a copy of them with other paths"
        blocks.append(Line(text, f"moved from {one.moved_from[0]}:"))
    causes = grouped(
        ((_NUMBER.sub("0", e.title.whole), e.evidence.read_as, e.known), e)
        for e in of_table
        if e.word not in _RIGHT
    )
    for same in causes.values():
        blocks += _evidence(same[0], [outcome.question for outcome in same])
    line = Line(f"({one.format}, {size}): {came}", one.name, of_table[0].tone)
    return Item(line, tuple(blocks))


def _evidence(outcome: TableOutcome, questions: Sequence[str]) -> Iterator[Line | Code]:
    answer = outcome.evidence
    yield outcome.title
    yield Line(first_of(questions, FEW, "; "), "asked:")
    if len(answer.read_as) == 1:
        yield Line(f"as it is shown by a reader with {answer.read_as[0]}")
    yield from (Line(_difference(shown)) for shown in answer.differences[:SHOWN])
    if answer.total > SHOWN:
        yield Line(f"… and {answer.total - SHOWN:,} more")
    if answer.sql and answer.differences:
        yield Code(answer.sql)


def _difference(shown: ShownDifference) -> str:
    where = f" (row {shown.position} of {shown.file})" if shown.file else ""
    match shown.kind:
        case TableDifferenceKind.VALUE:
            row = f" in {shown.row}" if shown.row else ""
            return f"{shown.column} is {shown.actual} instead of {shown.expected}{row}{where}"
        case TableDifferenceKind.LOST_ROW:
            return f"this row is not shown: {shown.row}{where}"
        case TableDifferenceKind.EXTRA_ROW:
            return f"this row should not be there: {shown.row}"
        case TableDifferenceKind.ABSENT_COLUMN:
            return f"the column {shown.column} is not shown"
    return f"the column {shown.column} should not be there"
