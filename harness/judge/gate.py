"""The exit status of a gating command, and why. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
MOST_OPEN: Final = 0.01
"""The share of checks that may be left open; of more it is said, whatever the status."""
SHOWN: Final = 5
"""So many of a kind are listed; the reports and the baselines have them all."""


@dataclass(frozen=True, slots=True)
class Gate:
    status: int
    reasons: tuple[str, ...]
    """Sentences for people."""
    flaky: int = 0
    """So many cells were answered otherwise when they were asked again, or only then."""


def gate(applied: Applied, late: Collection[str] = (), *, fail_on_flaky: bool = False) -> Gate:
    """Return 3 if anything is unknown, else 1 if anything is new or gone, else 0.

    A run without any verdict tells nothing, and is 3. Wrong use (2) never comes this far. `late`:
    the cases that were answered only when asked again; `fail_on_flaky`: flaky cells alone are 1,
    known ones too.
    """
    unknown, new = tuple(_unknown(applied.verdicts)), tuple(_new(applied))
    flaky = _flaky(applied.verdicts, late)
    failing = new or (fail_on_flaky and flaky)
    status = UNKNOWN if unknown else NEW if failing else GOOD
    reasons = [*unknown, *new]
    for how, cells in flaky.items():
        reasons.append(f"{_count(cells, 'check is', 'checks are')} flaky, {how}: {_where(cells)}.")
    reasons.extend(_open(applied.verdicts))
    reasons.extend(
        f"{line.location}: was valid until {line.until}; review it, or take it out"
        for line in applied.expired
    )
    if status == GOOD:
        reasons.append(_good(applied.verdicts))
    return Gate(status, tuple(reasons), sum(map(len, flaky.values())))


def _unknown(verdicts: Sequence[Verdict]) -> Iterator[str]:
    if not verdicts:
        yield "No check was judged: nothing is known; plan checks and run them."
    unknown = grouped(
        [
            (any(finding.responsible is Responsible.MODEL for finding in verdict.findings), verdict)
            for verdict in verdicts
            if verdict.verdict is VerdictKind.UNKNOWN
        ]
    )
    doubted, others = unknown.get(True, []), unknown.get(False, [])
    if doubted:
        cells = _count(doubted, "check puts", "checks put")
        yield f"{cells} our own reference model in doubt: {_where(doubted)}."
        yield f"Look into it before anybody is blamed: harness explain '{doubted[0].case}'"
    if others:
        reasons = Counter(verdict.because or "no reason recorded" for verdict in others)
        listed = _listed(f"{why} ({count})" for why, count in reasons.most_common())
        yield f"{_count(others, 'check is', 'checks are')} unknown: {listed}."
        yield "Nothing is concluded of them; ask again with: harness read"
    if broken := [verdict for verdict in others if verdict.reason is Reason.JUDGE_FAILED]:
        cells = _count(broken, "of them is", "of them are")
        yield f"{cells} a failure of the harness itself: harness.log in the run's folder tells why."


def _new(applied: Applied) -> Iterator[str]:
    new = [verdict for verdict in applied.verdicts if not verdict.known]
    wrong = [verdict for verdict in new if verdict.verdict is VerdictKind.WRONG]
    errors = [verdict for verdict in new if verdict.verdict is VerdictKind.REFUSED]
    half_done = [error for error in errors if error.reason is Reason.HALF_DONE]
    refused = [error for error in errors if error.reason is not Reason.HALF_DONE]
    if wrong:
        yield f"{_count(wrong, 'wrong answer is', 'wrong answers are')} new: {_where(wrong)}."
    if refused:
        yield f"{_count(refused, 'refusal is', 'refusals are')} new: {_where(refused)}."
    if half_done:
        steps = _count(half_done, "half-done step is", "half-done steps are")
        yield f"{steps} new (committed, then the writer failed): {_where(half_done)}."
    if unexplained := _having(FindingKind.UNEXPLAINED, (*wrong, *refused)):
        cells = _count(unexplained, "of them is", "of them are")
        yield f"{cells} unexplained: {_where(unexplained)}."
        yield f"Find out what it is before it is known: harness explain '{unexplained[0].case}'"
    if applied.answered:
        cells = _count(applied.answered, "check is", "checks are")
        yield f"{cells} declared unsupported, and answered: {_where(applied.answered)}."
        declared = dict.fromkeys(verdict.disclaimed for verdict in applied.answered)
        yield f"Put right what the lock data say: {_listed(declared)}"
    for line in applied.gone:
        yield f"{line.location}: no longer occurs ({line.expect}); take the line out"
    if wrong or errors or applied.gone:
        yield "If this is how the engines are now: harness baseline update, and review what it says"
    if applied.unreviewed:
        lines = _count(applied.unreviewed, "line does", "lines do")
        locations = _listed(line.location for line in applied.unreviewed)
        yield f"{lines} not say why yet; replace the TODO: {locations}"


def _flaky(verdicts: Sequence[Verdict], late: Collection[str]) -> Mapping[str, Sequence[Verdict]]:
    """Return the cells that were not answered equally each time that they were asked, by how."""
    late_cells = [(LATE, verdict) for verdict in verdicts if verdict.case in late]
    others = [verdict for verdict in verdicts if verdict.case not in late]
    otherwise = _having(FindingKind.ORDER_DEPENDENT, others)
    return grouped((*late_cells, *((OTHERWISE, verdict) for verdict in otherwise)))


def _having(kind: FindingKind, verdicts: Iterable[Verdict]) -> list[Verdict]:
    return [v for v in verdicts if any(finding.kind is kind for finding in v.findings)]


def _good(verdicts: Sequence[Verdict]) -> str:
    known = [verdict for verdict in verdicts if verdict.known]
    which = f", except {_count(known, 'that is', 'that are')} known" if known else ""
    counts = Counter(verdict.verdict for verdict in verdicts)
    number, left = counts[VerdictKind.UNSUPPORTED], counts[VerdictKind.OPEN]
    unsupported = f", {number} declared unsupported" if number else ""
    correct = f"all correct but {left} left open" if left else "all correct"
    return f"{_count(verdicts, 'check', 'checks')} judged: {correct}{which}{unsupported}."


def _open(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield that more than a few answers are left open, by which lines of data."""
    left = [verdict for verdict in verdicts if verdict.verdict is VerdictKind.OPEN]
    if len(left) > MOST_OPEN * len(verdicts):
        names = Counter(verdict.because.partition(":")[0] for verdict in left)
        listed = _listed(f"{name} ({count})" for name, count in names.most_common())
        share = f"{len(left) / len(verdicts):.2%} of all, where at most {MOST_OPEN:.0%} should be"
        yield f"ATTENTION: {_count(left, 'check is', 'checks are')} left open ({share}): {listed}."
        yield "An open answer is no pass: read what leaves it open before you rely on it."


def _where(verdicts: Iterable[Verdict]) -> str:
    counts = Counter((verdict.scenario, verdict.reader) for verdict in verdicts)
    return _listed(
        f"{scenario} by {reader} ({count})" for (scenario, reader), count in counts.most_common()
    )


def _listed(texts: Iterable[str]) -> str:
    shown = list(texts)
    more = [f"and {len(shown) - SHOWN} more"] if len(shown) > SHOWN else []
    return ", ".join([*shown[:SHOWN], *more])


def _count(counted: Sequence[object], one: str, many: str) -> str:
    return f"{len(counted)} {one if len(counted) == 1 else many}"
