"""The causes of what is not right, in sentences: what breaks, where, how to see it, what to do."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from harness.core.grouping import grouped
from harness.core.records import (
    Finding,
    FindingKind,
    QuestionKey,
    Responsible,
    Verdict,
    VerdictKind,
)
from harness.core.texts import counted, printable
from harness.model.simulation.strategies import parts_of
from harness.reports import known_defects
from harness.reports.document import Block, Code, Heading, Item, Items, Line
from harness.reports.findings import BLAME, FINDINGS, witness_text
from harness.reports.summary import Score, scoreboard
from harness.reports.words import (
    DEFAULT,
    NOT_WORDED,
    LoggedFailure,
    mapping_text,
    refusal_text,
    short,
)
from harness.run.causes import (
    READERS,
    HelpfulSetting,
    RunCause,
    SettingsAsked,
    causes,
    settings_text,
)
from harness.run.load_run import Run
from harness.scenario.cells import parse_reader


@dataclass(frozen=True, slots=True)
class Breach:
    operation: str
    verdict: VerdictKind
    cells: int


@dataclass(frozen=True, slots=True)
class Setting:
    lines: tuple[tuple[str, str], ...]
    causes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ReaderAnswer:
    """One reader: its score, what it breaks, what helps, and who else gets it right."""

    score: Score
    breaches: tuple[Breach, ...]
    """The silent ones first, then by number."""
    settings: tuple[Setting, ...]
    versions: tuple[tuple[str, tuple[int, ...]], ...]
    """Other versions of its engine, each with the causes that it has right."""
    remedy: str
    """The command that tries settings, where the run asked its engine with no others."""
    instead: str
    """The other reader that gets most of its wrong answers right; empty where none does."""
    instead_right: int
    wrong: int

    @property
    def helped(self) -> bool:
        return bool(self.wrong) and 2 * self.instead_right >= self.wrong

    @property
    def silent(self) -> tuple[Breach, ...]:
        return tuple(breach for breach in self.breaches if breach.verdict is VerdictKind.WRONG)


def _remedy(reader: str, scores: Sequence[Score], texts: Iterable[CauseText]) -> str:
    engine = parse_reader(reader).distribution
    if any(parse_reader(s.reader).distribution == engine for s in scores if s.reader != reader):
        return ""
    of_reader = (text for text in texts if text.cause.key.symptom.responsible in READERS)
    wrong = (text.cause.verdicts for text in of_reader if text.verdict is VerdictKind.WRONG)
    cases = (v.case for v in chain.from_iterable(wrong) if v.reader == reader)
    return next((f"harness remedy {shlex.quote(case)}" for case in cases), "")


def reader_answers(run: Run, texts: Sequence[CauseText]) -> tuple[ReaderAnswer, ...]:
    wrong = grouped(
        (verdict.reader, verdict)
        for verdict in run.verdicts
        if verdict.verdict is VerdictKind.WRONG
    )
    scores = scoreboard(run)
    return tuple(
        _answer(score, scores, texts, wrong.get(score.reader, ()), run.by_question)
        for score in scores
    )


def _answer(
    score: Score,
    scores: Sequence[Score],
    texts: Sequence[CauseText],
    wrong: Sequence[Verdict],
    asked: Mapping[QuestionKey, Sequence[Verdict]],
) -> ReaderAnswer:
    reader = score.reader
    numbered = [(at, text) for at, text in enumerate(texts, 1) if reader in text.cause.readers]
    right = Counter(
        other.reader
        for verdict in wrong
        for other in asked[verdict.question]
        if other.verdict is VerdictKind.CORRECT and other.reader != reader
    )
    right_in = grouped((version, at) for at, text in numbered for version in text.right_in)
    return ReaderAnswer(
        score,
        _breaches(reader, [text for _, text in numbered]),
        _settings(reader, numbered),
        tuple((version, tuple(causes_)) for version, causes_ in right_in.items()),
        _remedy(reader, scores, [text for _, text in numbered]),
        *next(iter(right.most_common(1)), ("", 0)),
        len(wrong),
    )


def _breaches(reader: str, texts: Sequence[CauseText]) -> tuple[Breach, ...]:
    cells: dict[tuple[str, VerdictKind], set[str]] = {}
    for text in texts:
        if operation := text.cause.key.operation:
            cases = {verdict.case for verdict in text.cause.verdicts if verdict.reader == reader}
            cells.setdefault((operation, text.verdict), set()).update(cases)
    breaches = [Breach(name, kind, len(cases)) for (name, kind), cases in cells.items()]
    return tuple(sorted(breaches, key=lambda e: (e.verdict is not VerdictKind.WRONG, -e.cells)))


def _settings(reader: str, texts: Sequence[tuple[int, CauseText]]) -> tuple[Setting, ...]:
    """Return the settings that help with a reader's causes, but those that it has."""
    has = settings_text(reader)
    others = ((at, text) for at, text in texts if text.paste and text.settings != has)
    by_lines = grouped([(other.paste, at) for at, other in others])
    settings = (Setting(lines, tuple(numbers)) for lines, numbers in by_lines.items())
    return tuple(sorted(settings, key=lambda setting: -len(setting.causes)))


