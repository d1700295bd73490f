"""What readers show of somebody's own tables: an audit, or two readers side by side. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from harness.audit.comparison import TableDifferenceKind
from harness.audit.records import AuditedAnswer, AuditedTable, ShownDifference
from harness.audit.result import AuditResult
from harness.comparison.cell_pairs import OF_OPEN, WORSE, VerdictChange
from harness.comparison.result import Decision
from harness.comparison.table_changes import AnswerPair, TableComparison
from harness.core.counting import counted
from harness.core.grouping import grouped
from harness.core.records import VerdictKind
from harness.judge.gate import GOOD, NEW
from harness.reports.document import (
    Block,
    Code,
    Heading,
    Item,
    Items,
    Line,
    ReportTable,
    section,
    table,
)
from harness.reports.upgrade_report import CHANGES, DECISION_TONES, TONES, became

SHOWN: Final = 3
"""So many differences of an answer are shown; the file has more."""
FEW: Final = 5
_NUMBER: Final = re.compile(r"\d+")
"""Reasons that differ in numbers alone, such as those of tasks, are one."""
_ORDER: Final = (VerdictKind.WRONG, VerdictKind.UNKNOWN, VerdictKind.REFUSED)
"""The worst first."""
LABELS: Final = {
    Decision.DO_NOT: "Do not upgrade",
    Decision.NOTHING_CHANGES: "Nothing changes",
    Decision.NOTHING_WORSE: "Nothing gets worse",
    Decision.NOT_KNOWN: "Not known",
}
KNOWN: Final = "Known differences"
UNREAD: Final = "Of these tables nothing is known"


def tone(result: AuditResult | TableComparison) -> VerdictKind:
    if isinstance(result, TableComparison):
        return DECISION_TONES[result.decision]
    tones = {GOOD: VerdictKind.CORRECT, NEW: VerdictKind.WRONG}
    return tones.get(result.status, VerdictKind.UNKNOWN)


def headline(result: AuditResult | TableComparison) -> Line:
    """Return the answer, and what it is about."""
    if isinstance(result, TableComparison):
        return _upgrade_headline(result)
    return _audit_headline(result)


def document(result: AuditResult | TableComparison) -> Iterator[Block]:
    yield headline(result)
    lines = [f"{table.name}: {table.problem}" for table in result.unread]
    yield from section(UNREAD, lines, VerdictKind.UNKNOWN, most=len(lines))
    yield from _changes(result) if isinstance(result, TableComparison) else _audited(result)
    yield from _known(result)


def asked(result: AuditResult | TableComparison) -> ReportTable:
    """Return what was looked at, table by table."""
    heads = "table", "format", "version", "rows", "files", "columns", "questions", "where"
    rows = (
        (
            *(one.name, one.format, one.version),
            *(f"{n:,}" for n in (one.rows, one.files, len(one.columns), len(one.questions))),
            one.location,
        )
        for one in result.tables
        if not one.problem
    )
    return table(heads, rows, numbers=heads[3:7])


def totals(result: AuditResult | TableComparison) -> tuple[tuple[str, str, int, str], ...]:
    """Return the colour, the word, the number and the meaning of what came of the answers."""
    if isinstance(result, TableComparison):
        counts = ((change, number) for change, number in result.counts.items() if number)
        return tuple(
            (str(TONES.get(change) or ""), str(change), number, CHANGES[change])
            for change, number in counts
        )
    kinds = Counter(a.verdict for one in result.tables for a in one.answers)
    return tuple((str(kind), str(kind), number, "") for kind, number in kinds.items())


def _about(tables: Sequence[AuditedTable], questions: int) -> str:
    number = counted(len(tables), "table")
    names = ", ".join(one.name for one in tables[:FEW]) + ", …" * (len(tables) > FEW)
    asked_ = counted(questions, "question")
    return f"in {asked_} about {number}{f' ({names})' if names else ''}"


def _audit_headline(result: AuditResult) -> Line:
    tables = [one for one in result.tables if not one.problem]
    kinds = Counter(answer.verdict for one in tables for answer in result.bad(one))
    unread = len(result.tables) - len(tables)
    where = _about(tables, sum(len(one.questions) for one in tables))
    about = f"of {', '.join(result.audit.readers)} {where}"
    texts = [f"{kinds[kind]:,} {_WORDS[kind]}" for kind in _ORDER if kinds[kind]]
    texts += [f"of {counted(unread, 'table')} nothing is known"] if unread else []
    if result.accepted:
        texts.append(f"{counted(len(result.accepted), 'difference is', 'differences are')} known")
    answers = counted(sum(len(one.answers) for one in tables), "answer")
    strong = {GOOD: "All is right", NEW: "Not all is right"}.get(result.status, "Not all is known")
    return Line(f": of {answers} {about}: {'; '.join(texts) or 'none is wrong'}.", strong)


_WORDS: Final = {
    VerdictKind.WRONG: "wrong without an error",
    VerdictKind.UNKNOWN: "not known",
    VerdictKind.REFUSED: "refused",
}


def _audited(result: AuditResult) -> Iterator[Block]:
    tables = [one for one in result.tables if not one.problem]
    bad = {id(one): result.bad(one) for one in tables}
    ranks = {id(one): min(map(_rank, bad[id(one)]), default=len(_ORDER)) for one in tables}
    tables.sort(key=lambda one: ranks[id(one)])
    if tables:
        yield Heading("Table by table")
        yield Items(tuple(_item(one, bad[id(one)]) for one in tables))


def _rank(answer: AuditedAnswer) -> int:
    return _ORDER.index(answer.verdict)


def _item(one: AuditedTable, bad: Sequence[AuditedAnswer]) -> Item:
    size = f"{counted(one.rows, 'row')} in {counted(one.files, 'file')}"
    kinds = Counter(str(answer.verdict) for answer in bad)
    of_kinds = ", ".join(f"{number:,} {kind}" for kind, number in kinds.items())
    total = counted(len(one.answers), "answer")
    came = f"of {total} {of_kinds}" if bad else f"{total}, none of them wrong"
    worst = min(bad, key=_rank).verdict if bad else VerdictKind.CORRECT
    blocks: list[Line | Code] = [Line(text, "left open:") for text in one.undecided]
    if one.moved_from:
        text = "its metadata name it there; readers are given a copy of them with other paths"
        blocks.append(Line(text, f"moved from {one.moved_from[0]}:"))
    causes = grouped(
        ((a.reader, a.verdict, _NUMBER.sub("0", a.because), a.read_as), a) for a in bad
    )
    for answers in causes.values():
        blocks += _evidence(answers[0], [answer.query for answer in answers])
    return Item(Line(f"({one.format}, {size}): {came}", one.name, worst), tuple(blocks))


def _evidence(answer: AuditedAnswer, questions: Sequence[str]) -> Iterator[Line | Code]:
    because = f": {answer.because}" if answer.because else ""
    yield Line(f": {answer.verdict}{because}", answer.reader, answer.verdict)
    yield _asked(questions)
    yield from _differences(answer)
    if answer.sql:
        yield Code(answer.sql)


def _asked(questions: Sequence[str]) -> Line:
    more = f" and {len(questions) - FEW:,} more" if len(questions) > FEW else ""
    return Line(f"{'; '.join(questions[:FEW])}{more}", "asked:")


def _differences(answer: AuditedAnswer) -> Iterator[Line]:
    if len(answer.read_as) == 1:
        yield Line(f"as it is shown by a reader with {answer.read_as[0]}")
    yield from (Line(_difference(shown)) for shown in answer.differences[:SHOWN])
    if answer.total > SHOWN:
        yield Line(f"… and {answer.total - SHOWN:,} more")


def _difference(shown: ShownDifference) -> str:
    where = f" (row {shown.position} of {shown.file})" if shown.file else ""
    match shown.kind:
        case TableDifferenceKind.VALUE:
            wrong = f"{shown.column} is {shown.actual} instead of {shown.expected}"
            return f"{wrong} in {shown.row}{where}"
        case TableDifferenceKind.LOST_ROW:
            return f"this row is not shown: {shown.row}{where}"
        case TableDifferenceKind.EXTRA_ROW:
            return f"this row should not be there: {shown.row}"
        case TableDifferenceKind.ABSENT_COLUMN:
            return f"the column {shown.column} is not shown"
    return f"the column {shown.column} should not be there"


def _upgrade_headline(result: TableComparison) -> Line:
    tables = list({id(pair.table): pair.table for pair in result.pairs}.values())
    counts, worse = result.counts, len(result.worse)
    loud = sum(pair.change is VerdictChange.REGRESSED_LOUDLY for pair in result.worse)
    unread, fixed = len(result.unread), counts[VerdictChange.FIXED]
    facts = [
        (worse - loud, "answer gets worse without an error", "answers get worse without an error"),
        (loud, "answer gets an error", "answers get an error"),
        (fixed, "answer becomes right", "answers become right"),
        (counts[VerdictChange.WRONG_AS_BEFORE], "is wrong as before", "are wrong as before"),
        (counts[VerdictChange.REFUSED_AS_BEFORE], "is refused by both", "are refused by both"),
        (len(result.accepted), "gets worse and is known", "get worse and are known"),
        (counts[VerdictChange.UNKNOWN], "is not known of one side", "are not known of one side"),
    ]
    texts = [counted(number, *words) for number, *words in facts if number]
    texts += [f"of {counted(unread, 'table')} nothing is known"] if unread else []
    came = f": {', '.join(texts)}," if texts else ""
    where = _about(tables, len(result.pairs))
    sides = f" from {result.old} to {result.new}"
    return Line(f"{sides}{came} {where}.", LABELS[result.decision])


def _changes(result: TableComparison) -> Iterator[Block]:
    """Yield what changes on each table, the worst first."""
    tables = grouped((id(pair.table), pair) for pair in result.pairs)
    changed = [[p for p in pairs if p.change not in _SAME] for pairs in tables.values()]
    listed = sorted(filter(None, changed), key=lambda pairs: min(map(_severity, pairs)))
    if listed:
        yield Heading("What changes on your tables")
        yield Items(tuple(_changed_item(pairs) for pairs in listed))
    rest = [pairs for pairs in tables.values() if all(p.change in _SAME for p in pairs)]
    rows = (
        (
            pairs[0].table.name,
            ", ".join(f"{n:,} {c}" for c, n in Counter(p.change for p in pairs).items()),
        )
        for pairs in rest
    )
    if rest:
        yield Heading("Tables on which nothing changes")
        yield table(("table", "answers"), rows)


_SAME: Final = (
    VerdictChange.RIGHT_AS_BEFORE,
    VerdictChange.WRONG_AS_BEFORE,
    VerdictChange.REFUSED_AS_BEFORE,
    VerdictChange.OPEN_AS_BEFORE,
)


def _severity(pair: AnswerPair) -> int:
    order = (*WORSE, VerdictChange.UNKNOWN, *OF_OPEN)
    return order.index(pair.change) if pair.change in order and not pair.known else len(order)


def _changed_item(pairs: Sequence[AnswerPair]) -> Item:
    pairs = sorted(pairs, key=_severity)
    counts = Counter(pair.change for pair in pairs)
    words = ", ".join(f"{number:,} {change}" for change, number in counts.items())
    blocks: list[Line | Code] = []
    causes = grouped(((p.change, _side(p.old), _side(p.new), p.new.read_as), p) for p in pairs)
    for (change, old, new, _), same in causes.items():
        first = same[0]
        blocks.append(Line(f": {became(old, new)}", str(change), TONES.get(change)))
        blocks.append(_asked([pair.question for pair in same]))
        if first.known:
            blocks.append(Line(f"{first.known.because} ({first.known.location})", "known:"))
        blocks += _differences(first.new if first.new.differences else first.old)
        blocks += [Code(first.new.sql)] if first.new.sql and change in WORSE else []
    return Item(Line(f": {words}", pairs[0].table.name, TONES.get(pairs[0].change)), tuple(blocks))


def _side(answer: AuditedAnswer) -> str:
    right = "right" if answer.verdict is VerdictKind.CORRECT else str(answer.verdict)
    because = _NUMBER.sub("0", answer.because)
    return f"{right} ({because})" if because else right


def _known(result: AuditResult | TableComparison) -> Iterator[Block]:
    problems = [Item(Line(text, tone=VerdictKind.UNKNOWN)) for text in result.line_problems]
    if isinstance(result, TableComparison):
        lines = Counter(pair.known for pair in result.accepted)
    else:
        lines = Counter(line for *_, line in result.accepted)
    texts: Iterable[str | Item] = (
        f"{line}; {counted(number, 'answer')}; {line.owner}, {line.date}: "
        f"{line.because.rstrip('.')} ({line.location})"
        for line, number in lines.items()
        if line
    )
    every = [*texts, *problems]
    yield from section(KNOWN, every, most=len(every))
