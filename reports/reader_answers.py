"""The scoreboard, and what to say first of each reader: what it breaks, and what to do. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.core.grouping import grouped
from harness.core.records import QuestionKey, Verdict, VerdictKind
from harness.reports import summary
from harness.reports.cause_texts import CauseText
from harness.reports.words import VERDICTS
from harness.run.causes import by_default, settings_text
from harness.run.load_run import Run


@dataclass(frozen=True, slots=True)
class Score:
    """What the answers of one reader are."""

    reader: str
    by_default: bool
    """Whether nobody chose a setting otherwise than the engine has it by itself."""
    ours: str
    """What the harness sets otherwise all the same; empty where it sets nothing."""
    counts: Mapping[VerdictKind, int]
    """In the order of the words: right first."""


def scoreboard(run: Run) -> tuple[Score, ...]:
    """Return the scores: readers by default first, else in the order of the plan."""
    counts = Counter((verdict.reader, verdict.verdict) for verdict in run.verdicts)
    scores = [
        Score(
            reader,
            by_default(run, reader),
            _ours(run, reader),
            {kind: counts[reader, kind] for kind in VERDICTS},
        )
        for reader in summary.readers(run)
    ]
    return tuple(sorted(scores, key=lambda score: not score.by_default))


def _ours(run: Run, reader: str) -> str:
    known = run.readers.get(reader)
    unlike = known.unlike if known and known.unlike else ()
    return ", ".join(f"{unlike_.setting}={unlike_.has}" for unlike_ in unlike if not unlike_.named)


@dataclass(frozen=True, slots=True)
class Breach:
    """What a reader answers wrongly, or refuses, since one operation."""

    operation: str
    verdict: VerdictKind
    cells: int


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting that helped in this run, and of how many causes."""

    lines: tuple[tuple[str, str], ...]
    """To paste, and where."""
    causes: tuple[int, ...]
    """Their numbers, from 1."""


@dataclass(frozen=True, slots=True)
class ReaderAnswer:
    """One reader: its score, what it breaks, what helps, and who else gets it right."""

    score: Score
    breaches: tuple[Breach, ...]
    """The silent ones first, then by number."""
    settings: tuple[Setting, ...]
    instead: str
    """The other reader that gets most of its wrong answers right; empty where none does."""
    instead_right: int
    wrong: int

    @property
    def helped(self) -> bool:
        """Return whether another reader gets at least half of its wrong answers right."""
        return bool(self.wrong) and 2 * self.instead_right >= self.wrong

    @property
    def silent(self) -> tuple[Breach, ...]:
        return tuple(breach for breach in self.breaches if breach.verdict is VerdictKind.WRONG)


def reader_answers(run: Run, texts: Sequence[CauseText]) -> tuple[ReaderAnswer, ...]:
    """Return what to say of each reader, in the order of the scoreboard."""
    wrong = grouped(
        (verdict.reader, verdict)
        for verdict in run.verdicts
        if verdict.verdict is VerdictKind.WRONG
    )
    asked = grouped((verdict.question, verdict) for verdict in run.verdicts)
    scores = scoreboard(run)
    return tuple(_answer(score, texts, wrong.get(score.reader, ()), asked) for score in scores)


def _answer(
    score: Score,
    texts: Sequence[CauseText],
    wrong: Sequence[Verdict],
    asked: Mapping[QuestionKey, Sequence[Verdict]],
) -> ReaderAnswer:
    numbered = [
        (at, text) for at, text in enumerate(texts, 1) if score.reader in text.cause.readers
    ]
    instead, right = _instead(score.reader, wrong, asked)
    return ReaderAnswer(
        score=score,
        breaches=_breaches(score.reader, [text for _, text in numbered]),
        settings=_settings(score.reader, numbered),
        instead=instead,
        instead_right=right,
        wrong=len(wrong),
    )


def _breaches(reader: str, texts: Sequence[CauseText]) -> tuple[Breach, ...]:
    cells: dict[tuple[str, VerdictKind], set[str]] = {}
    for text in texts:
        if operation := text.cause.key.operation:
            cases = {verdict.case for verdict in text.cause.verdicts if verdict.reader == reader}
            cells.setdefault((operation, text.verdict), set()).update(cases)
    breaches = [Breach(name, kind, len(of)) for (name, kind), of in cells.items()]
    return tuple(sorted(breaches, key=lambda e: (e.verdict is not VerdictKind.WRONG, -e.cells)))


def _settings(reader: str, texts: Sequence[tuple[int, CauseText]]) -> tuple[Setting, ...]:
    """Return the settings that help with a reader's causes, but those that it has."""
    has = settings_text(reader)
    others = ((at, text) for at, text in texts if text.paste and text.settings != has)
    of = grouped((other.paste, at) for at, other in others)
    settings = (Setting(lines, tuple(numbers)) for lines, numbers in of.items())
    return tuple(sorted(settings, key=lambda setting: -len(setting.causes)))


def _instead(
    reader: str, wrong: Sequence[Verdict], asked: Mapping[QuestionKey, Sequence[Verdict]]
) -> tuple[str, int]:
    """Return who gets most of a reader's wrong answers right, and how many of them."""
    right = Counter(
        other.reader
        for verdict in wrong
        for other in asked[verdict.question]
        if other.verdict is VerdictKind.CORRECT and other.reader != reader
    )
    return next(iter(right.most_common(1)), ("", 0))