@dataclass(frozen=True, slots=True)
class Advice:
    text: str
    verb: str = ""

    def command(self, case: str) -> str:
        return f"harness {self.verb} {shlex.quote(case)}" if self.verb else ""


def advice(verdict: Verdict, question: Iterable[Verdict]) -> tuple[Advice, ...]:
    """Return what helps, and how to find out more; nothing where nothing is wrong or refused.

    `question`: what every reader made of the same question.
    """
    if not verdict.verdict.is_bad:
        return ()
    responsible = {finding.responsible for finding in verdict.findings} or {None}
    readers = (
        Advice(_other_settings(verdict, question)),
        Advice("Try its other settings: which help here, and what each breaks elsewhere", "remedy"),
    )
    smallest = Advice("Get the smallest scenario and SQL script that still show it", "reproduce")
    pages = dict.fromkeys(f"docs/wrong_answers.md#{finding.kind}" for finding in verdict.findings)
    known = (Advice(f"What is known of it, and what to do: {', '.join(pages)}"),) if pages else ()
    return (*(readers if responsible & {Responsible.READER, None} else ()), smallest, *known)


def _other_settings(verdict: Verdict, question: Iterable[Verdict]) -> str:
    engine = parse_reader(verdict.reader).distribution
    others = [
        other
        for other in question
        if other.reader != verdict.reader and parse_reader(other.reader).distribution == engine
    ]
    if not others:
        return "This engine was not asked this with any other settings."
    right = [other.reader for other in others if other.verdict is VerdictKind.CORRECT]
    if right:
        return f"With other settings this engine gets it right: {'; '.join(right)}."
    names = "; ".join(other.reader for other in others)
    return f"This engine does not get it right with its other settings either: {names}."


FEW: Final = 4


@dataclass(frozen=True, slots=True)
class CauseText:
    """A cause as reports show it; every text is printable."""

    cause: RunCause
    engine: str
    what: str
    amount: str
    readers: str
    where: str
    seen: str
    """The first place or error in full, how it comes about, and whose doing it is."""
    paste: tuple[tuple[str, str], ...]
    """The settings that helped most in this run, as the engine takes them, and where they go."""
    settings: str
    """The same as a reader's name has them; empty where none helped, or they are the engine's."""
    advice: str
    """How much they helped, or that none did; empty where no reader's setting can."""
    known: str
    """The baselines' reasons; empty when it is new."""
    right_in: tuple[str, ...]
    """Other versions of the engine that have it right."""

    @property
    def verdict(self) -> VerdictKind:
        return self.cause.key.symptom.kind

    @property
    def finding(self) -> FindingKind | None:
        return self.cause.key.finding

    @property
    def mark(self) -> str:
        """Return the mark of what is met by default; empty where a setting has to be chosen."""
        return DEFAULT if self.cause.by_default else ""

    @property
    def headline(self) -> str:
        who = f"{self.engine} ({self.mark})" if self.mark else self.engine
        return f"{who}: {self.what}. {self.amount}."

    @property
    def to_do(self) -> str:
        lines = " and ".join(f"{text} ({where})" for text, where in self.paste)
        return f"{lines} {self.advice}" if lines else self.advice

    def command(self, verb: str) -> str:
        return f"harness {verb} {shlex.quote(self.cause.first.case)}"

    @property
    def commands(self) -> tuple[str, ...]:
        if not self.verdict.is_bad:
            return (self.command("explain"),)
        readers = self.cause.key.symptom.responsible in READERS and not self.paste
        verbs = ("explain", *(("remedy",) if readers else ()), "reproduce")
        return tuple(map(self.command, verbs))


