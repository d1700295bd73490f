"""`harness remedy`: which settings of a reader make a wrong check right, and which they break."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from rich.console import Console

from harness import engines
from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.cli import options, runs
from harness.cli.explain.recorded_cell import find
from harness.cli.output import Output
from harness.cli.runs import Resources
from harness.comparison.cell_pairs import VerdictChange, change
from harness.core.errors import HarnessError, UsageProblem
from harness.core.grouping import grouped
from harness.core.records import QuestionKey, Verdict, VerdictKind
from harness.core.runtime_names import ENDPOINT, given
from harness.core.texts import counted
from harness.plan import distribution_support
from harness.reports import lines
from harness.reports.document import Line, table
from harness.reports.findings import FINDINGS
from harness.reports.lines import say
from harness.reports.words import VERDICTS
from harness.run import load_run, plan_record, run_folder
from harness.scenario.cells import Cell, Plan, Reader, Variant, parse_reader

MOST: Final = 6
"""So many checks that turned wrong are named."""
TOGETHER: Final = 2
"""With six settings, all combinations would be hundreds; nobody asked for more at once."""
LEFT_OUT: Final = ""
"""Stands for a setting that is not named: the engine's default."""
TURNED_WRONG: Final = "turned_wrong"
TURNS: Final = ("turned_right", TURNED_WRONG, "still_wrong", "still_right", "unknown", "open")
TURN_OF: Final = {
    VerdictChange.FIXED: "turned_right",
    VerdictChange.REGRESSED: TURNED_WRONG,
    VerdictChange.REGRESSED_LOUDLY: TURNED_WRONG,
    VerdictChange.RIGHT_AS_BEFORE: "still_right",
    VerdictChange.OPEN_NOW: "open",
    VerdictChange.OPEN_AS_BEFORE: "open",
    VerdictChange.NO_LONGER_OPEN: "turned_right",
    VerdictChange.NEW: "unknown",
    VerdictChange.UNKNOWN: "unknown",
}
"""The changes between wrong answers and errors are none of these: both are wrong still."""


@options.with_output
def remedy(
    output: Output,
    case: options.CaseArgument,
    run_dir: options.OldRunOption = run_folder.LATEST_RUN,
    offline: options.OfflineOption = False,
) -> int:
    """Try other settings of a reader: which make the check right, and which others they break."""
    folder = run_folder.existing(run_dir)
    recorded = find(folder, case)
    cell, verdict, variant = recorded.cell, recorded.verdict, recorded.case.variant
    if verdict is None:
        raise UsageProblem(f"{cell.case} was never judged; run harness judge")
    if not verdict.verdict.is_bad:
        state = f"{cell.case} is {verdict.verdict}"
        raise UsageProblem(f"{state}: there is nothing to remedy; name a check that is wrong")
    reader, info = parse_reader(cell.reader), load_run.read_info(folder)
    if given(reader.distribution) == ENDPOINT:
        instead = "ask the version that it is like (harness read --reader VERSION), and remedy that"
        raise UsageProblem(f"{reader} runs already, with settings of its own: {instead}")
    usable = alternatives(reader, variant.format)
    variants = plan_record.plan_of(info).variants
    chosen = [other for other in variants if other.scenario.name == variant.scenario.name]
    ids = {other.id for other in chosen}
    cells = (c for c in info.cells if c.variant in ids and c.reader == cell.reader)
    plan = plan_of(chosen, cells, (reader, *usable))
    resources = Resources(output, Cache.default(offline=offline))
    verdicts = runs.execute(replace(plan, metastore=info.through), resources).verdicts
    before = {verdict.question: verdict for verdict in verdicts if verdict.reader == str(reader)}
    effects = [effect(reader, other, cell.question, verdicts, before) for other in usable]
    print_effects(effects, output.out)
    if not usable:
        say(output.out, f"{reader} has no other setting for {variant.format} tables")
    facts = [effect.facts for effect in effects]
    unknown = str(VerdictKind.UNKNOWN)
    lacking = any(fact["unknown"] or fact["verdict"] == unknown for fact in facts)
    status = HarnessError.exit_status if lacking else 0
    output.end(status=status, case=cell.case, effects=facts)
    return status


@dataclass(frozen=True, slots=True)
class Effect:
    """What other settings of a reader do to a check, and to the others of its scenario."""

    reader: Reader
    changed: str
    """The settings that are not as before."""
    verdict: Verdict | None
    """That of the check itself; None where nothing was asked."""
    turns: Mapping[str, Sequence[Verdict]]
    """By `TURNS`, the verdicts of the other checks."""

    @property
    def heals(self) -> bool:
        return self.verdict is not None and self.verdict.verdict is VerdictKind.CORRECT

    @property
    def facts(self) -> dict[str, str | int]:
        verdict = self.verdict.verdict if self.verdict else VerdictKind.UNKNOWN
        numbers = {name: len(self.turns.get(name, ())) for name in TURNS}
        return {"reader": str(self.reader), "verdict": str(verdict), **numbers}


