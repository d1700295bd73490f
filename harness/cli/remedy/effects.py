"""What other settings do to a case and to other cells of its scenario, and how it is printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.cli.remedy.alternatives import UnusableSettings, changes
from harness.core.counting import counted
from harness.core.grouping import grouped
from harness.core.records import QuestionKey, Verdict, VerdictKind
from harness.reports.findings import FINDINGS
from harness.reports.lines import say
from harness.reports.words import VERDICTS
from harness.scenario.cells import Reader

MOST = 6
"""So many cells that turned wrong are named."""
KNOWN = frozenset({VerdictKind.CORRECT, VerdictKind.WRONG, VerdictKind.REFUSED})


@dataclass(frozen=True, slots=True)
class Effect:
    """The verdicts under other settings, beside those under the settings of before."""

    reader: Reader
    case: Verdict | None
    """That of the case itself; None where nothing was asked."""
    turned_right: Sequence[Verdict] = ()
    turned_wrong: Sequence[Verdict] = ()
    """Right with the settings of before; wrong or refused now."""
    still_wrong: Sequence[Verdict] = ()
    still_right: Sequence[Verdict] = ()
    unknown: Sequence[Verdict] = ()
    """Where nothing is known before or now."""

    @property
    def heals(self) -> bool:
        """Whether the case is right now."""
        return self.case is not None and self.case.verdict is VerdictKind.CORRECT

    @property
    def rank(self) -> tuple[bool, int, int]:
        """Sorts those that heal without harm first."""
        return not self.heals, len(self.turned_wrong), len(self.still_wrong)

    def changes_from(self, reader: Reader) -> str:
        return ", ".join(changes(dict(reader.settings), dict(self.reader.settings)))


def effect(
    reader: Reader,
    question: QuestionKey,
    verdicts: Iterable[Verdict],
    before: Mapping[QuestionKey, Verdict],
) -> Effect:
    """Compare the verdicts of a reader with those of the one before, by their questions."""
    own = {verdict.question: verdict for verdict in verdicts if verdict.reader == str(reader)}
    turns = grouped((_turn(before.get(at), now), now) for at, now in own.items() if at != question)
    return Effect(reader, own.get(question), **turns)


def _turn(before: Verdict | None, now: Verdict) -> str:
    if before is None or before.verdict not in KNOWN or now.verdict not in KNOWN:
        return "unknown"
    was_right, is_right = (verdict.verdict is VerdictKind.CORRECT for verdict in (before, now))
    if is_right:
        return "still_right" if was_right else "turned_right"
    return "turned_wrong" if was_right else "still_wrong"


def print_effects(reader: Reader, effects: Sequence[Effect], console: Console) -> None:
    """Print a line for each combination of settings, then which help, and what they cost."""
    effects = sorted(effects, key=lambda effect: effect.rank)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    heads = "changed setting", "this case", "others: turned right", "turned wrong", "still wrong"
    for name in (*heads, "still right", "unknown"):
        table.add_column(name, overflow="fold")
    for effect in effects:
        others = effect.turned_right, effect.turned_wrong, effect.still_wrong, effect.still_right
        numbers = (str(len(verdicts)) for verdicts in (*others, effect.unknown))
        case = Text(_word(effect.case), "green" if effect.heals else "")
        table.add_row(Text(effect.changes_from(reader)), case, *numbers)
    console.print(table)
    if not any(effect.heals for effect in effects):
        say(console, "no setting turns this case right", "bold")
    for effect in effects:
        if effect.heals:
            _print_cost(effect, effect.changes_from(reader), console)


def _print_cost(effect: Effect, changed: str, console: Console) -> None:
    cost = "but these turn wrong:" if effect.turned_wrong else "nothing else turns wrong"
    say(console, f"{changed}: this case is right; {cost}", "bold")
    for verdict in effect.turned_wrong[:MOST]:
        say(console, f"  {verdict.case}: {_word(verdict)}")
    if (left := len(effect.turned_wrong) - MOST) > 0:
        say(console, f"  … and {left} more")
    if effect.unknown:
        say(console, f"  nothing is known about {counted(len(effect.unknown), 'cell')}")


def print_unusable(reader: Reader, unusable: Sequence[UnusableSettings], console: Console) -> None:
    """Print which settings cannot be tried here."""
    for settings in unusable:
        changed = ", ".join(changes(dict(reader.settings), dict(settings.reader.settings)))
        say(console, f"not tried: {changed}: {settings.why}", "dim")


def _word(verdict: Verdict | None) -> str:
    if verdict is None:
        return "not asked"
    kinds = ", ".join(FINDINGS[finding.kind].label for finding in verdict.findings)
    label = VERDICTS[verdict.verdict].label
    return f"{label}: {kinds}" if kinds else label
