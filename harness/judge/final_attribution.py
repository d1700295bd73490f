"""Whose doing a wrong answer is once all readers of a question were heard."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from harness.core.grouping import grouped
from harness.core.records import (
    Answer,
    Finding,
    FindingKind,
    Responsible,
    Verdict,
    VerdictKind,
    Witness,
)
from harness.core.runtime_names import lock_name
from harness.model.simulation.strategies import LEFT_OUT, TRUSTED
from harness.scenario.cells import parse_reader

VOICES: Final = 2
"""So many distributions must agree before the truth is doubted, as for an alarm of a report."""
IN_DOUBT: Final = (
    "the reference model is in doubt: engines and files agree against it, and none sides with it"
)
_JUDGED: Final = frozenset({VerdictKind.CORRECT, VerdictKind.WRONG})
_OPEN: Final = frozenset({Responsible.WRITER, Responsible.MODEL, Responsible.STATISTICS})
"""Those of whom other answers may tell more."""


def with_final_attribution(
    verdicts: Sequence[Verdict], answers: Mapping[str, Answer]
) -> tuple[Verdict, ...]:
    """Return the verdicts of a variant, each finding with whose doing it is after all were heard.

    Where everybody is against the model and no statement settles it, the verdict is `unknown`: an
    engine is not blamed for what may be our own mistake, and it is no pass.
    """
    tables = [
        verdict
        for verdict in verdicts
        if verdict.verdict in _JUDGED
        and (answer := answers.get(verdict.case)) is not None
        and answer.has_table
    ]
    by_question = grouped([(verdict.question, verdict) for verdict in tables])
    by_reader = grouped([(_reader_and_view(verdict), verdict) for verdict in tables])
    return tuple(
        _settle(
            verdict,
            by_question.get(verdict.question, ()),
            by_reader.get(_reader_and_view(verdict), ()),
        )
        if may_change(verdict)
        else verdict
        for verdict in verdicts
    )


def _reader_and_view(verdict: Verdict) -> tuple[str, int, str, str]:
    return verdict.variant, verdict.step, verdict.view, verdict.reader


def may_change(verdict: Verdict) -> bool:
    """Return whether answers of others to the same question can still turn a verdict.

    `WRITER` may become `UNSURE`, and `STATISTICS` nobody's; `MODEL` becomes `UNSURE`, or stays, and
    then a wrong answer is `unknown`. All else its own answer tells, however many agree.
    """
    return any(finding.responsible in _OPEN for finding in verdict.findings)


def _settle(verdict: Verdict, answered: Sequence[Verdict], of_reader: Sequence[Verdict]) -> Verdict:
    """Name who did it where that is sure; findings of one kind and responsible become one."""
    same = grouped(
        [
            ((finding.kind, _after_all(finding, verdict, answered, of_reader)), finding)
            for finding in verdict.findings
        ]
    )
    settled = replace(
        verdict, findings=tuple(_together(findings, who) for (_, who), findings in same.items())
    )
    doubted = any(who is Responsible.MODEL for _, who in same)
    if verdict.verdict is not VerdictKind.WRONG or not doubted:
        return settled
    return replace(settled, verdict=VerdictKind.UNKNOWN, because=IN_DOUBT)


def _together(findings: Sequence[Finding], responsible: Responsible | None) -> Finding:
    columns = dict.fromkeys(column for finding in findings for column in finding.columns)
    witnesses = tuple(witness for finding in findings for witness in finding.witnesses)
    return replace(
        findings[0], responsible=responsible, columns=tuple(columns), witnesses=witnesses
    )


def _after_all(
    finding: Finding, verdict: Verdict, answered: Sequence[Verdict], of_reader: Sequence[Verdict]
) -> Responsible | None:
    match finding.responsible:
        case Responsible.WRITER:
            # Files that hold something else cannot show it: one of the two readings is wrong.
            same_table = (v for v in answered if v.expected == verdict.expected)
            if finding.kind is FindingKind.LOST_ROW:
                same_table = (v for v in same_table if not _reads_others(v))
            contradicted = any(_shows_the_written(finding, other) for other in same_table)
            return Responsible.UNSURE if contradicted else Responsible.WRITER
        case Responsible.STATISTICS if _read_otherwise(verdict, of_reader):
            return None
        case Responsible.MODEL if not _alone(finding, answered):
            return Responsible.UNSURE
    return finding.responsible


def _reads_others(verdict: Verdict) -> bool:
    """Return whether a reader has rows of files that are no part of the table, by its own doing.

    Such files may hold what the table has lost: that it is shown says nothing of the table's files.
    """
    return any(
        finding.kind is FindingKind.GHOST_ROW and finding.responsible is Responsible.READER
        for finding in verdict.findings
    )


def _read_otherwise(verdict: Verdict, of_reader: Sequence[Verdict]) -> bool:
    """Return whether a strategy that has to do with no wrong statistics may be the reader's.

    It may where it gives the answer, and all of the reader's other answers of whole rows.
    """
    telling = [other for other in of_reader if other.reproduces and not other.inconclusive]
    strategies = (strategy for strategy in verdict.reproduces if TRUSTED not in strategy)
    return any(all(_may_be_of(strategy, other) for other in telling) for strategy in strategies)


def _may_be_of(strategy: str, verdict: Verdict) -> bool:
    """Return whether a read strategy, or a part of it, gives another answer as well.

    How a reader finds statistics, by which it leaves out files, it is taken to find columns too.
    """
    parts = strategy.split(", ")
    columns = ", ".join(part for part in parts if not part.startswith(LEFT_OUT))
    finders = [part.removeprefix(f"{LEFT_OUT} ") for part in parts if part.startswith(LEFT_OUT)]
    return all(
        any(f"{part}, ".startswith(f"{reproduce}, ") for reproduce in verdict.reproduces)
        for part in (columns, *finders)
    )


def _shows_the_written(finding: Finding, verdict: Verdict) -> bool:
    """Return whether an answer shows what was written, at some witness of another one's finding."""
    wrong = _wrong_in(verdict)
    return not all(any(_touch(witness, at) for at in wrong) for witness in finding.witnesses)


def _touch(difference: Witness, at: tuple[str, str]) -> bool:
    key, column = at
    if not difference.column:
        return at == (difference.key, "")
    return key in {"", difference.key} and (not column or _root(column) == _root(difference.column))


def _root(column: str) -> str:
    return column.partition(".")[0].partition("[")[0]


def _alone(finding: Finding, answered: Sequence[Verdict]) -> bool:
    """Return whether several engines show what the files hold, and none what the model expects."""
    cells = {(witness.key, witness.column) for witness in finding.witnesses}
    voices = {
        lock_name(parse_reader(verdict.reader).distribution)
        for verdict in answered
        if cells <= _wrong_in(verdict, {Responsible.MODEL})
    }
    blamed = set(Responsible)
    return len(voices) >= VOICES and all(cells <= _wrong_in(v, blamed) for v in answered)


def _wrong_in(
    verdict: Verdict, responsible: AbstractSet[Responsible] | None = None
) -> set[tuple[str, str]]:
    """Return the keys and columns at which an answer is wrong, by some who are responsible."""
    return {
        (witness.key, witness.column)
        for finding in verdict.findings
        if responsible is None or finding.responsible in responsible
        for witness in finding.witnesses
    }
