"""A comparison of two sides in sentences: what to do first, then what is worse and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from harness.comparison.accepted import AcceptedCause, AcceptedCauses
from harness.comparison.answer import Decision
from harness.comparison.cell_pairs import CellPair
from harness.comparison.guilt import guilt
from harness.comparison.regressions import Regression
from harness.comparison.remedies import Remedy, of_cause
from harness.comparison.result import SideComparison
from harness.comparison.verdict_change import VerdictChange, places, places_of
from harness.comparison.workarounds import Workaround, workarounds
from harness.core.counting import counted
from harness.core.records import Finding, Verdict, VerdictKind
from harness.model import past_views
from harness.reports import usage_words
from harness.reports.blame import PARTIES
from harness.reports.sentences import refusal_text, witness_text
from harness.reports.words import FINDINGS, short
from harness.run.load_run import Run
from harness.run.run_info import VariantInfo

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
    VerdictChange.WRONG_AS_BEFORE: "wrong before and now, in the same places",
    VerdictChange.REFUSED_AS_BEFORE: "refused before and now",
    VerdictChange.RIGHT_AS_BEFORE: "right before and now",
    VerdictChange.NEW: "asked of the new side alone",
    VerdictChange.GONE: "asked of the old side alone",
    VerdictChange.UNKNOWN: "not known of one side; not counted",
}


def headline(found: SideComparison) -> str:
    """Return the answer in a sentence, with what was asked."""
    if found.decision is Decision.WITH_SETTING:
        return f"Upgrade{reasons(found)}"
    return f"{label(found)}{reasons(found)}"


def label(found: SideComparison) -> str:
    """Return what the answer begins with."""
    nothing = "Nothing that your tables use" if found.usage else "Nothing"
    labels = {
        Decision.DO_NOT: "Do not upgrade",
        Decision.WITH_SETTING: "Upgrade with this setting",
        Decision.NOTHING_CHANGES: f"{nothing} changes",
        Decision.NOTHING_WORSE: f"{nothing} gets worse",
        Decision.NOT_KNOWN: "Not known",
    }
    return labels[found.decision]


def reasons(found: SideComparison) -> str:
    """Return what follows after the answer's first words."""
    said = _because(found)
    if same := found.counts[VerdictChange.WRONG_AS_BEFORE]:
        told = counted(same, "answer is", "answers are")
        said += f" {told} wrong today already, and {'stays' if same == 1 else 'stay'} so."
    accepted = len(found.worse_accepted)
    if accepted and found.decision is not Decision.NOTHING_WORSE:
        told = counted(accepted, "more answer gets", "more answers get")
        said += f" {told} worse and {'is' if accepted == 1 else 'are'} accepted."
    return said


def _because(found: SideComparison) -> str:
    sides, where = f"from {found.old.name} to {found.new.name}", scope(found)
    match found.decision:
        case Decision.DO_NOT:
            return f" {sides}: {_worse(found)}{usage_words.concerned(found)} in {where}."
        case Decision.WITH_SETTING:
            lines = "; ".join(found.remedy.told) if found.remedy else ""
            told = (
                f"without it, {_worse(found).rstrip(',')}; with it, none, and no right answer turns"
            )
            return f" {sides} with this setting: {lines} ({told}), in {where}."
        case Decision.NOTHING_CHANGES:
            return f" {sides} in {where}."
        case Decision.NOTHING_WORSE:
            return f" {sides}{_accepted(found)}{_better(found)} in {where}."
        case Decision.NOT_KNOWN:
            return f": {_unknown(found)}, and nothing is known to be worse, in {where}."


def _worse(found: SideComparison) -> str:
    total = len(found.worse)
    loud = [e for e in found.worse if e.change is VerdictChange.REGRESSED_LOUDLY]
    silent = total - len(loud)
    told = f"{counted(total, 'answer gets', 'answers get')} worse"
    if silent in {0, total}:
        return f"{told} {'without' if silent else 'by'} an error"
    return f"{told}, {silent:,} of them without an error,"


def _accepted(found: SideComparison) -> str:
    number = len(found.worse_accepted)
    return f" but what is accepted ({counted(number, 'answer')})" if number else ""


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
    writers = _named((" then ".join(dict.fromkeys(each.writers)) for each in variants), "writer")
    readers = _named((each.either.reader for each in asked), "reader")
    number = counted(len(asked), "question")
    return f"{scenarios} on {_tables(variants)} of {writers}, read by {readers} ({number})"


def _tables(variants: Iterable[VariantInfo]) -> str:
    formats = list(dict.fromkeys(each.format for each in variants))
    few = len(formats) <= FEW
    return f"{_listed(formats)} tables" if few else f"tables in {len(formats)} formats"


def _named(names: Iterable[str], what: str) -> str:
    found = list(dict.fromkeys(names))
    if len(found) > FEW:
        return counted(len(found), what)
    return _listed(found) or f"no {what}"


def _listed(texts: Iterable[str], last: str = "and") -> str:
    found = list(texts)
    return f" {last} ".join(filter(None, (", ".join(found[:-1]), *found[-1:])))


