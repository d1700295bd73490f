"""The states on the way of a rollout, each done and held against what there was before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from harness.artifacts import distributions
from harness.cli.upgrade.rollout_file import PlannedRollout
from harness.cli.upgrade.side_plans import ChangeProfile, MakePlan, writers_of
from harness.cli.upgrade.side_runs import UpgradeFolder
from harness.cli.upgrade.sides import Side
from harness.comparison.result import ComparedSide, compare
from harness.comparison.rollout import Changes, Rollout, RolloutState, safe_order
from harness.formats.api import HANDOVER_VERSION
from harness.formats.hudi import settings as hudi_settings
from harness.plan import Profile, Writer
from harness.plan.constraints import TABLE_VERSION
from harness.plan.handover import handovers
from harness.plan.writer_support import TABLE_VERSIONS
from harness.scenario.cells import Plan
from harness.scenario.definition import Scenario


@dataclass(slots=True)
class RolloutTrial:
    """What was judged of a rollout so far."""

    planned: PlannedRollout
    make: MakePlan
    folder: UpgradeFolder
    before: ComparedSide
    known: dict[Changes, RolloutState] = field(default_factory=dict)

    def state(self, made: Changes) -> RolloutState:
        """Return the state after some changes; each is judged once."""
        if made not in self.known:
            self.known[made] = self._judged(made)
        return self.known[made]

    def _judged(self, made: Changes) -> RolloutState:
        name, number = self.planned.name(made), "-".join(map(str, sorted(made)))
        then = self.planned.after(made)
        plan = self.make(_gone_on_with(self.planned.now, then))
        side = ComparedSide(name, self.folder.run(plan, f"after-{number}"))
        found = compare(self.before, side, self.planned.readers(made))
        plan = self.make(_gone_back(self.planned.now, then))
        side = ComparedSide(f"back from {name}", self.folder.run(plan, f"back-{number}"))
        state = RolloutState(made, name, found, compare(self.before, side, {}))
        version = _version_before(self.planned.now, then)
        if state.returns or not version:
            return state
        plan = _since_handover(self.make(_downgraded(self.planned.now, then, version)))
        told = f"back from {name} by a downgrade to table version {version}"
        side = ComparedSide(told, self.folder.run(plan, f"downgraded-{number}"))
        return replace(state, downgraded=compare(self.before, side, {}))


def judged(planned: PlannedRollout, make: MakePlan, folder: UpgradeFolder) -> Rollout:
    """Judge every state on the way, and look for an order in which each is safe."""
    plan = make(lambda profile, _: planned.now.of(profile))
    before = ComparedSide("what there is now", folder.run(plan, "now"))
    trial, number = RolloutTrial(planned, make, folder, before), len(planned.changes)
    on_the_way = [frozenset(range(1, at + 1)) for at in range(1, number + 1)]
    states = tuple(map(trial.state, on_the_way))
    order = safe_order(number, lambda made: trial.state(made).safe)
    others = (each for made, each in trial.known.items() if made not in on_the_way)
    return Rollout(states, order, tuple(others))


def _gone_on_with(now: Side, then: Side) -> ChangeProfile:
    """Return the profile of a state: tables of now that its writer goes on with, and its own."""

    def change(profile: Profile, scenarios: Sequence[Scenario]) -> Profile:
        writers = _writers(now, then, scenarios)
        return replace(then.of(profile), writers=tuple(writers))

    return change


def _gone_back(now: Side, then: Side) -> ChangeProfile:
    """Return the profile of the way back: readers of now, and its writer, on what is there then."""

    def change(profile: Profile, scenarios: Sequence[Scenario]) -> Profile:
        there = _writers(now, then, scenarios)
        back = _writers(then, now, scenarios)
        return replace(now.of(profile), writers=_once((*there, *back)))

    return change


def _downgraded(now: Side, then: Side, version: str) -> ChangeProfile:
    """Return the profile of the way back on tables that are brought to an older version first."""

    def change(profile: Profile, scenarios: Sequence[Scenario]) -> Profile:
        old, new = _writer(then), _writer(now)
        old = replace(old, settings={**old.settings, HANDOVER_VERSION: version})
        found = (e for each in scenarios for e in handovers(each, old, new.distribution))
        return replace(now.of(profile), writers=tuple(each.writer for each in found))

    return change


def _version_before(now: Side, then: Side) -> str:
    """Return the table version to go back to; empty where the writer of then makes no other."""
    old, new = _writer(now), _writer(then)
    made, makes = (
        distributions.load(each.distribution).texts_if_any(TABLE_VERSIONS) for each in (old, new)
    )
    before, after = (
        each.settings.get(TABLE_VERSION, *versions[-1:])
        for each, versions in ((old, made), (new, makes))
    )
    possible = hudi_settings.SETTINGS[HANDOVER_VERSION]
    return before if before in possible and before != after else ""


def _since_handover(plan: Plan) -> Plan:
    """Return a plan without the questions about tables that were not handed over yet."""
    since = {each.id: each.writers.count(each.writers[0]) for each in plan.variants}
    return replace(plan, cells=tuple(e for e in plan.cells if e.step >= since[e.variant]))


def _writer(side: Side) -> Writer:
    if side.writer is None:
        raise ValueError("each state of a rollout has a writer")
    return side.writer


def _writers(now: Side, then: Side, scenarios: Iterable[Scenario]) -> Iterator[Writer]:
    old, new = _writer(now), _writer(then)
    if old.distribution == new.distribution:
        yield new
    else:
        yield from writers_of(old, new, scenarios)


def _once(writers: Iterable[Writer]) -> tuple[Writer, ...]:
    found: list[Writer] = []
    for each in writers:
        found += [each] if each not in found else []
    return tuple(found)
