"""What a comparison of two sides says: the answer, then what gets worse, by its causes. Pure."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from harness.comparison.acceptance import AcceptedCause
from harness.comparison.cell_pairs import (
    OF_OPEN,
    WORSE,
    VerdictChange,
    finding_values,
    wrong_values,
)
from harness.comparison.regressions import (
    Regression,
    Remedy,
    Workaround,
    remedy_for,
    suspect_components,
    workarounds,
)
from harness.comparison.result import (
    SAFE,
    AffectedTables,
    Decision,
    NotAsked,
    SideComparison,
    wrong_today,
)
from harness.core.grouping import grouped
from harness.core.records import Finding, Refusal, Verdict, VerdictKind
from harness.core.texts import counted, first_of
from harness.model import past_views
from harness.reports import known_defects
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
from harness.reports.findings import BLAME, FINDINGS, kinds_text, witness_text
from harness.reports.words import VERDICTS, metastore_lines, refusal_text, short
from harness.run.causes import SettingLine, meaning
from harness.run.load_run import Run, VariantInfo

IN_FULL: Final = 10
FEW: Final = 4
FEW_TABLES: Final = 5
NOBODY: Final = "nobody"
USUAL_METASTORE: Final = "the usual one, in which the tables were written"
NO_SETTING: Final = "No setting was seen to help"
WORKAROUNDS: Final[Mapping[Workaround, str]] = {
    Workaround.COMPACT: "once the table is compacted",
    Workaround.REWRITE: "once all files are rewritten",
    Workaround.COPY_ON_WRITE: "where the table is copy-on-write",
    Workaround.OTHER_VIEW: "in the table's other views, which show less",
    Workaround.OTHER_ENGINE: "by the other engines that were asked",
}
CHANGES: Final[Mapping[VerdictChange, str]] = {
    VerdictChange.REGRESSED: "right or open before, wrong without an error now",
    VerdictChange.REGRESSED_SILENTLY: "refused before, wrong without an error now",
    VerdictChange.WRONG_OTHERWISE: "wrong before, wrong in another way now",
    VerdictChange.REGRESSED_LOUDLY: "right or open before, refused now",
    VerdictChange.FIXED: "wrong or refused before, right after",
    VerdictChange.REFUSED_NOW: "wrong before, refused now",
    VerdictChange.WRONG_AS_BEFORE: "wrong before and now, in the same places",
    VerdictChange.REFUSED_AS_BEFORE: "refused before and now",
    VerdictChange.RIGHT_AS_BEFORE: "right before and after",
    VerdictChange.OPEN_NOW: "right, wrong or refused before; the specification leaves it open now",
    VerdictChange.NO_LONGER_OPEN: "left open by the specification before, right after",
    VerdictChange.OPEN_AS_BEFORE: "left open by the specification before and now",
    VerdictChange.NEW: "asked of the new side alone",
    VerdictChange.GONE: "asked of the old side alone",
    VerdictChange.UNKNOWN: "not known of one side; not counted",
}
TONES: Final[Mapping[VerdictChange, VerdictKind]] = {
    **dict.fromkeys(WORSE, VerdictKind.WRONG),
    VerdictChange.REGRESSED_LOUDLY: VerdictKind.REFUSED,
    VerdictChange.FIXED: VerdictKind.CORRECT,
    VerdictChange.REFUSED_NOW: VerdictKind.UNSUPPORTED,
    VerdictChange.RIGHT_AS_BEFORE: VerdictKind.CORRECT,
    **dict.fromkeys((*OF_OPEN, VerdictChange.OPEN_AS_BEFORE), VerdictKind.OPEN),
    VerdictChange.UNKNOWN: VerdictKind.UNKNOWN,
}
DECISION_TONES: Final[Mapping[Decision, VerdictKind]] = {
    Decision.DO_NOT: VerdictKind.WRONG,
    Decision.WITH_SETTING: VerdictKind.REFUSED,
    Decision.NOTHING_CHANGES: VerdictKind.CORRECT,
    Decision.NOTHING_WORSE: VerdictKind.CORRECT,
    Decision.NOT_KNOWN: VerdictKind.UNKNOWN,
}


def document(comparison: SideComparison) -> Iterator[Block]:
    yield Line(reasons(comparison), strong=label(comparison))
    yield from (Code(line.text, line.place) for line in settings_of(comparison.remedy))
    yield from untested(comparison)
    yield from causes(comparison)
    yield from users_tables(comparison)
    unmet = map(cause_title, comparison.irrelevant)
    yield from section("What gets worse and none of your tables can meet", unmet)
    run = comparison.new.run
    accepted = [accepted_text(cause, run) for cause in comparison.accepted.causes]
    lines = [Item(Line(text, tone=VerdictKind.UNKNOWN)) for text in line_texts(comparison)]
    yield from section("Accepted", [*accepted, *lines], most=len(accepted) + len(lines))
    yield scores(comparison)
    classes = (
        (f"{number:,}", Line(str(change), tone=TONES.get(change)), meaning)
        for change, number, meaning in class_lines(comparison)
    )
    yield table(("answers", "class", "what became of them"), classes, numbers=["answers"])
    yield from known_limits(comparison)


def untested(comparison: SideComparison) -> Iterator[Block]:
    """Yield what the answer is not about although somebody may think so."""
    steps = [
        f"{step.scenario}, step {step.step.number} '{step.step.text}' on {step.format} tables: "
        f"no writer applied it{' (in another format it was)' if step.somewhere else ''}: "
        f"{refusal_text(step.refusal) if step.refusal else 'no reason is recorded'}"
        for step in comparison.untested
    ]
    steps += (f"{name} tables: {why}" for name, why in comparison.unread.items())
    steps += comparison.unasked
    if refused := comparison.refused_by_both:
        questions = counted(refused, "question is", "questions are")
        pairs = comparison.pairs_of(VerdictChange.REFUSED_AS_BEFORE)
        first = next(pair.either for pair in pairs if not pair.is_step)
        why = _refusal(first, comparison.new.run)
        steps.append(f"{questions} refused by both sides, and not known: the first as {why}")
    note = "The answer says nothing about these."
    yield from section("Not tested", steps, VerdictKind.UNKNOWN, note=note)


def causes(comparison: SideComparison) -> Iterator[Block]:
    if comparison.relevant:
        yield Heading("What gets worse, the most harmful first")
        full = comparison.relevant[:IN_FULL]
        yield Items(tuple(cause_item(cause, comparison) for cause in full), first=1)
    if more := comparison.relevant[IN_FULL:]:
        titles = (f"{cause_title(c)} ({counted(len(c.pairs), 'answer')})" for c in more)
        items = (Item(Line(title, tone=VerdictKind.WRONG)) for title in titles)
        yield Items(tuple(items), first=IN_FULL + 1)


def cause_item(cause: Regression, comparison: SideComparison) -> Item:
    run, verdict = comparison.new.run, cause.first.either
    sentences = (
        f"{cause_extent(cause, run)}.",
        cause_witness(cause, run),
        *cause_notes(cause, comparison),
    )
    blocks: list[Line | Code] = [*map(Line, sentences)]
    blocks.append(Line(what_to_do(cause, comparison), strong="What to do:"))
    settings = settings_of(cause_remedy(cause, comparison))
    blocks += [Code(line.text, line.place) for line in settings]
    blocks += [Code(verdict.sql)] if verdict.sql else []
    blocks.append(Code(explain_command(verdict, run)))
    return Item(Line(strong=cause_title(cause), tone=VerdictKind.WRONG), tuple(blocks))


def explain_command(verdict: Verdict, run: Run) -> str:
    if profile := run.profiles.get(verdict.case):
        return f"harness run --profile {profile} -k {shlex.quote(verdict.case)}"
    return f"harness explain {shlex.quote(verdict.case)} --run-dir {shlex.quote(str(run.folder))}"


def users_tables(comparison: SideComparison) -> Iterator[Block]:
    """Yield what is wrong today on somebody's own tables, and of which nothing is known."""
    yield from section("Wrong today already on your tables", _wrong_on_tables(comparison))
    not_asked = grouped((why, name) for name, why in comparison.not_asked.items())
    yield from section(
        "Of these tables nothing is known",
        [
            Item(
                Line(f"{counted(len(names), 'table')}: {why.why} ({first_of(names, FEW_TABLES)})"),
                tuple(map(Code, filter(None, (ask_command(why, comparison),)))),
            )
            for why, names in not_asked.items()
        ],
    )


