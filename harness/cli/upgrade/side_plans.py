"""The plans of both sides, and a run for each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.artifacts import distributions
from harness.cli import engine_run
from harness.cli.open_run import Resources
from harness.cli.upgrade.sides import Side
from harness.comparison.result import ComparedSide
from harness.formats.api import TABLE_VERSION
from harness.plan import Profile, Writer
from harness.plan.distribution_support import TABLE_VERSIONS
from harness.plan.handover import handovers
from harness.run import load_run, pipeline, run_folder
from harness.run.run_log import run_log
from harness.scenario.cells import Plan
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
        return cls(engine_run.new_folder(resources.cache, FOLDER), resources)

    def side(self, name: str, plan: Plan, folder_name: str) -> ComparedSide:
        """Carry out a plan: write, ask and judge what is not known yet."""
        folder = self.path / folder_name
        run_folder.make(folder)
        work = self.resources.work(folder)
        with run_folder.locked(folder), run_log(folder):
            live = pipeline.live_verdicts(plan, work)
            engine_run.ask(plan, work, live)
            pipeline.judge_twice(plan, work, live)
        return ComparedSide(name, load_run.load(folder))
