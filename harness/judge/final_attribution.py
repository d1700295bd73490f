"""Whose doing a wrong answer is once all readers of a question were heard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from harness.core.records import (
    Answer,
    Finding,
    FindingKind,
    QuestionKey,
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

    That is seen over all readers of a question. Where everybody is against the model and no
    statement settles it, the verdict is `unknown`: an engine is not blamed for what may be our own
    mistake, and it is no pass. Else a wrong answer stays wrong, whoever did it.
    """
    answered: dict[QuestionKey, list[Verdict]] = {}
    by_reader: dict[tuple[str, int, str, str], list[Verdict]] = {}
    for verdict in verdicts:
        answer = answers.get(verdict.case)
        if verdict.verdict in _JUDGED and answer is not None and answer.has_table:
            answered.setdefault(verdict.question, []).append(verdict)
            by_reader.setdefault(_teller(verdict), []).append(verdict)
    return tuple(
        _settle(verdict, answered.get(verdict.question, ()), by_reader.get(_teller(verdict), ()))
        if may_change(verdict)
        else verdict
        for verdict in verdicts
    )


def _teller(verdict: Verdict) -> tuple[str, int, str, str]:
    """Return what all answers of one reader about one view of one state have in common."""
    return verdict.variant, verdict.step, verdict.view, verdict.reader


def may_change(verdict: Verdict) -> bool:
    """Return whether answers of others to the same question can still turn a verdict.

    Only that of an answer which shows something wrong that files hold as well, be it in columns
    asked alone after a refusal, or lacks what statistics exclude. `WRITER` may become `UNSURE`, and
    `STATISTICS` nobody's; `MODEL` becomes `UNSURE`, or stays, and then a wrong answer is
    `unknown`. All else its own answer tells: that it is right, unknown or a mere refusal, that the
    reader did it, or that files are not known. Nor does it turn anything that many agree: that is
    an alarm of reports.
    """
    return any(finding.responsible in _OPEN for finding in verdict.findings)


def _settle(verdict: Verdict, answered: Sequence[Verdict], others: Sequence[Verdict]) -> Verdict:
    """Name who did it where that is sure; findings alike then become one."""
    result: dict[tuple[FindingKind, Responsible | None], Finding] = {}
    for finding_ in verdict.findings:
        finding = replace(finding_, responsible=_after_all(finding_, verdict, answered, others))
        at = finding.kind, finding.responsible
        result[at] = _together(result[at], finding) if at in result else finding
    settled = replace(verdict, findings=tuple(result.values()))
    doubted = any(finding.responsible is Responsible.MODEL for finding in settled.findings)
    if verdict.verdict is not VerdictKind.WRONG or not doubted:
        return settled
    return replace(settled, verdict=VerdictKind.UNKNOWN, because=IN_DOUBT)


def _after_all(
    finding: Finding, verdict: Verdict, answered: Sequence[Verdict], others: Sequence[Verdict]
) -> Responsible | None:
    match finding.responsible:
        case Responsible.WRITER:
            # Files that hold something else cannot show it: one of the two readings is wrong.
            same_table = (
                verdict_ for verdict_ in answered if verdict_.expected == verdict.expected
            )
            contradicted = any(map(partial(_shows_the_written, finding), same_table))
            return Responsible.UNSURE if contradicted else Responsible.WRITER
        case Responsible.STATISTICS:
            return None if _read_otherwise(verdict, others) else Responsible.STATISTICS
        case Responsible.MODEL:
            return Responsible.MODEL if _alone(finding, answered) else Responsible.UNSURE
    return finding.responsible


def _read_otherwise(verdict: Verdict, others: Sequence[Verdict]) -> bool:
    """Return whether the reader may have read in a way that has to do with no wrong statistics.

    It may where such a way gives the answer, and all of its other answers of whole rows.
    """
    telling = [other for other in others if other.reproduces and not other.inconclusive]
    strategies = (strategy for strategy in verdict.reproduces if TRUSTED not in strategy)
    return any(all(_may_be_of(strategy, verdict) for verdict in telling) for strategy in strategies)


def _may_be_of(strategy: str, verdict: Verdict) -> bool:
    """Return whether a way of reading, or a part of it, gives another answer as well.

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
    """Return whether an answer shows what was written, at some place of another one's finding."""
    wrong = [
        (witness.key, witness.column) for result in verdict.findings for witness in result.places
    ]
    return not all(any(_touch(difference, at) for at in wrong) for difference in finding.places)


def _touch(difference: Witness, at: tuple[str, str]) -> bool:
    key, column = at
    if not difference.column:
        return at == (difference.key, "")
    return key in {"", difference.key} and (not column or _root(column) == _root(difference.column))


def _root(column: str) -> str:
    return column.partition(".")[0].partition("[")[0]


def _alone(finding: Finding, answered: Sequence[Verdict]) -> bool:
    """Return whether several engines show what the files hold, and none what the model expects."""
    differences = {(witness.key, witness.column) for witness in finding.places}
    agreeing = [
        verdict for verdict in answered if differences <= _wrong_in(verdict, {Responsible.MODEL})
    ]
    voices = {lock_name(parse_reader(verdict.reader).distribution) for verdict in agreeing}
    return len(voices) >= VOICES and all(
        differences <= _wrong_in(each, set(Responsible)) for each in answered
    )


def _wrong_in(verdict: Verdict, parties: set[Responsible]) -> set[tuple[str, str]]:
    result = (finding for finding in verdict.findings if finding.responsible in parties)
    return {
        (difference.key, difference.column) for finding in result for difference in finding.places
    }


def _together(one: Finding, other: Finding) -> Finding:
    columns = tuple(dict.fromkeys((*one.columns, *other.columns)))
    return replace(one, columns=columns, places=(*one.places, *other.places))
