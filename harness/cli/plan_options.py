"""From what people say on the command line to a plan whose engines and settings exist."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness import formats
from harness.artifacts import distributions
from harness.cli import named_parts
from harness.cli.named_parts import NONE, NamedParts
from harness.cli.options import QUICK_START
from harness.core import yaml_reader as scenario_text
from harness.core.counting import counted
from harness.core.errors import Fault, UsageProblem
from harness.core.metastore_choice import MetastoreChoice
from harness.formats.api import TABLE_VERSION
from harness.plan import (
    Profile,
    choose,
    controls,
    custom_distributions,
    distribution_support,
    estimate,
    in_runtime,
    in_warehouse,
    load_profiles,
    only,
    parts,
    plan,
    profiles_file,
    select,
    separation,
    shipped,
)
from harness.plan.profile import named as is_named
from harness.plan.profile import raise_if_any
from harness.reports import summary
from harness.scenario.cells import Cell, Excluded, Plan, Variant
from harness.scenario.definition import Scenario
from harness.scenario.notices import notices

MINUTE: Final = 60
CASES_BYTES: Final = 1 << 26
"""A file of cases is no longer; all 45,000 of the full profile take 7 MB."""
OTHERS: Final = "--format, --writer and --reader name others"
SHOWN: Final = 3
"""So many reasons are told in a message."""


def _empty_plan(excluded: tuple[Excluded, ...]) -> UsageProblem:
    left_out = [f"{exclusion.what}: {exclusion.why}" for exclusion in excluded[:SHOWN]]
    why = "; ".join(left_out) or "the scenarios ask nothing"
    left = len(excluded) - SHOWN
    more = f"; {counted(left, 'more reason')}: harness plan lists all" if left > 0 else ""
    return UsageProblem(f"nothing would be asked: {why}{more}; {OTHERS}")


@dataclass(frozen=True, slots=True)
class PlanOverrides:
    """What is said of all engines, whatever a profile says; empty: as it says."""

    runtime: str = ""
    """How they are run."""
    warehouse: str = ""
    """Where readers find their tables."""
    metastore: str = ""
    """Through which one readers ask."""

    def of(self, profile: Profile) -> Profile:
        """Return a profile of which this is said.

        Raises:
            UsageProblem: there is no such metastore, or what is said does not go together.

        """
        result = in_runtime(profile, self.runtime) if self.runtime else profile
        result = in_warehouse(result, self.warehouse) if self.warehouse else result
        if not self.metastore:
            return result
        distribution_support.check_metastore(self.metastore)
        return replace(result, metastore=MetastoreChoice(self.metastore))


AS_IT_SAYS: Final = PlanOverrides()


def make(
    paths: Sequence[Path] | None,
    profile: str | None,
    pattern: str,
    cases: Path | None = None,
    where: PlanOverrides = AS_IT_SAYS,
    named: NamedParts = NONE,
    change: Callable[[Profile, Sequence[Scenario]], Profile] = lambda profile, _: profile,
) -> Plan:
    """Plan a profile, on its own scenarios or on those of `paths`.

    Args:
        paths: scenario files and folders; None for the profile's own.
        profile: its name; None for the quick start, or where parts are named for just these.
        pattern: only cells whose case contains it.
        cases: a file that names the only cells wanted, a case on each line.
        where: what is said of all engines.
        named: formats, writers and readers in the place of the profile's.
        change: what else the profile is to have otherwise, given the scenarios.

    Raises:
        UsageProblem: a scenario, profile, writer, reader, setting or case that does not exist, or
            parts that do not fit together.

    """
    scenarios, result = choose(paths or (), profile or QUICK_START)
    custom_distributions.register(paths or ())
    named_ones = _with_parts(result, named, scenarios, alone=profile is None)
    result = change(where.of(named_ones), scenarios)
    wrong = (*distribution_support.wrong_writers(result), *_wrong_readers(result))
    raise_if_any((*wrong, *distribution_support.wrong_metastore(result)))
    for name in (format_ for format_ in result.formats if format_ in formats.names()):
        distribution_support.check_format(name)
    parts.check(result)
    known = [formats.load(name) for name in formats.names()]
    makers = distribution_support.makers_of(result)

    def planned(chosen: Sequence[Scenario], of: Profile) -> Plan:
        can = distribution_support.cannot, distribution_support.cannot_show
        return plan(chosen, of, known, makers, *can)

    def controlled(some: Plan) -> Plan:
        plan_controls = partial(planned, [shipped.load_scenario(controls.SCENARIO)])
        return controls.with_controls(some, result, makers, plan_controls)

    made = controlled(planned(scenarios, result))
    if pattern or cases:
        check_asks(made)  # of nothing nothing can be chosen, and that would hide why
    made = controlled(select(made, pattern)) if pattern else made
    return controlled(only(made, _lines(cases))) if cases else made


def _with_parts(
    profile: Profile, named: NamedParts, scenarios: Sequence[Scenario], *, alone: bool
) -> Profile:
    """Return a profile with what was named in the place of its own; `alone`: or of just that."""
    result = named.read()
    if alone and result.named:
        shipped_ones = load_profiles(profiles_file()).values()
        chosen = [
            s
            for s in scenarios
            if any(is_named(s.name, scenario) for scenario in profile.scenarios)
        ]
        return parts.ad_hoc(result, (profile, *shipped_ones), chosen)
    return result.instead(profile)


def check_asks(made: Plan) -> None:
    """Check that anything would be asked; else engines would be fetched and started for nothing.

    Raises:
        UsageProblem: nothing would be.

    """
    if not made.cells:
        raise _empty_plan(made.excluded)


def _wrong_readers(profile: Profile) -> Iterator[Fault]:
    for number, asked in enumerate(profile.readers):
        try:
            named_parts.check(asked.reader)
        except UsageProblem as wrong:
            yield profile.fault(("readers", number), str(wrong))


def _lines(path: Path) -> list[str]:
    """Return the lines of a file that are not blank."""
    content = scenario_text.read(path, CASES_BYTES, "a text file that names cases")
    return [line for text in content.splitlines() if (line := text.strip())]


def show(made: Plan, console: Console, *, cells: bool) -> None:
    """Print what a plan consists of."""
    table = Table("variant", "steps", "cells", box=None, pad_edge=False, header_style="bold")
    counts = Counter(cell.variant for cell in made.cells)
    for variant in made.variants:
        row = str(len(variant.scenario.steps)), str(counts[variant.id])
        table.add_row(Text(variant.id, overflow="fold"), *row)
    console.print(table)
    for line in made.chosen:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    _show_readers(made, console)
    for scenario in {variant.scenario.name: variant.scenario for variant in made.variants}.values():
        for notice in notices(scenario):
            console.print(f"note: {notice}", markup=False, highlight=False, soft_wrap=True)
    for line in _told_apart(made):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    for left in made.excluded:
        console.print(f"left out: {left.what}: {left.why}", markup=False, highlight=False)
    declared = _declared(made)
    for line in _disclaimed(declared.values()):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    for cell in made.cells if cells else ():
        console.print(cell.case, markup=False, highlight=False, soft_wrap=True)
    _show_pairs(made, console)
    asked = replace(made, cells=tuple(cell for cell in made.cells if cell not in declared))
    minutes = estimate(asked) / MINUTE
    console.print(
        f"{counted(len(made.variants), 'variant')}, {counted(len(made.readers), 'reader')}, "
        f"{counted(len(made.cells), 'cell')}; about {minutes:.0f} min when nothing is there yet"
    )


def _show_readers(made: Plan, console: Console) -> None:
    for reader in made.readers:
        console.print(f"reader {reader}", markup=False, highlight=False)
    if not made.metastore.usual:
        console.print(f"through {made.metastore}", markup=False, highlight=False)
    names = dict.fromkeys(reader.distribution for reader in made.readers)
    known = (distributions.load(name).notice for name in names if distributions.exists(name))
    for message in filter(None, known):
        console.print(f"note: {message}", markup=False, highlight=False, soft_wrap=True)


def _told_apart(made: Plan) -> Iterator[str]:
    """Say of each scenario after which steps ways of reading differ; formats alike together.

    One variant of each format stands for all: types and settings change little of it.
    """
    formats_by_lines: dict[tuple[str, tuple[str, ...]], dict[str, None]] = {}
    for variant in {(v.scenario.name, v.format): v for v in reversed(made.variants)}.values():
        layout = formats.load(variant.format).file_layout(variant.settings)
        aparts = separation.separation(variant.scenario, layout)
        text_lines = tuple(separation.lines(aparts))
        formats_by_lines.setdefault((variant.scenario.name, text_lines), {})[variant.format] = None
    if formats_by_lines:
        yield "ways of reading that show the same whole table (=) and others (|):"
    for (name, lines), where in sorted(formats_by_lines.items()):
        yield f"  {name} ({', '.join(sorted(where))}), after"
        yield from (f"    {line}" for line in lines)


def _declared(made: Plan) -> dict[Cell, str]:
    """Return the cells that their reader is declared not to support, each with the declaration."""
    of = {variant.id: (variant.format, _table_version(variant)) for variant in made.variants}
    lines = (
        (cell, distribution_support.declared(cell.reader, *of[cell.variant])) for cell in made.cells
    )
    return {cell: why for cell, why in lines if why}


def _disclaimed(declared: Iterable[str]) -> Iterator[str]:
    """Yield how many cells are declared unsupported, by what is declared."""
    result = Counter(declared)
    if result:
        cells = counted(result.total(), "cell")
        probe = "of each reader, format and version one is sent, and the others if it is answered"
        yield f"declared unsupported, as far as a plan tells: {cells}; {probe}"
    for why, number in result.items():
        yield f"  {counted(number, 'cell')}: {why}"


def _table_version(variant: Variant) -> str:
    """Return the version of a variant's table; empty where several writers decide it."""
    if len(set(variant.writers)) > 1:
        return ""
    writer = distributions.load(variant.writers[0])
    makes = writer.texts_if_any(distribution_support.TABLE_VERSIONS)
    return variant.settings.get(TABLE_VERSION, makes[-1] if makes else "")


def _show_pairs(made: Plan, console: Console) -> None:
    for covered in made.pairs:
        axes = "; ".join(f"{name}: {', '.join(values)}" for name, values in covered.axes.items())
        every = counted(covered.combinations, "variant")
        line = f"pairs of {covered.scenario}: {covered.variants} of {every}"
        console.print(f"{line} cover all {covered.covered} ({axes})", markup=False, highlight=False)
    for pair, scenarios in summary.impossible_pairs(made.pairs):
        where = ", ".join(scenarios)
        line = f"pair not covered: {pair.what}: {pair.why} ({where})"
        console.print(line, markup=False, highlight=False)
    if message := summary.covered_pairs(made.pairs):
        console.print(message, markup=False, highlight=False)
    if made.partly:
        console.print(f"{summary.PARTLY}:", soft_wrap=True)
    for line in summary.partly_asked(made.partly):
        console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