def effect(
    reader: Reader,
    other: Reader,
    question: QuestionKey,
    verdicts: Iterable[Verdict],
    before: Mapping[QuestionKey, Verdict],
) -> Effect:
    """Compare the verdicts of `other` with those of the reader before, by their questions."""
    after = {verdict.question: verdict for verdict in verdicts if verdict.reader == str(other)}
    turns = grouped(
        (TURN_OF.get(change(before.get(at), now), "still_wrong"), now)
        for at, now in after.items()
        if at != question
    )
    return Effect(other, ", ".join(changes(reader, other)), after.get(question), turns)


def print_effects(effects: Iterable[Effect], console: Console) -> None:
    """Print a line for each combination of settings, then which help, and what they cost."""

    def harm(effect: Effect) -> tuple[bool, int, int]:
        numbers = effect.facts
        return not effect.heals, int(numbers[TURNED_WRONG]), int(numbers["still_wrong"])

    effects = sorted(effects, key=harm)
    first, *others = (name.replace("_", " ") for name in TURNS)
    heads = "changed setting", "this check", f"others: {first}", *others
    rows = list[list[str | Line]]()
    for effect in effects:
        word = Line(_word(effect.verdict), tone=VerdictKind.CORRECT if effect.heals else None)
        numbers = (str(len(effect.turns.get(name, ()))) for name in TURNS)
        rows.append([effect.changed, word, *numbers])
    lines.render([table(heads, rows)], console)
    healing = [effect for effect in effects if effect.heals]
    if not healing:
        say(console, "no setting turns this check right", "bold")
    for effect in healing:
        wrong, unknown = effect.turns.get(TURNED_WRONG, ()), effect.turns.get("unknown", ())
        cost = "but these turn wrong:" if wrong else "nothing else turns wrong"
        say(console, f"{effect.changed}: this check is right; {cost}", "bold")
        for wrong_verdict in wrong[:MOST]:
            say(console, f"  {wrong_verdict.case}: {_word(wrong_verdict)}")
        if (left := len(wrong) - MOST) > 0:
            say(console, f"  … and {left} more")
        if unknown:
            say(console, f"  nothing is known about {counted(len(unknown), 'check')}")


def _word(verdict: Verdict | None) -> str:
    if verdict is None:
        return "not asked"
    kinds = ", ".join(FINDINGS[finding.kind].label for finding in verdict.findings)
    label = VERDICTS[verdict.verdict].label
    return f"{label}: {kinds}" if kinds else label


def alternatives(reader: Reader, format_name: str) -> list[Reader]:
    """Return the reader with other settings, as it can be asked about a format's tables.

    At most `TOGETHER` settings are changed. Of combinations that come to the same, one left out and
    one with its default, the first is returned.
    """
    usable: dict[object, Reader] = {distribution_support.settings_in_full(reader): reader}
    known = engines.load(distributions.load(reader.distribution).engine).settings
    for other in others(reader, known):
        few = len(changes(reader, other)) <= TOGETHER
        if few and not distribution_support.cannot(other, format_name):
            usable.setdefault(distribution_support.settings_in_full(other), other)
    return [other for other in usable.values() if other != reader]


def others(reader: Reader, known: Mapping[str, Sequence[str]]) -> list[Reader]:
    """Return every other combination, those with the fewest changes first; left out is a value."""
    combinations = []
    for values in product(*((*values, LEFT_OUT) for values in known.values())):
        settings = ((name, value) for name, value in zip(known, values, strict=True) if value)
        combinations.append(replace(reader, settings=tuple(settings)))
    changed = filter(lambda other: changes(reader, other), combinations)
    return sorted(changed, key=lambda other: len(changes(reader, other)))


def changes(before: Reader, after: Reader) -> tuple[str, ...]:
    """Return the settings that differ.

    >>> changes(Reader("r", (("path", "fetch"),)), Reader("r", (("schema-on-read", "on"),)))
    ('path left out', 'schema-on-read=on')
    """
    was, now = dict(before.settings), dict(after.settings)
    return tuple(
        f"{name}={now[name]}" if name in now else f"{name} left out"
        for name in dict.fromkeys((*was, *now))
        if was.get(name) != now.get(name)
    )


def plan_of(variants: Sequence[Variant], cells: Iterable[Cell], readers: Sequence[Reader]) -> Plan:
    """Return the plan that asks every reader what one of them was asked, as far as it can be."""
    formats = {variant.id: variant.format for variant in variants}
    asked = tuple(
        replace(cell, reader=str(reader))
        for cell in cells
        for reader in readers
        if not distribution_support.cannot(reader, formats[cell.variant])
    )
    needed = {cell.variant for cell in asked}
    chosen = tuple(variant for variant in variants if variant.id in needed)
    return Plan("remedy", chosen, tuple(readers), asked)
