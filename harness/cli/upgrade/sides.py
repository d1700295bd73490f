"""A side of an upgrade: the reader, the writer or the metastore that a profile has instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.artifacts import distributions
from harness.cli import plan_options, runs
from harness.cli.runs import Resources
from harness.comparison.result import ComparedSide
from harness.core.errors import UsageProblem
from harness.core.metastore_choice import MetastoreChoice
from harness.core.runtime_names import PROCESS, given, in_runtime, lock_name
from harness.plan import Profile, ProfileReader, Writer, metastore_support
from harness.plan.constraints import TABLE_VERSION
from harness.plan.handover import handovers
from harness.plan.writer_support import TABLE_VERSIONS
from harness.run import load_run, pipeline, run_folder
from harness.run.run_log import run_log
from harness.scenario.cells import Plan, Reader
from harness.scenario.definition import Scenario

FOLDER: Final = "upgrade"
ChangeProfile = Callable[[Profile, Sequence[Scenario]], Profile]
"""Makes the profile of a side of the one that both share; the scenarios are those selected."""
MakePlan = Callable[[ChangeProfile], Plan]


def old_plan(old: Side, make: MakePlan) -> Plan:
    return make(lambda profile, _: old.of(profile))


def new_plan(old: Side, new: Side, make: MakePlan) -> Plan:
    """Return the plan of the new side.

    A newer writer continues the tables of the old one, and begins tables anew.
    """

    def change(profile: Profile, scenarios: Sequence[Scenario]) -> Profile:
        changed = new.of(profile)
        if not (old.writer and new.writer):
            return changed
        return replace(changed, writers=tuple(writers_of(old.writer, new.writer, scenarios)))

    return make(change)


def writers_of(old: Writer, new: Writer, scenarios: Iterable[Scenario]) -> Iterator[Writer]:
    """Yield the new writer continuing tables of the old one, then beginning tables itself.

    One that writes in turn is in a fleet with the old one: both continue the tables as well.
    """
    begun = replace(old, settings={**old.settings, **_shared(old, new)})
    for scenario in scenarios:  # of a scenario that the profile has not, nothing is written
        writers = [handover.writer for handover in handovers(scenario, begun, new.distribution)]
        yield from writers
        yield from (replace(writer, in_turn=True) for writer in writers[:1] if new.in_turn)
    yield replace(new, in_turn=False)


def _shared(old: Writer, new: Writer) -> Mapping[str, str]:
    """Return the settings of the new writer with which the old one can begin a table."""
    versions = table_versions(old)
    return {
        name: value
        for name, value in new.settings.items()
        if name != TABLE_VERSION or value in versions
    }


def table_versions(writer: Writer) -> Sequence[str]:
    """Return the table versions that a writer can make, its own default last."""
    return distributions.load(writer.distribution).texts_if_any(TABLE_VERSIONS)


@dataclass(frozen=True, slots=True)
class UpgradeFolder:
    """The folder of an upgrade: its runs lie beside each other, and its reports."""

    path: Path
    resources: Resources

    @classmethod
    def new(cls, resources: Resources) -> UpgradeFolder:
        """Make one; who interrupts an upgrade begins again, and no answer is lost."""
        return cls(runs.new_folder(resources, FOLDER), resources)

    def side(self, name: str, plan: Plan, folder_name: str) -> ComparedSide:
        """Carry out a plan: write, ask and judge what is not known yet."""
        folder = self.path / folder_name
        run_folder.make(folder)
        work = self.resources.work(folder)
        with run_folder.locked(folder), run_log(folder):
            live = pipeline.live_verdicts(plan, work)
            runs.ask(plan, work, live)
            pipeline.judge_twice(plan, work, live)
        return ComparedSide(name, load_run.load(folder))


Components = Mapping[str, str]
"""The parts of a side that can be swapped alone, by what people call them."""
_VERSIONED: Final = re.compile(r"(?P<engine>[a-z]+-\d[\w.]*?)(-(?P<library>[a-z]+-\d.*))?")
ENGINE, LIBRARY, RUNTIME = "engine", "library", "runtime"
SETTING: Final = "setting "


@dataclass(frozen=True, slots=True)
class SideBetween:
    """The old side with one component of the new one."""

    component: str
    old: str
    new: str
    side: Side | None
    """None where there is no such side."""
    why_not: str = ""


def sides_between(old: Side, new: Side) -> tuple[SideBetween, ...]:
    """Return each side between two; none where they differ in one component or in none."""
    sides = (*_swapped(old, new), *_with_metastore(old, new))
    return sides if len(sides) > 1 else ()


def _swapped(old: Side, new: Side) -> Iterator[SideBetween]:
    """Yield the old side with each component of the new side's reader or writer."""
    before, after = _components(old), _components(new)
    for name in dict.fromkeys((*before, *after)):
        was, now = before.get(name, ""), after.get(name, "")
        if was != now:
            parts = {**before, name: now}
            distribution = _distribution(parts)
            exists = distributions.exists(distribution)
            side = _with(old, distribution, parts) if exists else None
            why_not = "" if exists else f"there is no {distribution}"
            yield SideBetween(name, was or "none", now or "none", side, why_not)