def ask_command(not_asked: NotAsked, comparison: SideComparison) -> str:
    """Return what to type to ask about such tables; empty where nothing asks it."""
    if not (comparison.command and not_asked.format):
        return ""
    files = (comparison.files.get((not_asked.format, step)) for step in not_asked.operations)
    return " ".join((comparison.command, *not_asked.options, *dict.fromkeys(filter(None, files))))


def _wrong_on_tables(comparison: SideComparison) -> Iterator[str]:
    usage = comparison.usage
    for key, affected in wrong_today(comparison.old.run, usage) if usage else ():
        what = FINDINGS[key.finding].label if key.finding else key.symptom.what
        since = f" since {key.operation}" if key.operation else ""
        yield f"{key.engine}: {what}{since}. {_affected_text(affected)}"


def scores(comparison: SideComparison) -> ReportTable:
    kinds = [word.label for word in VERDICTS.values()]
    rows = (
        (
            became(score.old or NOBODY, score.new or NOBODY),
            *(became(f"{score.before[k]:,}", f"{score.after[k]:,}") for k in VERDICTS),
        )
        for score in comparison.reader_scores
    )
    return table(("reader", *kinds), rows, numbers=kinds)


def class_lines(comparison: SideComparison) -> Iterator[tuple[VerdictChange, int, str]]:
    for change in VerdictChange:
        if number := comparison.counts[change]:
            yield change, number, CHANGES[change]


