"""`harness remedy`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness import engines
from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.cli import options, runs
from harness.cli.explain.recorded_cell import find
from harness.cli.output import Output
from harness.cli.runs import Resources
from harness.core.counting import counted
from harness.core.errors import HarnessError, UsageProblem
from harness.core.grouping import grouped
from harness.core.records import QuestionKey, Verdict, VerdictKind
from harness.plan import reader_defaults, reader_support
from harness.reports.findings import FINDINGS
from harness.reports.lines import say
from harness.reports.words import VERDICTS
from harness.run import plan_record, run_folder, run_info
from harness.scenario.cells import Cell, Plan, Reader, Variant, parse_reader

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


TOGETHER = 2
"""With six settings, all combinations would be hundreds; nobody asked for more at once."""
LEFT_OUT = ""
"""Stands for a setting that is not named: the engine's default."""


@dataclass(frozen=True, slots=True)
class UnusableSettings:
    """Settings that cannot be asked with, and why."""

    reader: Reader
    why: str


def alternatives(
    reader: Reader, known: Mapping[str, Sequence[str]], format_name: str
) -> tuple[tuple[Reader, ...], tuple[UnusableSettings, ...]]:
    """Return the reader with other settings, by whether it can be asked with them.

    At most `TOGETHER` settings are changed. Of combinations that come to the same, one left out and
    one with its default, the first is returned. Of those that cannot be asked, the ones with the
    fewest changes are returned. `known`: the engine's settings, each with its values.
    """
    usable: list[Reader] = []
    unusable: dict[frozenset[str], UnusableSettings] = {}
    seen = {reader_defaults.in_full(reader)}
    for changed, other in others(reader, known):
        if why := reader_support.cannot(other, format_name):
            if not any(fewer <= changed for fewer in unusable):
                unusable[changed] = UnusableSettings(other, why)
        elif len(changed) <= TOGETHER and (full := reader_defaults.in_full(other)) not in seen:
            seen.add(full)
            usable.append(other)
    return tuple(usable), tuple(unusable.values())


def others(
    reader: Reader, known: Mapping[str, Sequence[str]]
) -> list[tuple[frozenset[str], Reader]]:
    """Return every other combination with its changes, the fewest changes first.

    Leaving a setting out is a value too, the last one: what is named says more.
    """
    combinations = []
    for values in product(*((*values, LEFT_OUT) for values in known.values())):
        settings = {name: value for name, value in zip(known, values, strict=True) if value}
        if changed := frozenset(changes(dict(reader.settings), settings)):
            combinations.append((changed, replace(reader, settings=tuple(settings.items()))))
    return sorted(combinations, key=lambda combination: len(combination[0]))


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Return the settings that differ.

    >>> changes({"path": "fetch"}, {"schema-on-read": "on"})
    ('path left out', 'schema-on-read=on')
    """
    names = dict.fromkeys((*before, *after))
    return tuple(
        f"{name}={after[name]}" if name in after else f"{name} left out"
        for name in names
        if before.get(name) != after.get(name)
    )


def plan_of(variants: Sequence[Variant], cells: Iterable[Cell], readers: Sequence[Reader]) -> Plan:
    """Return the plan that asks every reader what one of them was asked, as far as it can be."""
    formats = {variant.id: variant.format for variant in variants}
    asked = tuple(
        replace(cell, reader=str(reader))
        for cell in cells
        for reader in readers
        if not reader_support.cannot(reader, formats[cell.variant])
    )
    needed = {cell.variant for cell in asked}
    chosen = tuple(variant for variant in variants if variant.id in needed)
    return Plan("remedy", chosen, tuple(readers), asked)


PROFILE = "remedy"


@options.with_output
def remedy(
    output: Output,
    case: options.CaseArgument,
    run_dir: options.OldRunOption = run_folder.LATEST_RUN,
    offline: options.OfflineOption = False,
) -> int:
    """Try other settings of a reader: which make the case right, which cells they make wrong."""
    folder = run_folder.existing(run_dir)
    recorded = find(folder, case)
    cell, verdict = recorded.cell, recorded.verdict
    if verdict is None:
        raise UsageProblem(f"{cell.case} was never judged; run harness judge")
    if verdict.verdict not in {VerdictKind.WRONG, VerdictKind.REFUSED}:
        state = f"{cell.case} is {verdict.verdict}"
        raise UsageProblem(f"{state}: there is nothing to remedy; name a case that is wrong")
    reader = parse_reader(cell.reader)
    settings = engines.load(distributions.load(reader.distribution).engine).settings
    usable, unusable = alternatives(reader, settings, recorded.case.variant.format)
    info = run_info.read_info(folder)
    scenario = recorded.case.variant.scenario.name
    variants = {
        variant.id: variant
        for variant in plan_record.plan_of(info).variants
        if variant.scenario.name == scenario
    }
    cells = (c for c in info.cells if c.variant in variants and c.reader == cell.reader)
    plan = plan_of(tuple(variants.values()), cells, (reader, *usable))
    resources = Resources(output, Cache.default(offline=offline))
    with runs.separate_work(resources, PROFILE) as work:
        verdicts = runs.execute(replace(plan, metastore=info.through), work).verdicts
    before = {verdict.question: verdict for verdict in verdicts if verdict.reader == str(reader)}
    made = [effect(other, cell.question, verdicts, before) for other in usable]
    print_effects(reader, made, output.out)
    print_unusable(reader, unusable, output.out)
    facts = [_facts(effect) for effect in made]
    unknown = str(VerdictKind.UNKNOWN)
    lacking = any(fact["unknown"] or fact["verdict"] == unknown for fact in facts)
    status = HarnessError.exit_status if lacking else 0
    output.end(status=status, case=cell.case, effects=facts)
    return status


def _facts(effect: Effect) -> Mapping[str, str | int]:
    """Return for a program what other settings do: to the case, and to how many other cells."""
    return {
        "reader": str(effect.reader),
        "verdict": str(effect.case.verdict if effect.case else VerdictKind.UNKNOWN),
        "turned_right": len(effect.turned_right),
        "turned_wrong": len(effect.turned_wrong),
        "still_wrong": len(effect.still_wrong),
        "still_right": len(effect.still_right),
        "unknown": len(effect.unknown),
    }
