"""A comparison of two sides in sentences: what to do first, then what is worse and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from harness.comparison.answer import Decision
from harness.comparison.guilt import guilt
from harness.comparison.regressions import Regression
from harness.comparison.remedies import of_cause
from harness.comparison.result import SideComparison
from harness.comparison.verdict_change import VerdictChange, places, places_of
from harness.comparison.workarounds import Workaround, workarounds
from harness.core.counting import counted
from harness.core.records import Finding, Verdict
from harness.model import past_views
from harness.reports.sentences import refusal_text, witness_text
from harness.reports.usage_words import concerned
from harness.reports.words import FINDINGS, PARTIES, short
from harness.run.load_run import Run

NO_SETTING: Final = "No setting was seen to help"
NOTHING_HELPS: Final = f"{NO_SETTING}, nor anything else that was asked."
WORKAROUNDS: Final[Mapping[Workaround, str]] = {
    Workaround.COMPACT: "once the table is compacted",
    Workaround.REWRITE: "once all files are rewritten",
    Workaround.COPY_ON_WRITE: "where the table is copy-on-write",
    Workaround.OTHER_VIEW: "in the table's other views, which show less",
    Workaround.OTHER_ENGINE: "by the other engines that were asked",
}
FEW: Final = 4
"""So many names are listed; of more, only how many."""

CHANGES: Final[Mapping[VerdictChange, str]] = {
    VerdictChange.REGRESSED: "right before, wrong without an error now",
    VerdictChange.REGRESSED_SILENTLY: "refused before, wrong without an error now",
    VerdictChange.WRONG_OTHERWISE: "wrong before, wrong in another way now",
    VerdictChange.REGRESSED_LOUDLY: "right before, refused now",
    VerdictChange.FIXED: "wrong or refused before, right now",
    VerdictChange.REFUSED_NOW: "wrong before, refused now",
    VerdictChange.WRONG_AS_BEFORE: "wrong as before",
    VerdictChange.REFUSED_AS_BEFORE: "refused as before",
    VerdictChange.RIGHT_AS_BEFORE: "right as before",
    VerdictChange.NEW: "asked of the new side alone",
    VerdictChange.GONE: "asked of the old side alone",
    VerdictChange.UNKNOWN: "not known of one side; not counted",
}


def headline(found: SideComparison) -> str:
    """Return the answer in a sentence, with what was asked."""
    sides, where = f"from {found.old.name} to {found.new.name}", scope(found)
    match found.decision:
        case Decision.DO_NOT:
            return f"Do not upgrade {sides}: {_worse(found)}{concerned(found)} in {where}."
        case Decision.WITH_SETTING:
            lines = "; ".join(found.remedy.told) if found.remedy else ""
            told = f"without it, {_worse(found)}; with it, none, and no right answer turns"
            return f"Upgrade {sides} with this setting: {lines} ({told}), in {where}."
        case Decision.NOTHING_CHANGES:
            return f"{_nothing(found)} changes {sides} in {where}."
        case Decision.NOTHING_WORSE:
            return f"{_nothing(found)} gets worse {sides}{_better(found)} in {where}."
        case Decision.NOT_KNOWN:
            return f"Not known: {_unknown(found)}, and nothing is known to be worse, in {where}."


def _nothing(found: SideComparison) -> str:
    return "Nothing that your tables use" if found.usage else "Nothing"


def _worse(found: SideComparison) -> str:
    total = len(found.worse)
    loud = [e for e in found.worse if e.change is VerdictChange.REGRESSED_LOUDLY]
    silent = total - len(loud)
    told = f"{counted(total, 'answer gets', 'answers get')} worse"
    if silent in {0, total}:
        return f"{told} {'without' if silent else 'by'} an error"
    return f"{told}, {silent:,} of them without an error,"


def _better(found: SideComparison) -> str:
    fixed = found.counts[VerdictChange.FIXED]
    told = counted(fixed, "answer that was", "answers that were")
    return f", and {told} not right {'is' if fixed == 1 else 'are'} right now," if fixed else ""


def _unknown(found: SideComparison) -> str:
    unknown = found.counts[VerdictChange.UNKNOWN]
    if found.not_covered and not unknown:
        tables = counted(len(found.not_covered), "table")
        return f"{tables} of yours are like none that was asked about"
    if not unknown:
        return "no question was asked of both sides"
    return f"{counted(unknown, 'question has', 'questions have')} no answer of one side"


def scope(found: SideComparison) -> str:
    """Say what was asked: scenarios, formats, writers and readers."""
    info, asked = found.new.run.info, [each for each in found.pairs if not each.is_step]
    ids = {each.either.variant for each in asked}
    variants = [each for each in info.variants if each.id in ids]
    scenarios = _named((each.scenario for each in variants), "scenario")
    formats = _named((each.format for each in variants), "format")
    writers = _named((" then ".join(dict.fromkeys(each.writers)) for each in variants), "writer")
    readers = _named((each.either.reader for each in asked), "reader")
    number = counted(len(asked), "question")
    return f"{scenarios} on {formats} tables of {writers}, read by {readers} ({number})"


def _named(names: Iterable[str], what: str) -> str:
    found = list(dict.fromkeys(names))
    if len(found) > FEW:
        return counted(len(found), what)
    return _listed(found) or f"no {what}"


def _listed(texts: Iterable[str], last: str = "and") -> str:
    found = list(texts)
    return f" {last} ".join(filter(None, (", ".join(found[:-1]), *found[-1:])))


def class_lines(found: SideComparison) -> Iterator[tuple[VerdictChange, int, str]]:
    """Yield each class that has cells, how many, and what it means; the worst first."""
    for each in VerdictChange:
        if number := found.counts[each]:
            yield each, number, CHANGES[each]


def cause_title(cause: Regression) -> str:
    """Say what breaks, and since what."""
    key, finding = cause.key, cause.key.finding
    what = FINDINGS[finding].label if finding else f"refuses ({key.symptom.what})"
    default = " by default" if cause.by_default else ""
    since = f" since {key.operation}" if key.operation else ""
    return f"{key.engine or 'the writer'}{default}: {what}{since}"


def cause_extent(cause: Regression, run: Run) -> str:
    """Say how far it goes: answers, scenarios, formats, views, readers."""
    of = [run.variant(each.either.variant) for each in cause.pairs]
    asked = [each for each in cause.pairs if not each.is_step]
    views = dict.fromkeys(past_views.name_of(each.either.view).replace("_", "-") for each in asked)
    told = [
        *(f"{number} {CHANGES[change]}" for change, number in _changes(cause)),
        _named(cause.scenarios, "scenario"),
        _named((each.format for each in of), "format"),
        _named(views, "view") if views else "",
        _named((each.either.reader for each in asked), "reader") if asked else "",
    ]
    return "; ".join(filter(None, told))


def _changes(cause: Regression) -> Iterator[tuple[VerdictChange, int]]:
    counts = Counter(each.change for each in cause.pairs)
    yield from ((each, counts[each]) for each in cause.changes)


def cause_witness(cause: Regression, run: Run) -> str:
    """Say of the simplest place what was found there, and after which step."""
    verdict = cause.first.either
    step = run.step(verdict.variant, verdict.step)
    where = f"{verdict.variant}, after step {step.number} '{step.text}'"
    finding = next((each for each in verdict.findings if _shows(each, cause)), None)
    if finding is not None:
        whose = PARTIES[finding.party].short
        told = witness_text(finding.kind, finding.witness)
        return f"{where}: {told}" + (f" ({whose})" if whose else "")
    answer = run.answers.get(verdict.case)
    refusal = answer.refusal if answer else None
    if refusal is None and cause.first.is_step:
        return f"{where}: {short(verdict.because)}"
    return f"{where}: {refusal_text(refusal) if refusal else short(verdict.because)}"


def what_to_do(cause: Regression, found: SideComparison) -> str:
    """Say which settings make all of a cause right, and what they cost; or what else does."""
    questions = [each.either.question for each in cause.pairs]
    remedy = of_cause(questions, found.remedies)
    if remedy is not None:
        cost = counted(len(remedy.harms), "right answer is not", "right answers are not")
        told = f"but {cost} right with it" if remedy.harms else "and every right answer stays right"
        return f"Set {'; '.join(remedy.told)}: all of these are right with it, {told}."
    others = workarounds(cause, found.new.run)
    if not others:
        return NOTHING_HELPS
    return f"{NO_SETTING}. It is not so {_listed((WORKAROUNDS[each] for each in others), 'or')}."


def whose(cause: Regression, found: SideComparison) -> str:
    """Say which component brings a cause about; empty where the sides differ in one alone."""
    if not found.swaps:
        return ""
    known = guilt(cause, found.swaps)
    untried = "".join(f"; {each} could not be tried: {each.why_not}" for each in known.untried)
    if known.alone:
        return f"Brought about by {_listed(map(str, known.alone))} alone{untried}."
    if known.partly:
        return f"Some of it comes by {_listed(map(str, known.partly))} alone{untried}."
    if known.together:
        return f"No component does it alone, only together: {_listed(map(str, found.swaps))}."
    return f"No component that could be tried does it alone{untried}."


def _shows(finding: Finding, cause: Regression) -> bool:
    if (finding.kind, finding.party) != (cause.key.finding, cause.key.symptom.party):
        return False
    old = cause.first.old
    return old is None or bool(places_of(finding) - places(old))


def wrong_today(found: SideComparison) -> Iterator[str]:
    """Say what is wrong on the old side already, by scenario and finding; it is not safe."""
    counts = Counter(
        (pair.old.scenario, _kinds(pair.old)) for pair in found.wrong_today if pair.old
    )
    for (scenario, kinds), number in counts.most_common():
        yield f"{scenario}: {kinds}, {counted(number, 'answer')}"


def _kinds(verdict: Verdict) -> str:
    return ", ".join(dict.fromkeys(FINDINGS[each.kind].label for each in verdict.findings))