def known_limits(comparison: SideComparison) -> Iterator[Block]:
    note = "One side gave no answer that could be judged; nothing is concluded, and none is a pass."
    yield from section("Not known", _not_known(comparison), VerdictKind.UNKNOWN, note=note)
    yield from wrong_already(comparison)


@dataclass(frozen=True, slots=True)
class WrongToday:
    """What is wrong with the old side, in one scenario and one way."""

    scenario: str
    findings: str
    answers: int
    right_now: int
    """So many of them are right with the new side."""
    known: tuple[str, ...]
    """Defects that each of them fits."""

    @property
    def trackers(self) -> tuple[str, ...]:
        return known_defects.trackers(self.known)


def wrong_today_of(comparison: SideComparison) -> tuple[WrongToday, ...]:
    pairs = (p for p in comparison.pairs if p.old and p.old.verdict is VerdictKind.WRONG)
    wrong = {  # one answer of the old side may stand beside several of the new one
        pair.old.case: (pair.old, pair.change is VerdictChange.FIXED) for pair in pairs if pair.old
    }
    known = known_defects.of_wrong_answers(comparison.old.run) if wrong else {}
    lines = grouped(
        ((verdict.scenario, kinds_text(verdict)), (fixed, known.get(verdict.case, ())))
        for verdict, fixed in wrong.values()
    )
    today = (
        WrongToday(
            *key,
            len(answers),
            sum(fixed for fixed, _ in answers),
            tuple(name for name in answers[0][1] if all(name in names for _, names in answers)),
        )
        for key, answers in lines.items()
    )
    return tuple(sorted(today, key=lambda line: -line.answers))


def wrong_already(comparison: SideComparison) -> Iterator[Block]:
    new = comparison.new.name
    lines = (
        f"{line.scenario}: {line.findings}, {counted(line.answers, 'answer')}"
        + (f", {line.right_now:,} of them right in {new}" if line.right_now else "")
        + "".join(
            f"; a known defect: {known_defects.known_defects()[name].entries}"
            for name in line.known
        )
        for line in wrong_today_of(comparison)
    )
    title = f"Wrong today already, with {comparison.old.name}"
    run = comparison.old.run
    of_run = f"harness report --run-dir {shlex.quote(str(run.folder))}"
    command = "harness matrix" if run.profiles else of_run
    note = f"Whether you upgrade or not, these are wrong now, without an error; {command} writes "
    note += "a report that says of each what to do."
    yield from section(title, lines, VerdictKind.WRONG, note=note)
    yield from section(
        f"Refused today, and right in {comparison.new.name}", _answered_then(comparison)
    )


