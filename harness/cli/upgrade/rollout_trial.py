"""The states on the way of a rollout, each done and held against what there was before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from harness.cli.upgrade.rollout_file import PlannedRollout
from harness.cli.upgrade.side_plans import ChangeProfile, MakePlan, writers_of
from harness.cli.upgrade.side_runs import UpgradeFolder
from harness.cli.upgrade.sides import Side
from harness.comparison.result import ComparedSide, compare
from harness.comparison.rollout import Changes, Rollout, RolloutState, safe_order
from harness.plan import Profile, Writer
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
        return RolloutState(made, name, found, compare(self.before, side, {}))


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
        writers = _writers(now.writer, then.writer, scenarios)
        return replace(then.of(profile), writers=tuple(writers))

    return change


def _gone_back(now: Side, then: Side) -> ChangeProfile:
    """Return the profile of the way back: readers of now, and its writer, on what is there then."""

    def change(profile: Profile, scenarios: Sequence[Scenario]) -> Profile:
        there = _writers(now.writer, then.writer, scenarios)
        back = _writers(then.writer, now.writer, scenarios)
        return replace(now.of(profile), writers=_once((*there, *back)))

    return change


def _writers(
    old: Writer | None, new: Writer | None, scenarios: Iterable[Scenario]
) -> Iterator[Writer]:
    if old is None or new is None:
        raise ValueError("each state of a rollout has a writer")
    if old.distribution == new.distribution:
        yield new
    else:
        yield from writers_of(old, new, scenarios)


def _once(writers: Iterable[Writer]) -> tuple[Writer, ...]:
    found: list[Writer] = []
    for each in writers:
        found += [each] if each not in found else []
    return tuple(found)
