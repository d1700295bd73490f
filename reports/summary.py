"""The results of a run, equal ones as one group: what all reports say first. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from harness.core.errors import printable
from harness.core.grouping import grouped
from harness.core.records import Finding, FindingKind, OutcomeKind, Refusal, Verdict, VerdictKind
from harness.core.refusals import by_chance
from harness.model import past_views as views
from harness.reports.sentences import mapping_text, refusal_text, witness_text
from harness.reports.words import FINDINGS, NOT_WORDED, PARTIES, counted, short, worded
from harness.run.load_run import Run, StepResult
from harness.run.run_info import DEFAULTS, NOT_COMPARED

ORDER: Final = (
    VerdictKind.WRONG,
    VerdictKind.REFUSED,
    VerdictKind.UNKNOWN,
    VerdictKind.UNSUPPORTED,
    VerdictKind.CORRECT,
)
"""The worst first: a silent wrong answer is worse than an error."""


SHORTEST: Final = 2
"""Neighbours up to so many are named one by one."""


@dataclass(frozen=True, slots=True)
class ResultGroup:
    """The same result of one reader in several cells."""

    verdict: VerdictKind
    finding: FindingKind | None
    """None for a refusal and for what is unknown or unsupported."""
    reader: str
    cases: tuple[str, ...]
    known: str
    """The baseline's reason; empty when the result is new."""
    what: str
    """What was seen, and where."""
    why: str
    """The first place, error or reason in full, how it comes about, and who is to blame."""
    settings: str = ""
    """Says that the reader has its engine's defaults; empty where it has not."""

    @property
    def amount(self) -> str:
        """Return how many cells it is."""
        return counted(len(self.cases), "cell")

    @property
    def text(self) -> str:
        """Return all of it as a sentence."""
        who = f"{self.reader} ({self.settings})" if self.settings else self.reader
        said = f"{who}: {self.what}" + (f": {self.why}" if self.why else "")
        known = f" Known: {self.known.rstrip('.')}." if self.known else ""
        return printable(f"{said}. {self.amount}.{known}")


@dataclass(frozen=True, slots=True)
class _CellResult:
    """One result in one cell."""

    verdict: Verdict
    finding: Finding | None = None
    refusal: Refusal | None = None


def totals(run: Run) -> Mapping[VerdictKind, int]:
    """Count the cells of each verdict, the worst first."""
    counts = Counter(each.verdict for each in run.verdicts)
    return {kind: counts[kind] for kind in ORDER}


def readers(run: Run) -> tuple[str, ...]:
    """Return every reader of a run: those planned, and any whose answer was judged."""
    return tuple(dict.fromkeys([*run.readers, *(each.reader for each in run.verdicts)]))


def settings(run: Run, reader: str) -> str:
    """Say how a reader is set, beside the defaults of its engine."""
    known = run.readers.get(reader)
    return known.settings if known else NOT_COMPARED


def failed_steps(run: Run) -> Iterator[tuple[str, str]]:
    """Yield each step that was not applied, and why."""
    for each in run.failed_steps:
        outcome = each.outcome
        why = outcome.because or str(outcome.kind)
        if outcome.kind is OutcomeKind.REFUSED and outcome.refusal:
            why = f"refused by the writer: {refusal_text(outcome.refusal)}"
        yield _named(each), why


def half_done_steps(run: Run) -> Iterator[tuple[str, str]]:
    """Yield each step that was applied although its writer answered with an error, and which."""
    for each in run.half_done_steps:
        if each.outcome.refusal:
            yield _named(each), refusal_text(each.outcome.refusal)


def _named(each: StepResult) -> str:
    return f"{each.variant}, step {each.step.number} '{each.step.text}'"


def flaky(run: Run) -> tuple[str, ...]:
    """Return the cases that were answered only when asked again.

    An error that came both times is no such answer.
    """
    answers = (run.answers.get(each.case) for each in run.verdicts)
    came = (each for each in answers if each and each.attempts and not each.unknown)
    return tuple(each.case for each in came if not (each.refusal and by_chance(each.refusal)))


def explained(run: Run) -> str:
    """Return how often a way of reading is named for a wrong answer; empty when none is wrong."""
    wrong = [each for each in run.verdicts if each.verdict is VerdictKind.WRONG]
    claimed = sum(bool(each.claimed) for each in wrong)
    counts = Counter(min(len(each.reproduces), 2) for each in wrong)
    small = counts[1] - claimed
    unproven = f"one fits {small:,} so small (a count, or no rows) that it proves nothing"
    said = (
        f"exactly one way of reading the files explains {claimed:,}, and is named",
        f"several explain {counts[2]:,}, so none is claimed",
        *([unproven] if small else ()),
        f"none of those tried explains {counts[0]:,}",
    )
    return f"Of {counted(len(wrong), 'wrong answer')}, {'; '.join(said)}." if wrong else ""


def group_findings(run: Run) -> tuple[ResultGroup, ...]:
    """Gather equal results over cells: what was not known before first, then the worst.

    Findings are equal when reader, scenario, kind and blame are, refusals when their
    meaning is; unknown and unsupported cells when reader and reason are. The first place in the
    history speaks for all.
    """
    results = (seen for verdict in run.verdicts for seen in _results(run, verdict))
    equal = grouped((_key(seen), seen) for seen in results)
    groups = (_group(run, seen) for seen in equal.values())
    return tuple(sorted(groups, key=_rank))