def _answered_then(comparison: SideComparison) -> Iterator[str]:
    """Yield what the old side refuses and the new one has right: of each kind the first error."""
    run = comparison.old.run
    refused = {
        pair.old.case: pair.old
        for pair in comparison.pairs_of(VerdictChange.FIXED)
        if pair.old and pair.old.verdict is VerdictKind.REFUSED
    }
    by_meaning = grouped(
        ((v.scenario, meaning(_refused_with(v, run))), v) for v in refused.values()
    )
    for (scenario, _), verdicts in by_meaning.items():
        yield f"{scenario}: {counted(len(verdicts), 'answer')}, as {_refusal(verdicts[0], run)}"


def _refused_with(verdict: Verdict, run: Run) -> Refusal | None:
    answer = run.answers.get(verdict.case)
    return answer.refusal if answer else None


def _refusal(verdict: Verdict, run: Run) -> str:
    refusal = _refused_with(verdict, run)
    return refusal_text(refusal) if refusal else short(verdict.because)


def _not_known(comparison: SideComparison) -> Iterator[str]:
    reasons_ = Counter(
        (side.name, short(verdict.because) or "no reason is recorded")
        for pair in comparison.pairs_of(VerdictChange.UNKNOWN)
        for side, verdict in ((comparison.old, pair.old), (comparison.new, pair.new))
        if verdict and verdict.verdict is VerdictKind.UNKNOWN
    )
    for (side, reason), number in reasons_.most_common():
        yield f"{side}: {reason}, {counted(number, 'answer')}"


def asked_table(comparison: SideComparison) -> ReportTable:
    old, new = (_asked(side.run) for side in (comparison.old, comparison.new))
    heads = "what", f"Before: {comparison.old.name}", f"After: {comparison.new.name}"
    return table(heads, ((name, old[name], new[name]) for name in old))


def _asked(run: Run) -> Mapping[str, str]:
    info = run.info
    variants = [run.info.variant(name) for name in dict.fromkeys(v.variant for v in run.verdicts)]
    texts: Mapping[str, Iterable[str]] = {
        "readers": (f"{r.reader} ({r.fidelity}; {r.settings})" for r in info.readers),
        "metastore": tuple(metastore_lines(info)) or (USUAL_METASTORE,),
        "writers": map(_writers, variants),
        "scenarios": (variant.scenario for variant in variants),
        "formats": (variant.format for variant in variants),
        "tables": (counted(len(variants), "table"),),
        "questions": (counted(len(run.verdicts), "question"),),
        "run": (
            f"{info.id}, profile {info.profile}",
            f"{info.started:%Y-%m-%d %H:%M}, harness {info.version}",
        ),
    }
    return {name: "\n".join(dict.fromkeys(lines)) for name, lines in texts.items()}


def tone(comparison: SideComparison) -> VerdictKind:
    return VerdictKind.UNKNOWN if in_part(comparison) else DECISION_TONES[comparison.decision]


def in_part(comparison: SideComparison) -> bool:
    """Return whether the answer would be good if only all had been tested."""
    return comparison.in_part and comparison.decision in SAFE


def headline(comparison: SideComparison) -> str:
    with_setting = comparison.decision is Decision.WITH_SETTING
    return f"{'Upgrade' if with_setting else label(comparison)}{reasons(comparison)}"


def label(comparison: SideComparison) -> str:
    nothing = "Nothing that your tables use" if comparison.usage else "Nothing"
    labels = {
        Decision.DO_NOT: "Do not upgrade",
        Decision.WITH_SETTING: "Upgrade with this setting",
        Decision.NOTHING_CHANGES: f"{nothing} changes",
        Decision.NOTHING_WORSE: f"{nothing} gets worse",
        Decision.NOT_KNOWN: "Not known",
    }
    label_ = labels[comparison.decision]
    return f"In part: {label_[0].lower()}{label_[1:]}" if in_part(comparison) else label_