def cause_texts(run: Run) -> tuple[CauseText, ...]:
    asked = SettingsAsked(run)
    return tuple(_text(run, cause, asked) for cause in causes(run.verdicts, run))


def _text(run: Run, cause: RunCause, asked: SettingsAsked) -> CauseText:
    setting, scenarios, key = asked.helpful(cause), cause.scenarios, cause.key
    is_bad = key.symptom.kind.is_bad
    right = known_defects.right_in(key, cause.verdicts, run) if is_bad else ()
    where = counted(len(scenarios), "scenario") if len(scenarios) > 1 else scenarios[0]
    readers = [(run.info.reader(reader).by_default, reader) for reader in cause.readers]
    readers.sort(key=lambda reader: not reader[0])
    seen = NOT_WORDED
    with LoggedFailure(cause.first.case):
        seen = printable(_seen(run, cause))
    return CauseText(
        cause=cause,
        engine=printable(cause.key.engine),
        what=printable(_what(cause)),
        amount=printable(f"{counted(len(cause.cases), 'check')} in {where}"),
        readers=printable("; ".join(name + f" ({DEFAULT})" * default for default, name in readers)),
        where=printable(_where(run, cause)),
        seen=seen,
        paste=tuple(_paste(setting)) if setting else (),
        settings=setting.settings if setting else "",
        advice=printable(" ".join(_advice(run, cause, asked, setting, right))),
        known=printable("; ".join(text.rstrip(".") for text in cause.known)),
        right_in=right,
    )


def _advice(
    run: Run,
    cause: RunCause,
    asked: SettingsAsked,
    setting: HelpfulSetting | None,
    right: Sequence[str],
) -> Iterator[str]:
    """Yield what settings do, or first where else the engine is right, and what is known of it."""
    effect = _effect(cause, setting) if setting else ""
    versions = known_defects.right_text(right)
    none = "" if setting else _no_advice(cause, asked)
    known = known_defects.sentences(cause.key, cause.verdicts, run)
    yield from filter(None, (effect, versions, none, *known))


def _what(cause: RunCause) -> str:
    key = cause.key
    since = f", since {key.operation}" if key.operation else ""
    if key.finding:
        columns = cause.columns if len(cause.columns) <= FEW else ()
        return f"{FINDINGS[key.finding].label}{_named(columns)}{since}"
    predicate = {
        VerdictKind.REFUSED: "refuses to answer",
        VerdictKind.UNSUPPORTED: "does not support this",
        VerdictKind.OPEN: "answers what is left open",
    }.get(key.symptom.kind, "gave no answer that could be judged")
    return f"{predicate}: {short(key.symptom.what.rstrip('.'))}{since}"


def _named(columns: Sequence[str]) -> str:
    """Return columns after what is wrong with them; what is counted is no column of the table.

    >>> _named(["f1", "f2"]), _named(["count(*)"]), _named([])
    (' columns f1, f2', ' in count(*)', '')
    """
    plain = [name for name in columns if "(" not in name]
    counts = [name for name in columns if "(" in name]
    what = f" {'column' if len(plain) == 1 else 'columns'} {', '.join(plain)}" if plain else ""
    return what + (f"{' and' if plain else ''} in {', '.join(counts)}" if counts else "")


def _where(run: Run, cause: RunCause) -> str:
    views = ", ".join(view.replace("_", "-") for view in cause.views)
    step = run.info.step(cause.first.variant, cause.first.step)
    at = f"after step {step.number} '{step.text}'"
    smallest = f"smallest in {cause.first.scenario}, {at}"
    return f"{', '.join(cause.formats(run))}; {views}; {smallest}"


