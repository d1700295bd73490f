"""The sides of an upgrade, their plans, and what lies between them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.artifacts import distributions
from harness.cli import plan_options, runs
from harness.cli.named_parts import READER, WRITER
from harness.cli.runs import Resources
from harness.comparison.regressions import Swap
from harness.comparison.result import ComparedSide
from harness.core.errors import UsageProblem
from harness.core.runtime_names import PROCESS, MetastoreChoice, given, in_runtime, lock_name
from harness.core.setting_values import TABLE_VERSION
from harness.plan import Parts, Profile, ProfileReader, Writer, distribution_support
from harness.plan import select_scenarios as selection
from harness.plan.distribution_support import TABLE_VERSIONS
from harness.plan.product import handovers
from harness.run import load_run, pipeline, run_folder
from harness.run.run_log import run_log
from harness.scenario.cells import Plan, Reader
from harness.scenario.definition import Scenario

ChangeProfile = Callable[[Profile, Sequence[Scenario]], Profile]
"""Makes the profile of a side of the one that both share; the scenarios are those selected."""
MakePlan = Callable[[ChangeProfile], Plan]
WritersOf = Callable[[Sequence[Scenario]], Iterable[Writer]]


def new_plan(old: Side, new: Side, make: MakePlan) -> Plan:
    """Return the plan of the new side; a newer writer also continues the tables of the old one."""
    old_writer, new_writer = old.writer, new.writer
    if not (old_writer and new_writer):
        return make(lambda profile, _: new.apply(profile))
    return make(new.with_writers(lambda scenarios: writers_of(old_writer, new_writer, scenarios)))


def writers_of(old: Writer, new: Writer, scenarios: Iterable[Scenario]) -> Iterator[Writer]:
    """Yield the new writer continuing tables of the old one, then beginning tables itself.

    One that writes in turn is in a fleet with the old one: both continue the tables as well.
    """
    versions = table_versions(old)
    shared = {  # the settings of the new writer with which the old one can begin a table
        name: value
        for name, value in new.settings.items()
        if name != TABLE_VERSION or value in versions
    }
    begun = replace(old, settings={**old.settings, **shared})
    for scenario in scenarios:
        writers = [handover.writer for handover in handovers(scenario, begun, new.distribution)]
        yield from writers
        yield from (replace(writer, in_turn=True) for writer in writers[:1] if new.in_turn)
    yield replace(new, in_turn=False)


def table_versions(writer: Writer) -> Sequence[str]:
    """Return the table versions that a writer can make, its own default last."""
    return distributions.load(writer.distribution).texts_if_any(TABLE_VERSIONS)


@dataclass(frozen=True, slots=True)
class UpgradeFolder:
    """The folder of an upgrade: its runs lie beside each other, and its reports."""

    path: Path
    resources: Resources
    make: MakePlan

    def side(self, name: str, plan: Plan, folder_name: str) -> ComparedSide:
        """Carry out a plan: write, ask and judge what is not known yet."""
        folder = self.path / folder_name
        run_folder.make(folder)
        work = self.resources.work(folder)
        with run_folder.locked(folder), run_log(folder):
            judge = pipeline.judge_of(plan, work)
            runs.ask(plan, work, judge)
            pipeline.judge_twice(plan, work, judge)
        return ComparedSide(name, load_run.load(folder))


Components = Mapping[str, str]
"""The parts of a side that can be swapped alone, by name."""
_VERSIONED: Final = re.compile(r"(?P<engine>[a-z]+-\d[\w.]*?)(-(?P<library>[a-z]+-\d.*))?")
ENGINE, LIBRARY, RUNTIME = "engine", "library", "runtime"
SETTING: Final = "setting "
METASTORE: Final = "metastore"


@dataclass(frozen=True, slots=True)
class Side:
    """What is on a side; what it does not name is as the profile says."""

    readers: tuple[Reader, ...] = ()
    writer: Writer | None = None
    metastore: MetastoreChoice | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        parts = (READER, self.readers), (WRITER, self.writer), (METASTORE, self.metastore)
        return tuple(name for name, part in parts if part)

    def apply(self, profile: Profile) -> Profile:
        return replace(
            profile,
            readers=tuple(map(ProfileReader, self.readers)) or profile.readers,
            writers=(self.writer,) if self.writer else profile.writers,
            metastore=self.metastore or profile.metastore,
        )

    def with_writers(self, writers: WritersOf) -> ChangeProfile:
        """Return what makes a profile one with this side, and with writers for its scenarios."""
        return lambda profile, chosen: replace(self.apply(profile), writers=tuple(writers(chosen)))

    def __str__(self) -> str:
        writer = self.writer.distribution if self.writer else ""
        names = (", ".join(map(str, self.readers)), writer, str(self.metastore or ""))
        return " with ".join(filter(None, names))


def parts_of(sides: Iterable[Side]) -> Parts:
    readers = {reader: ProfileReader(reader) for side in sides for reader in side.readers}
    writers = {str(side.writer): side.writer for side in sides if side.writer}
    return Parts((), tuple(writers.values()), tuple(readers.values()))


def sides_between(old: Side, new: Side) -> tuple[tuple[Swap, Side | None], ...]:
    """Return each side between two; none where they differ in one component or in none.

    There may be no such side: the swap says why.
    """
    sides = list[tuple[Swap, Side | None]]()
    before, after = _components(old), _components(new)
    for name in dict.fromkeys((*before, *after)):
        was, now = before.get(name, ""), after.get(name, "")
        if was != now:
            side, why_not = _with_components(old, {**before, name: now})
            swap = Swap(name, was or "none", now or "none", why_not=why_not)
            sides.append((swap, side))
    if old.metastore != new.metastore:
        swap = Swap(METASTORE, str(old.metastore), str(new.metastore))
        sides.append((swap, replace(old, metastore=new.metastore)))
    return tuple(sides) if len(sides) > 1 else ()


def _components(side: Side) -> Components:
    part = side.readers[0] if side.readers else side.writer
    name, settings = (part.distribution, dict(part.settings)) if part else ("", {})
    match = _VERSIONED.fullmatch(lock_name(name))
    engine, library = (match["engine"], match["library"] or "") if match else (lock_name(name), "")
    prefixed = {f"{SETTING}{key}": value for key, value in settings.items()}
    return {ENGINE: engine, LIBRARY: library, RUNTIME: given(name)} | prefixed


def _with_components(side: Side, components: Components) -> tuple[Side | None, str]:
    """Return a side of these components; None and the reason where there is no such engine."""
    name = "-".join(filter(None, (components[ENGINE], components[LIBRARY])))
    distribution = in_runtime(name, components[RUNTIME] or PROCESS)
    if not distributions.exists(distribution):
        return None, f"there is no {distribution}"
    settings = {
        name.removeprefix(SETTING): value
        for name, value in components.items()
        if name.startswith(SETTING) and value
    }
    if side.readers:
        return replace(side, readers=(Reader(distribution, tuple(settings.items())),)), ""
    return replace(side, writer=Writer(distribution, settings)), ""


def side(names: Sequence[str], role: str = READER) -> Side:
    """Return the side of these names: a metastore by its name, anything else in the role."""
    whole = Side()
    for name in names:
        if name in distribution_support.metastores():
            part = Side(metastore=plan_options.existing_metastore(name))
        elif role == WRITER:
            part = Side(writer=plan_options.existing_writer(name))
        else:
            part = Side(readers=(plan_options.existing_reader(name),))
        if twice := set(whole.parts) & set(part.parts):
            raise UsageProblem(f"{', '.join(names)}: a side has one {twice.pop()}; name one")
        whole = Side(
            whole.readers or part.readers,
            whole.writer or part.writer,
            whole.metastore or part.metastore,
        )
    return whole


def check(old: Side, new: Side) -> None:
    if old.parts != new.parts:
        was, now = (" and ".join(side.parts) for side in (old, new))
        problem = f"the old side names {was}, the new one {now}"
        raise UsageProblem(f"{problem}; name the same parts on both")
    if old == new:
        problem = f"--from and --to are the same, {old}: nothing can change"
        raise UsageProblem(f"{problem}; name another version, or a setting: '{{setting=value}}'")


def with_metastores(old: Side, new: Side, usual: MetastoreChoice) -> tuple[Side, Side]:
    """Return the sides with a metastore each where the usual one is too old for one's reader."""
    needed = distribution_support.newer_metastore
    newer = ["".join(needed(r, usual) for r in side.readers[:1]) for side in (old, new)]
    if old.metastore or not any(newer):
        return old, new
    first, second = (MetastoreChoice(name) if name else usual for name in newer)
    return replace(old, metastore=first), replace(new, metastore=second)