def _with_metastore(old: Side, new: Side) -> Iterator[SideBetween]:
    if old.metastore != new.metastore:
        swapped = replace(old, metastore=new.metastore)
        yield SideBetween("metastore", str(old.metastore), str(new.metastore), swapped)


def _components(side: Side) -> Components:
    name, settings = "", dict[str, str]()
    if side.readers:
        name, settings = side.readers[0].distribution, dict(side.readers[0].settings)
    elif side.writer:
        name, settings = side.writer.distribution, dict(side.writer.settings)
    match = _VERSIONED.fullmatch(lock_name(name))
    engine, library = (match["engine"], match["library"] or "") if match else (lock_name(name), "")
    prefixed = {f"{SETTING}{key}": value for key, value in settings.items()}
    return {ENGINE: engine, LIBRARY: library, RUNTIME: given(name)} | prefixed


def _distribution(parts: Components) -> str:
    name = "-".join(filter(None, (parts[ENGINE], parts[LIBRARY])))
    return in_runtime(name, parts[RUNTIME] or PROCESS)


def _with(side: Side, distribution: str, parts: Components) -> Side:
    settings = {
        name.removeprefix(SETTING): value
        for name, value in parts.items()
        if name.startswith(SETTING) and value
    }
    if side.readers:
        return replace(side, readers=(Reader(distribution, tuple(settings.items())),))
    return replace(side, writer=Writer(distribution, settings))


READER: Final = "reader"
WRITER: Final = "writer"
METASTORE: Final = "metastore"
ROLES: Final = (READER, WRITER)
"""What a distribution that can be both is asked to be."""


@dataclass(frozen=True, slots=True)
class Side:
    """What is on a side; what it does not name is as the profile says."""

    readers: tuple[Reader, ...] = ()
    writer: Writer | None = None
    metastore: MetastoreChoice | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that it names."""
        parts = (READER, self.readers), (WRITER, self.writer), (METASTORE, self.metastore)
        return tuple(name for name, part in parts if part)

    def of(self, profile: Profile) -> Profile:
        """Return a profile with what is on this side."""
        return replace(
            profile,
            readers=tuple(map(ProfileReader, self.readers)) or profile.readers,
            writers=(self.writer,) if self.writer else profile.writers,
            metastore=self.metastore or profile.metastore,
        )

    def __str__(self) -> str:
        writer = self.writer.distribution if self.writer else ""
        names = (", ".join(map(str, self.readers)), writer, str(self.metastore or ""))
        return " with ".join(filter(None, names))


def side(names: Sequence[str], role: str = READER) -> Side:
    """Return the side that names make up: a metastore by its name, anything else in the role.

    Raises:
        UsageProblem: one is none, or two are the same part of a side.

    """
    whole = Side()
    for name in names:
        part = _side(name, role)
        if twice := set(whole.parts) & set(part.parts):
            raise UsageProblem(f"{', '.join(names)}: a side has one {twice.pop()}; name one")
        whole = Side(
            whole.readers or part.readers,
            whole.writer or part.writer,
            whole.metastore or part.metastore,
        )
    return whole


def _side(name: str, role: str) -> Side:
    if name in metastore_support.names():
        return Side(metastore=plan_options.existing_metastore(name))
    if role == WRITER:
        return Side(writer=plan_options.existing_writer(name))
    return Side(readers=(plan_options.existing_reader(name),))


def check(old: Side, new: Side) -> None:
    """Check that two sides can be compared.

    Raises:
        UsageProblem: they do not name the same parts.

    """
    if old.parts != new.parts:
        was, now = (" and ".join(side.parts) for side in (old, new))
        problem = f"the old side names {was}, the new one {now}"
        raise UsageProblem(f"{problem}; name the same parts on both")


def registered_first(old: Side, new: Side) -> Side:
    """Return the new side with its metastore on the database that the old one's has made.

    So it is in an upgrade: the tables are there already. Where no tool upgrades the database, the
    tables are registered anew.
    """
    if not (old.metastore and new.metastore) or old.metastore == new.metastore:
        return new
    upgraded = replace(new.metastore, upgraded_from=old.metastore.distribution)
    return new if metastore_support.not_upgraded(upgraded) else replace(new, metastore=upgraded)
