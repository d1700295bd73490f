"""The exit status of a gating command, and why. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from harness.core.grouping import grouped
from harness.core.records import FindingKind, Reason, Responsible, Verdict, VerdictKind
from harness.judge.baseline import Applied

GOOD: Final = 0
NEW: Final = 1
UNKNOWN: Final = 3
LATE: Final = "answered only when asked again"
OTHERWISE: Final = "answered otherwise by a fresh server"
SHOWN: Final = 5
"""So many of a kind are listed; the reports and the baselines have them all."""


@dataclass(frozen=True, slots=True)
class Gate:
    """What a gating command ends with."""

    status: int
    reasons: tuple[str, ...]
    """Sentences for people."""
    flaky: int = 0
    """So many cells were answered otherwise when they were asked again, or only then."""


def gate(applied: Applied, late: Collection[str] = (), *, fail_on_flaky: bool = False) -> Gate:
    """Return 3 if anything is unknown, else 1 if anything is new or gone, else 0.

    A run without any verdict tells nothing, and is 3. Wrong use (2) never comes this far.

    Args:
        applied: the verdicts, with what is known of them.
        late: the cases that were answered only when asked again.
        fail_on_flaky: whether flaky cells alone are 1, known ones too.

    """
    unknown = tuple(_unknown(applied.verdicts))
    new, flaky = tuple(_new(applied)), _flaky(applied.verdicts, set(late))
    failing = new or (fail_on_flaky and flaky)
    status = UNKNOWN if unknown else NEW if failing else GOOD
    reasons = (*unknown, *new, *_unsteady(flaky), *_expired(applied), *_good(applied, status))
    return Gate(status, reasons, sum(map(len, flaky.values())))


def _unknown(verdicts: Sequence[Verdict]) -> Iterator[str]:
    if not verdicts:
        yield "No check was judged: nothing is known; plan checks and run them."
    unknown = [verdict for verdict in verdicts if verdict.verdict is VerdictKind.UNKNOWN]
    doubted = [verdict for verdict in unknown if _doubted(verdict)]
    if doubted:
        cells = _count(doubted, "check puts", "checks put")
        yield f"{cells} our own reference model in doubt: {_where(doubted)}."
        yield f"Look into it before anybody is blamed: harness explain '{doubted[0].case}'"
    result = [verdict for verdict in unknown if not _doubted(verdict)]
    if result:
        reasons = Counter(each.because or "no reason recorded" for each in result)
        listed = _listed(f"{why} ({count})" for why, count in reasons.most_common())
        yield f"{_count(result, 'check is', 'checks are')} unknown: {listed}."
        yield "Nothing is concluded of them; ask again with: harness read"
    if broken := [each for each in result if each.reason is Reason.JUDGE_FAILED]:
        cells = _count(broken, "of them is", "of them are")
        yield f"{cells} a failure of the harness itself: harness.log in the run's folder tells why."


def _doubted(verdict: Verdict) -> bool:
    return any(finding.responsible is Responsible.MODEL for finding in verdict.findings)


def _new(applied: Applied) -> Iterator[str]:
    unknown_to_us = [verdict for verdict in applied.verdicts if not verdict.known]
    wrong = [verdict for verdict in unknown_to_us if verdict.verdict is VerdictKind.WRONG]
    errors = [verdict for verdict in unknown_to_us if verdict.verdict is VerdictKind.REFUSED]
    half_done = [error for error in errors if error.reason is Reason.HALF_DONE]
    refused = [error for error in errors if error.reason is not Reason.HALF_DONE]
    if wrong:
        yield f"{_count(wrong, 'wrong answer is', 'wrong answers are')} new: {_where(wrong)}."
    if refused:
        yield f"{_count(refused, 'refusal is', 'refusals are')} new: {_where(refused)}."
    if half_done:
        steps = _count(half_done, "half-done step is", "half-done steps are")
        yield f"{steps} new (committed, then the writer failed): {_where(half_done)}."
    if unexplained := [each for each in (*wrong, *refused) if _unexplained(each)]:
        cells = _count(unexplained, "of them is", "of them are")
        yield f"{cells} unexplained, which no baseline can hold: {_where(unexplained)}."
    if applied.answered:
        cells = _count(applied.answered, "check is", "checks are")
        yield f"{cells} declared unsupported, and answered: {_where(applied.answered)}."
        declared = dict.fromkeys(each.disclaimed for each in applied.answered)
        yield f"Put right what the lock data say: {_listed(declared)}"
    for line in applied.gone:
        yield f"{line.place}: no longer occurs ({line.expect}); take the line out"
    if wrong or errors or applied.gone:
        yield "If this is how the engines are now: harness baseline update, and review what it says"
    if applied.unreviewed:
        lines = "line does", "lines do"
        places = _listed(line.place for line in applied.unreviewed)
        yield f"{_count(applied.unreviewed, *lines)} not say why yet; replace the TODO: {places}"


def _unexplained(verdict: Verdict) -> bool:
    return any(finding.kind is FindingKind.UNEXPLAINED for finding in verdict.findings)


def _flaky(verdicts: Sequence[Verdict], late: AbstractSet[str]) -> Mapping[str, Sequence[Verdict]]:
    """Return the cells that were not answered alike each time that they were asked, by how."""
    result = ((LATE if verdict.case in late else OTHERWISE, verdict) for verdict in verdicts)
    return grouped([(how, each) for how, each in result if how is LATE or _depends(each)])


def _unsteady(flaky: Mapping[str, Sequence[Verdict]]) -> Iterator[str]:
    for how, cells in flaky.items():
        yield f"{_count(cells, 'check is', 'checks are')} flaky, {how}: {_where(cells)}."


def _depends(verdict: Verdict) -> bool:
    return any(finding.kind is FindingKind.ORDER_DEPENDENT for finding in verdict.findings)


def _expired(applied: Applied) -> Iterator[str]:
    for line in applied.expired:
        yield f"{line.place}: counted until {line.until} and does no longer"


def _good(applied: Applied, status: int) -> Iterator[str]:
    if status == GOOD:
        known = [verdict for verdict in applied.verdicts if verdict.known]
        which = f", except {_count(known, 'that is', 'that are')} known" if known else ""
        rest = [
            verdict for verdict in applied.verdicts if verdict.verdict is VerdictKind.UNSUPPORTED
        ]
        unsupported = f", {len(rest)} declared unsupported" if rest else ""
        cells = _count(applied.verdicts, "check", "checks")
        yield f"{cells} judged: all correct{which}{unsupported}."


def _where(verdicts: Iterable[Verdict]) -> str:
    counts = Counter((verdict.scenario, verdict.reader) for verdict in verdicts)
    return _listed(
        f"{scenario} by {reader} ({count})" for (scenario, reader), count in counts.most_common()
    )


def _listed(texts: Iterable[str]) -> str:
    result = list(texts)
    more = [f"and {len(result) - SHOWN} more"] if len(result) > SHOWN else []
    return ", ".join([*result[:SHOWN], *more])


def _count(result: Sequence[object], one: str, many: str) -> str:
    return f"{len(result)} {one if len(result) == 1 else many}"