def check_writers(every: Iterable[Side]) -> None:
    """Check that there is a format that all writers write, so that tables can be gone on with."""
    names = {side.writer.distribution for side in every if side.writer}
    written = {
        name: distribution_support.formats_written(distributions.load(name)) for name in names
    }
    if written and not set.intersection(*map(set, written.values())):
        texts = (f"{name} writes {', '.join(formats)}" for name, formats in sorted(written.items()))
        raise UsageProblem(f"no format is written by all: {'; '.join(texts)}; name writers of one")


def unread(
    every: Sequence[Side], names: Iterable[str], *, stated: bool
) -> tuple[Mapping[str, str], frozenset[str]]:
    """Return of formats that a side does not read why, and those that nobody reads on some side.

    A reader that never reads a format loses nothing; if no reader does, that counts where the
    format is `stated`.
    """
    reasons, unasked = dict[str, str](), set[str]()
    for name in names:
        of_sides = [[distribution_support.cannot(r, name) for r in s.readers] for s in every]
        lost = [why for whys in zip(*of_sides, strict=True) if not all(whys) for why in whys]
        if stated and all(map(all, of_sides)):
            lost = [why for whys in of_sides for why in whys]
        if any(lost):
            reasons[name] = "; ".join(dict.fromkeys(filter(None, lost)))
            if any(all(whys) for whys in of_sides):
                unasked.add(name)
    return reasons, frozenset(unasked)


def lacking(every: Sequence[Side], names: Iterable[str]) -> Mapping[str, str]:
    """Return of formats that not every side reads, or writes, why; empty if none does.

    What no side has to do with cannot change by the upgrade.
    """
    reasons = dict[str, str]()
    for name in names:
        whys = [distribution_support.cannot(r, name) for side in every for r in side.readers]
        for writer in filter(None, (side.writer for side in every)):
            able = selection.writes(writer, name)
            whys.append("" if able else f"{writer.distribution} writes no {name} tables")
        if any(whys):
            reasons[name] = "" if all(whys) else "; ".join(dict.fromkeys(filter(None, whys)))
    return reasons


def registered_first(old: Side, new: Side) -> Side:
    """Return the new side with its metastore on the upgraded database of the old, if a tool can."""
    if not (old.metastore and new.metastore) or old.metastore == new.metastore:
        return new
    upgraded = replace(new.metastore, upgraded_from=old.metastore.distribution)
    return new if distribution_support.not_upgraded(upgraded) else replace(new, metastore=upgraded)