def became(old: str, new: str) -> str:
    """Return what stands for a thing that may have changed.

    >>> became("4", "4"), became("4", "12")
    ('4', '4 → 12')
    """
    return old if old == new else f"{old} → {new}"


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
    asked = [each for each in cause.pairs if not each.is_step]
    views = [past_views.name_of(each.either.view).replace("_", "-") for each in asked]
    tables = _tables(run.variant(each.either.variant) for each in cause.pairs)
    told = [
        f"in {_named(cause.scenarios, 'scenario')} on {tables}",
        f"{'views' if len(set(views)) > 1 else 'view'} {_listed(dict.fromkeys(views))}",
        f"by {_named((each.either.reader for each in asked), 'reader')}",
    ]
    return f"{_changes(cause)}, {', '.join(told if asked else told[:1])}"


def _changes(cause: Regression) -> str:
    counts = Counter(each.change for each in cause.pairs)
    what = ("step", "steps") if all(each.is_step for each in cause.pairs) else ("answer", "answers")
    total = counted(len(cause.pairs), *what)
    if len(counts) == 1:
        return f"{total} {CHANGES[cause.changes[0]]}"
    return f"{total} ({'; '.join(f'{counts[each]:,} {CHANGES[each]}' for each in cause.changes)})"


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
    remedy = remedy_of(cause, found)
    if remedy is not None:
        cost = counted(len(remedy.harms), "right answer is not", "right answers are not")
        told = f"but {cost} right with it" if remedy.harms else "and every right answer stays right"
        return f"Set {'; '.join(remedy.told)}: all of these are right with it, {told}."
    others = workarounds(cause, found.new.run)
    if not others:
        return NOTHING_HELPS
    return f"{NO_SETTING}. It is not so {_listed((WORKAROUNDS[each] for each in others), 'or')}."


def remedy_of(cause: Regression, found: SideComparison) -> Remedy | None:
    """Return the settings that make all of a cause right."""
    return of_cause([each.either.question for each in cause.pairs], found.remedies)


def cause_notes(cause: Regression, found: SideComparison) -> Iterator[str]:
    """Say which of somebody's tables can meet a cause, and which component brings it about."""
    if found.usage is not None and cause.key in found.met:
        yield usage_words.met_text(found.met[cause.key])
    if told := whose(cause, found):
        yield told


def own_tables(found: SideComparison) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what is to be said of somebody's own tables, each list with its title."""
    others = map(cause_title, usage_words.irrelevant(found))
    yield "Wrong today already on your tables", tuple(usage_words.today(found))
    yield "Of these tables nothing is known", tuple(usage_words.not_covered(found))
    yield "What gets worse and none of your tables can meet", tuple(others)


def to_paste(remedy: Remedy | None) -> Iterator[tuple[str, str]]:
    """Yield each line to put into a configuration, and where it goes; empty where that is not said.

    >>> each = Remedy("r", (), frozenset(), frozenset(), ("a.b=c (in etc/catalog/*.properties)",))
    >>> list(to_paste(each))
    [('a.b=c', 'in etc/catalog/*.properties')]
    """
    for line in remedy.told if remedy else ():
        text, _, place = (
            line.removesuffix(")").rpartition(" (") if line.endswith(")") else (line, "", "")
        )
        yield (text, place) if text else (line, "")


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
    # One answer of the old side may stand beside several of the new one.
    wrong = {pair.old.case: pair.old for pair in found.wrong_today if pair.old}
    counts = Counter((each.scenario, _kinds(each)) for each in wrong.values())
    for (scenario, kinds), number in counts.most_common():
        yield f"{scenario}: {kinds}, {counted(number, 'answer')}"


def not_known(found: SideComparison) -> Iterator[str]:
    """Say why answers are not known, and of which side."""
    whys = Counter(why for pair in found.of(VerdictChange.UNKNOWN) for why in _whys(pair, found))
    for (side, why), number in whys.most_common():
        yield f"{side}: {why}, {counted(number, 'answer')}"


def _whys(pair: CellPair, found: SideComparison) -> Iterator[tuple[str, str]]:
    for side, verdict in ((found.old, pair.old), (found.new, pair.new)):
        if verdict and verdict.verdict is VerdictKind.UNKNOWN:
            yield side.name, short(verdict.because) or "no reason is recorded"


def _kinds(verdict: Verdict) -> str:
    return ", ".join(dict.fromkeys(FINDINGS[each.kind].label for each in verdict.findings))


def accepted_text(each: AcceptedCause, run: Run) -> str:
    """Say what is accepted, how far it goes, and why."""
    until = f", until {each.by.until}" if each.by.until else ""
    why = f"accepted{until}: {each.by.because.rstrip('.')} ({each.by.place})"
    return f"{cause_title(each.cause)}; {cause_extent(each.cause, run)}; {why}"


def line_texts(found: AcceptedCauses) -> Iterator[str]:
    """Yield what is to be said of the lines that accept causes, and what to do with them."""
    for each in found.gone:
        yield f"{each.place}: no longer occurs ({each}); take the line out"
    for each in found.unreviewed:
        yield f"{each.place}: does not say why yet ({each}); replace the TODO"
    for each in found.expired:
        yield f"{each.place}: counted until {each.until} and does no longer ({each})"