def reasons(comparison: SideComparison) -> str:
    sentences = [_because(comparison)]
    # One of the old side may stand beside several of a newer writer.
    if same := len({id(pair.old) for pair in comparison.pairs_of(VerdictChange.WRONG_AS_BEFORE)}):
        are, stay = ("answer is", "stays") if same == 1 else ("answers are", "stay")
        sentences.append(f"{same:,} {are} wrong today already, and {stay} so.")
    opened, settled = (comparison.counts[change] for change in OF_OPEN)
    if opened or settled:
        to, back = f"{opened:,} to open" * bool(opened), f"{settled:,} from open" * bool(settled)
        turned = " and ".join(filter(None, (to, back)))
        sentences.append(f"Turned {turned}, which is neither right nor wrong.")
    accepted = len(comparison.worse_accepted)
    if accepted and comparison.decision is not Decision.NOTHING_WORSE:
        get, are = ("answer gets", "is") if accepted == 1 else ("answers get", "are")
        sentences.append(f"{accepted:,} more {get} worse and {are} accepted.")
    return " ".join(sentences)


def _because(comparison: SideComparison) -> str:
    sides = f" from {comparison.old.name} to {comparison.new.name}"
    where, worse = scope(comparison), _worse(comparison)
    match comparison.decision:
        case Decision.DO_NOT:
            return f"{sides}: {worse}{_concerned(comparison)} in {where}."
        case Decision.WITH_SETTING:
            lines = "; ".join(comparison.remedy.texts) if comparison.remedy else ""
            effect = f"without it, {worse.rstrip(',')}; with it, none, and no right answer turns"
            return f"{sides} with this setting: {lines} ({effect}), in {where}."
        case Decision.NOTHING_CHANGES:
            return f"{sides} in {where}."
        case Decision.NOTHING_WORSE:
            number = counted(len(comparison.worse_accepted), "answer")
            accepted = f" but what is accepted ({number})" if comparison.worse_accepted else ""
            fixed = comparison.counts[VerdictChange.FIXED]
            one, many = "answer that was not right becomes", "answers that were not right become"
            better = f", and {counted(fixed, one, many)} right," if fixed else ""
            return f"{sides}{accepted}{better} in {where}."
        case Decision.NOT_KNOWN:
            return f": {_unknown(comparison)}, and nothing is known to be worse, in {where}."


def _worse(comparison: SideComparison) -> str:
    total = len(comparison.worse)
    silent = sum(p.change is not VerdictChange.REGRESSED_LOUDLY for p in comparison.worse)
    text = f"{counted(total, 'answer gets', 'answers get')} worse"
    if silent in {0, total}:
        return f"{text} {'without' if silent else 'by'} an error"
    return f"{text}, {silent:,} of them without an error,"


def _unknown(comparison: SideComparison) -> str:
    if unknown := comparison.counts[VerdictChange.UNKNOWN]:
        return f"{counted(unknown, 'question has', 'questions have')} no answer of one side"
    if number := len(comparison.not_covered):
        return f"no question was about tables like {counted(number, 'table')} of yours"
    if refused := comparison.refused_by_both:
        return f"both sides refused {counted(refused, 'question')}, which is all that they share"
    return "no question was asked of both sides"


def _concerned(comparison: SideComparison) -> str:
    if comparison.usage is None:
        return ""
    affected = (comparison.affected[cause.key].tables for cause in comparison.relevant)
    tables = set[str]().union(*affected)
    every = counted(len(comparison.usage.tables), "table")
    return f", which {len(tables):,} of your {every} can meet," if tables else ""


def scope(comparison: SideComparison) -> str:
    """Say what was asked of what: scenarios, tables with their settings, views, queries."""
    asked = [pair.either for pair in comparison.pairs if not pair.is_step]
    ids = {verdict.variant for verdict in asked}
    variants = [variant for variant in comparison.new.run.info.variants if variant.id in ids]
    scenarios = named((variant.scenario for variant in variants), "scenario")
    writers = named(map(_writers, variants), "writer")
    readers = named((verdict.reader for verdict in asked), "reader")
    number = counted(len(asked), "question")
    tables = f"{_formats(variants)}{_settings(variants)}"
    views = _views(asked)
    shapes = dict.fromkeys(v.query.partition("(")[0] for v in asked)
    queries = f"{_kinds('view', views)}, {_kinds('query', shapes, 'queries')}"
    left_out = dict.fromkeys((*comparison.old.run.info.left_out, *comparison.new.run.info.left_out))
    lacking = f"; left out to save time: {', '.join(left_out)}" if left_out else ""
    if refused := comparison.refused_by_both:
        number += f", {refused:,} of them refused by both sides"
    unread = "".join(f", not on {name} tables: {why}" for name, why in comparison.unread.items())
    asked_of = f"{scenarios} on {tables} of {writers}, read by {readers}"
    return f"{asked_of} ({number}: {queries}{lacking}){unread}"