def _rank(group: ResultGroup) -> tuple[bool, int, int]:
    kinds = list(FindingKind)
    finding = kinds.index(group.finding) if group.finding else len(kinds)
    return bool(group.known), ORDER.index(group.verdict), finding


def _results(run: Run, verdict: Verdict) -> Iterator[_CellResult]:
    if verdict.verdict is not VerdictKind.UNKNOWN:  # who is not known to be wrong is not accused
        yield from (_CellResult(verdict, finding) for finding in verdict.findings)
    answer = run.answers.get(verdict.case)
    if verdict.verdict is VerdictKind.REFUSED:
        yield _CellResult(verdict, refusal=answer.refusal if answer else None)
    elif verdict.verdict in {VerdictKind.UNKNOWN, VerdictKind.UNSUPPORTED}:
        yield _CellResult(verdict)


def _key(seen: _CellResult) -> Hashable:
    verdict = seen.verdict
    who = verdict.verdict, verdict.reader, verdict.known
    if seen.finding is None and verdict.verdict is not VerdictKind.REFUSED:
        return *who, verdict.because
    if seen.finding:
        return *who, verdict.scenario, seen.finding.kind, seen.finding.party
    return *who, verdict.scenario, verdict.because, seen.refusal.kind if seen.refusal else ""


def _group(run: Run, seen: list[_CellResult]) -> ResultGroup:
    first = min(seen, key=lambda each: each.verdict.step)
    verdicts = sorted((each.verdict for each in seen), key=lambda each: each.step)
    return ResultGroup(
        verdict=first.verdict.verdict,
        finding=first.finding.kind if first.finding else None,
        reader=first.verdict.reader,
        cases=tuple(dict.fromkeys(each.case for each in verdicts)),
        known=first.verdict.known,
        what=printable(f"{_what(first)} {_where(run, first, verdicts)}"),
        why=worded(
            first.verdict.case, lambda: printable(_why(first, _mapping(verdicts))), NOT_WORDED
        ),
        settings=DEFAULTS if settings(run, first.verdict.reader) == DEFAULTS else "",
    )


def _what(seen: _CellResult) -> str:
    if seen.finding:
        columns = seen.finding.columns
        names = f" {'column' if len(columns) == 1 else 'columns'} {', '.join(columns)}"
        return f"{FINDINGS[seen.finding.kind].label}{names if columns else ''}"
    return {
        VerdictKind.REFUSED: "refuses to answer",
        VerdictKind.UNSUPPORTED: "does not support this",
    }.get(seen.verdict.verdict, "gave no answer that could be judged")


def _where(run: Run, first: _CellResult, verdicts: list[Verdict]) -> str:
    formats = dict.fromkeys(run.variant(each.variant).format for each in verdicts)
    asked = dict.fromkeys(views.name_of(each.view).replace("_", "-") for each in verdicts)
    scenarios = dict.fromkeys(each.scenario for each in verdicts)
    kinds = "; ".join(filter(None, (", ".join(formats), ", ".join(asked))))
    if len(scenarios) > 1:
        return f"in {counted(len(scenarios), 'scenario')} ({kinds})"
    step = run.step(first.verdict.variant, first.verdict.step)
    later = sorted({each.step for each in verdicts} - {step.number})
    also = f" and still after {numbers(later)}" if later else ""
    return f"in {first.verdict.scenario} ({kinds}) after step {step.number} '{step.text}'{also}"


def numbers(steps: Sequence[int]) -> str:
    """Name steps, neighbours as a range.

    >>> numbers([1, 2, 4, 5, 6])
    'steps 1, 2, 4-6'
    """
    runs: list[list[int]] = []
    for step in steps:
        if runs and runs[-1][-1] == step - 1:
            runs[-1].append(step)
        else:
            runs.append([step])
    return f"step{'s' if len(steps) > 1 else ''} {', '.join(map(_range, runs))}"


def _range(run: Sequence[int]) -> str:
    return f"{run[0]}-{run[-1]}" if len(run) > SHORTEST else ", ".join(map(str, run))


def _shared(ways: set[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the smallest ways of reading that explain every one of several answers.

    An answer that a part of a way gives already is explained by the whole way as well.
    """
    parts = {way: frozenset(way.split(", ")) for each in sorted(ways) for way in each}
    fits = {
        way: mine
        for way, mine in parts.items()
        if all(any(parts[smaller] <= mine for smaller in each) for each in ways)
    }
    return tuple(way for way, mine in fits.items() if not any(p < mine for p in fits.values()))


def _mapping(verdicts: Sequence[Verdict]) -> str:
    """Return which way of reading explains all answers; those that tell enough must do so alone."""
    shared = _shared({each.reproduces for each in verdicts})
    enough = _shared({each.reproduces for each in verdicts if not each.scant})
    return mapping_text(shared, shared[0] if len(shared) == 1 and shared == enough else "")


def _why(seen: _CellResult, mapping: str) -> str:
    verdict = seen.verdict
    if seen.finding:
        alone = verdict.verdict is VerdictKind.REFUSED
        note = "seen in columns asked alone, after the whole row was refused" if alone else mapping
        if seen.finding.kind is FindingKind.ORDER_DEPENDENT:  # no way of reading brings it about
            note = ""
        whose = PARTIES[seen.finding.party].short
        note = "; ".join(each for each in (note, whose) if each)
        witness = witness_text(seen.finding.kind, seen.finding.witness)
        return f"{witness} ({note})" if note else witness
    because = short(verdict.because.rstrip("."))
    if seen.refusal:
        refusal = refusal_text(seen.refusal)
        return f"{refusal} ({because})" if because else refusal
    return because
