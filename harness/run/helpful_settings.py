"""Which settings of the same engine made a cause's cells right in this very run, and at what price.

Nothing is guessed: settings that were not asked are not mentioned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Final

from harness.core.grouping import grouped
from harness.core.records import QuestionKey, Responsible, Verdict, VerdictKind
from harness.run.causes import RunCause, symptoms
from harness.run.load_run import Run
from harness.run.setting_lines import SettingLine, lines_of
from harness.scenario.cells import parse_reader

READERS: Final = frozenset({Responsible.READER, None})
"""Whose doing it must be that a reader's setting can help."""
BAD: Final = frozenset({VerdictKind.WRONG, VerdictKind.REFUSED})
Change = tuple[str, str, str]
"""The reader that is not right, the one of the same distribution that is, and the format."""


@dataclass(frozen=True, slots=True)
class HelpfulSetting:
    """Settings that cells of a cause were asked with as well, and came right."""

    settings: str
    """As a reader's name has them; empty where they are the engine's own."""
    lines: tuple[tuple[SettingLine, tuple[str, ...]], ...]
    """What to paste, each with the distributions that want it."""
    instead: tuple[SettingLine, ...]
    """What to take out, where there is nothing to paste."""
    right: int
    """So many of the cause's cells come right."""
    otherwise: int
    """So many of them are not right then either, but no longer by this cause."""
    spoilt: int
    """So many other cells of the same readers are right without and not with it."""


@dataclass(frozen=True)  # no slots: what is derived is kept
class SettingsAsked:
    """What the readers of a run answered with one setting and with another."""

    run: Run

    @cached_property
    def by_question(self) -> Mapping[QuestionKey, Mapping[str, Verdict]]:
        """What each reader made of each question."""
        pairs = ((verdict.question, verdict) for verdict in self.run.verdicts)
        return {
            at: {verdict.reader: verdict for verdict in of} for at, of in grouped(pairs).items()
        }

    @cached_property
    def spoilt(self) -> Mapping[tuple[str, str], int]:
        """How many cells are right by the first reader and not by the second."""
        spoilt: Counter[tuple[str, str]] = Counter()
        for by_reader in self.by_question.values():
            for old, new in permutations(by_reader.values(), 2):
                if old.verdict is VerdictKind.CORRECT and new.verdict in BAD:
                    spoilt[old.reader, new.reader] += 1
        return spoilt

    def others(self, cause: RunCause) -> Iterator[tuple[Verdict, Verdict]]:
        """Yield each cell of a cause, with what its distribution made of it by other settings."""
        symptom = cause.key.symptom
        if symptom.kind not in BAD or symptom.responsible not in READERS:
            return
        for verdict in cause.verdicts:
            distribution = self.run.distribution(verdict.reader)
            for reader, other in self.by_question[verdict.question].items():
                if reader != verdict.reader and self.run.distribution(reader) == distribution:
                    yield verdict, other

    def helpful(self, cause: RunCause) -> HelpfulSetting | None:
        """Return the settings that help most against a cause; None where none do more than harm.

        Of those that help equally, the ones with the fewest lines.
        """
        pairs = (
            (settings_text(other.reader), (verdict, other)) for verdict, other in self.others(cause)
        )
        made = (self._made(cause, name, of) for name, of in grouped(pairs).items())
        good = (setting for setting in made if setting.right > setting.spoilt)
        return min(
            good,
            key=lambda setting: (setting.spoilt - setting.right, len(setting.lines)),
            default=None,
        )

    def _made(
        self, cause: RunCause, settings: str, pairs: Sequence[tuple[Verdict, Verdict]]
    ) -> HelpfulSetting:
        right = [pair for pair in pairs if pair[1].verdict is VerdictKind.CORRECT]
        changes = tuple(
            dict.fromkeys(
                (old.reader, new.reader, self.run.variant(old.variant).format) for old, new in right
            )
        )
        lacking = grouped((line, self.run.distribution(to)) for line, to in _new_lines(changes))
        back = tuple((new, old, format_) for old, new, format_ in changes)
        return HelpfulSetting(
            settings,
            tuple((line, tuple(dict.fromkeys(names))) for line, names in lacking.items()),
            () if lacking else tuple(dict.fromkeys(line for line, _ in _new_lines(back))),
            len(right),
            sum(self._otherwise(cause, other) for _, other in pairs),
            sum(self.spoilt[pair] for pair in dict.fromkeys((old, new) for old, new, _ in changes)),
        )

    def _otherwise(self, cause: RunCause, other: Verdict) -> bool:
        shown = symptoms(other, self.run.answers.get(other.case))
        return other.verdict in BAD and cause.key.symptom not in shown


def settings_text(reader: str) -> str:
    """Return a reader's settings as its name has them; empty where it has none."""
    settings = parse_reader(reader).settings
    return ", ".join(f"{name}={value}" for name, value in settings)


def _new_lines(changes: Sequence[Change]) -> Iterator[tuple[SettingLine, str]]:
    """Yield each line that the second reader of a change gets and the first one does not."""
    for old, new, format_ in changes:
        for line in lines_of(new, format_):
            if line not in lines_of(old, format_):
                yield line, new