def _settings(variants: Iterable[VariantInfo]) -> str:
    """Return which settings the tables have, each with its values."""
    values = dict[str, dict[str, None]]()
    for variant in variants:
        for name, value in variant.settings.items():
            values.setdefault(name, {})[value] = None
    texts = [f"{name} {_listed(values_of)}" for name, values_of in values.items()]
    if (more := len(texts) - FEW) > 0:
        texts = [*texts[:FEW], counted(more, "more setting")]
    return f" ({', '.join(texts)})" if texts else ""


def _kinds(one: str, names: Iterable[str], many: str = "") -> str:
    every = list(names)
    if len(every) > FEW:
        return counted(len(every), one, many)
    return f"{one if len(every) == 1 else many or f'{one}s'} {_listed(every)}"


def _views(verdicts: Iterable[Verdict]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(past_views.name_of(v.view).replace("_", "-") for v in verdicts))


def _writers(variant: VariantInfo) -> str:
    return " then ".join(dict.fromkeys(variant.writers))


def _formats(variants: Iterable[VariantInfo]) -> str:
    formats = list(dict.fromkeys(variant.format for variant in variants))
    few = len(formats) <= FEW
    return f"{_listed(formats)} tables" if few else f"tables in {len(formats)} formats"


def named(names: Iterable[str], what: str) -> str:
    distinct = list(dict.fromkeys(names))
    if len(distinct) > FEW:
        return counted(len(distinct), what)
    return _listed(distinct) or f"no {what}"


def _listed(texts: Iterable[str], last: str = "and") -> str:
    every = list(texts)
    return f" {last} ".join(filter(None, (", ".join(every[:-1]), *every[-1:])))


def became(old: str, new: str) -> str:
    """Return what stands for a thing that may have changed.

    >>> became("4", "4"), became("4", "12")
    ('4', '4 → 12')
    """
    return old if old == new else f"{old} → {new}"


def cause_title(cause: Regression) -> str:
    key, finding = cause.key, cause.key.finding
    what = FINDINGS[finding].label if finding else f"refuses ({key.symptom.what})"
    default = " by default" if cause.by_default else ""
    since = f" since {key.operation}" if key.operation else ""
    return f"{key.engine or 'the writer'}{default}: {what}{since}"


def cause_extent(cause: Regression, run: Run) -> str:
    formats = _formats(run.info.variant(pair.either.variant) for pair in cause.pairs)
    parts = [_changes(cause), f"in {named(cause.scenarios, 'scenario')} on {formats}"]
    if cause.asked:
        views = _views(cause.asked)
        parts.append(f"{'views' if len(views) > 1 else 'view'} {_listed(views)}")
        parts.append(f"by {named((v.reader for v in cause.asked), 'reader')}")
    return ", ".join(parts)


def _changes(cause: Regression) -> str:
    counts = Counter(pair.change for pair in cause.pairs)
    total = counted(len(cause.pairs), "answer" if cause.asked else "step")
    if len(counts) == 1:
        return f"{total} {CHANGES[cause.changes[0]]}"
    return f"{total} ({'; '.join(f'{counts[c]:,} {CHANGES[c]}' for c in cause.changes)})"


def cause_witness(cause: Regression, run: Run) -> str:
    """Say what the simplest answer shows in its first wrong place, and after which step."""
    verdict = cause.first.either
    step = run.info.step(verdict.variant, verdict.step)
    where = f"{verdict.variant}, after step {step.number} '{step.text}'"
    finding = next((f for f in verdict.findings if _shows(f, cause)), None)
    if finding is not None:
        whose = BLAME[finding.responsible].short
        witness = witness_text(finding.kind, finding.witness)
        return f"{where}: {witness}" + (f" ({whose})" if whose else "")
    return f"{where}: {_refusal(verdict, run)}"