def _seen(run: Run, cause: RunCause) -> str:
    verdict = cause.first
    cause_of = cause.key.finding, cause.key.symptom.responsible
    finding = next((f for f in verdict.findings if (f.kind, f.responsible) == cause_of), None)
    if finding is not None:
        note = "; ".join(filter(None, (_how(cause, finding), BLAME[finding.responsible].short)))
        witness = witness_text(finding.kind, finding.witness)
        return f"{witness} ({note})" if note else witness
    answer = run.answers.get(verdict.case)
    because = short(verdict.because.rstrip("."))
    if verdict.verdict is VerdictKind.REFUSED and answer and answer.refusal:
        refusal = refusal_text(answer.refusal)
        return f"{refusal} ({because})" if because else refusal
    return because


def _how(cause: RunCause, finding: Finding) -> str:
    if cause.first.verdict is VerdictKind.REFUSED:
        return "seen in columns asked alone, after the whole row was refused"
    if finding.kind is FindingKind.ORDER_DEPENDENT:  # no read strategy brings it about
        return ""
    reader = cause.first.reader
    of_reader = [verdict for verdict in cause.verdicts if verdict.reader == reader]
    wrong = [verdict for verdict in of_reader if verdict.verdict is VerdictKind.WRONG]
    shared = _shared({verdict.reproduces for verdict in wrong})
    enough = _shared({verdict.reproduces for verdict in wrong if not verdict.inconclusive})
    return mapping_text(shared, shared[0] if len(shared) == 1 and shared == enough else "")


def _shared(answers: set[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the smallest read strategies that explain every one of several answers."""
    parts = {name: frozenset(parts_of(name)) for names in sorted(answers) for name in names}
    fits = {
        name: whole
        for name, whole in parts.items()
        if all(any(parts[smaller] <= whole for smaller in names) for names in answers)
    }
    return tuple(name for name, whole in fits.items() if not any(p < whole for p in fits.values()))


def _effect(cause: RunCause, setting: HelpfulSetting) -> str:
    whole = len(cause.cases)
    right = "all of it" if setting.right == whole else f"{setting.right:,} of {whole:,} checks"
    rest = f", and {setting.otherwise:,} are then wrong in another way" if setting.otherwise else ""
    price = f" It spoils {counted(setting.spoilt, 'other check')}." if setting.spoilt else ""
    out = " and ".join(line.text for line in setting.instead)
    who = "" if setting.lines else f"Without {out}, the engine " if out else "Other settings "
    return f"{who}gets {right} right{rest}.{price}"


def _no_advice(cause: RunCause, asked: SettingsAsked) -> str:
    if not cause.key.symptom.kind.is_bad or cause.key.symptom.responsible not in READERS:
        return ""
    others = [other for _, other in asked.others(cause)]
    if not others:
        return "This engine was not asked this with any other settings."
    if any(other.verdict is VerdictKind.CORRECT for other in others):
        return "Settings that were asked in this run get some of it right, and spoil no less."
    return "No other setting that was asked in this run gets any of it right."


def _paste(setting: HelpfulSetting) -> Iterator[tuple[str, str]]:
    every = {name for _, names in setting.lines for name in names}
    places = grouped(
        (line.place + (f" of {', '.join(names)}" if set(names) != every else ""), line.text)
        for line, names in setting.lines
    )
    for where, texts in places.items():
        yield printable(" ".join(texts)), printable(where)


CauseBlocks = Callable[[CauseText, int], tuple[Line | Code, ...]]


def cause_list(texts: Sequence[CauseText], blocks: CauseBlocks) -> Iterator[Block]:
    new = [text for text in texts if not text.known]
    known = [text for text in texts if text.known]
    for title, causes_of, first in (
        ("What is not correct", new, 1),
        ("Known, and still there", known, len(new) + 1),
    ):
        if causes_of:
            yield Heading(f"{title}: {counted(len(causes_of), 'cause')}")
            items = (
                Item(Line(strong=text.headline, tone=text.verdict), blocks(text, number))
                for number, text in enumerate(causes_of, first)
            )
            yield Items(tuple(items), first)


def cause_lines(text: CauseText) -> tuple[Line | Code, ...]:
    parts = {
        "seen": text.seen,
        "by": text.readers,
        "where": text.where,
        "what to do": text.to_do,
        "known": text.known,
    }
    lines = (Line(words, strong=f"{name}:") for name, words in parts.items() if words)
    return (*lines, Code(text.commands[0]))