def _shows(finding: Finding, cause: Regression) -> bool:
    if (finding.kind, finding.responsible) != (cause.key.finding, cause.key.symptom.responsible):
        return False
    old = cause.first.old
    return old is None or bool(finding_values(finding) - wrong_values(old))


def what_to_do(cause: Regression, comparison: SideComparison) -> str:
    """Say which settings make all of a cause right, and what they cost; or what else does."""
    asked = cause.key, [pair.either for pair in cause.pairs], comparison.new.run
    versions = known_defects.right_text(known_defects.right_in(*asked))
    known = known_defects.sentences(*asked)
    return " ".join(filter(None, (versions, _settings_or_else(cause, comparison), *known)))


def _settings_or_else(cause: Regression, comparison: SideComparison) -> str:
    if remedy := cause_remedy(cause, comparison):
        cost = counted(len(remedy.harms), "right answer is not", "right answers are not")
        harm = f"but {cost} right with it" if remedy.harms else "and every right answer stays right"
        return f"Set {'; '.join(remedy.texts)}: all of these are right with it, {harm}."
    if others := workarounds(cause, comparison.new.run):
        texts = _listed((WORKAROUNDS[workaround] for workaround in others), "or")
        return f"{NO_SETTING}. It is not so {texts}."
    return f"{NO_SETTING}, nor anything else that was asked."


def cause_remedy(cause: Regression, comparison: SideComparison) -> Remedy | None:
    return remedy_for([pair.either.question for pair in cause.pairs], comparison.remedies)


def settings_of(remedy: Remedy | None) -> tuple[SettingLine, ...]:
    return remedy.settings if remedy else ()


def cause_notes(cause: Regression, comparison: SideComparison) -> Iterator[str]:
    if cause.key in comparison.affected:
        yield _affected_text(comparison.affected[cause.key])
    if suspects := suspects_text(cause, comparison):
        yield suspects


def suspects_text(cause: Regression, comparison: SideComparison) -> str:
    """Say which component brings a cause about; empty where the sides differ in one alone."""
    if not comparison.swaps:
        return ""
    suspects = suspect_components(cause, comparison.swaps)
    untried = "".join(f"; {swap} could not be tried: {swap.why_not}" for swap in suspects.untried)
    if suspects.alone:
        return f"Brought about by {_listed(map(str, suspects.alone))} alone{untried}."
    if suspects.partly:
        return f"Some of it comes by {_listed(map(str, suspects.partly))} alone{untried}."
    if suspects.together:
        every = _listed(map(str, comparison.swaps))
        return f"No component does it alone, only together: {every}."
    return f"No component that could be tried does it alone{untried}."


def _affected_text(affected: AffectedTables) -> str:
    if not affected:
        return "None of your tables can meet it."
    number = counted(len(affected.tables), "table")
    text = f"{number} of yours can meet it: {first_of(affected.tables, FEW_TABLES)}"
    if not affected.unsure:
        return f"{text}."
    why = next(iter(affected.unsure.values()))
    some = len(affected.unsure) < len(affected.tables)
    return f"{text}; {f'{len(affected.unsure):,} of them ' if some else ''}{why}."


def accepted_text(accepted: AcceptedCause, run: Run) -> str:
    cause, line = accepted.cause, accepted.by
    until = f", until {line.until}" if line.until else ""
    why = f"accepted{until}: {line.because.rstrip('.')} ({line.location})"
    return f"{cause_title(cause)}; {cause_extent(cause, run)}; {why}"


def line_texts(comparison: SideComparison) -> Iterator[str]:
    lines = comparison.accepted
    for line in lines.gone:
        yield f"{line.location}: no longer occurs ({line}); take the line out"
    for line in lines.unreviewed:
        yield f"{line.location}: does not say why yet ({line}); replace the TODO"
    for line in lines.expired:
        yield f"{line.location}: was valid until {line.until} ({line}); review it, or take it out"
