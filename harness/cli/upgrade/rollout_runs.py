"""The states on the way of a rollout, each carried out and compared with what there was before."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial, reduce
from pathlib import Path
from typing import Annotated

from pydantic import Field

from harness.artifacts.distribution import NonEmptyText
from harness.cli import plan_options
from harness.cli.upgrade.sides import Side, UpgradeFolder, table_versions, writers_of
from harness.comparison.result import Changes, Rollout, RolloutState, compare, safe_order
from harness.core import yaml_reader
from harness.core.errors import UsageProblem
from harness.core.problems import Problems, one_of
from harness.core.runtime_names import MetastoreChoice
from harness.core.setting_values import HANDOVER_VERSION, TABLE_VERSION
from harness.core.yaml_reader import load_yaml
from harness.formats.hudi import settings as hudi_settings
from harness.plan import Writer
from harness.plan.product import handovers
from harness.scenario.definition import Scenario


@dataclass(frozen=True, slots=True)
class _Now:
    """What there is before the first change."""

    writer: NonEmptyText
    readers: Annotated[tuple[NonEmptyText, ...], Field(min_length=1)]
    metastore: str = ""


@dataclass(frozen=True, slots=True)
class _Change:
    """One change; what it does not name stays."""

    name: NonEmptyText
    writer: str = ""
    readers: dict[NonEmptyText, NonEmptyText] = field(default_factory=dict)
    """What takes the place of each reader."""
    metastore: str = ""


@dataclass(frozen=True, slots=True)
class _RolloutForm:
    now: _Now
    steps: Annotated[tuple[_Change, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class PlannedRollout:
    """What there is now, and what is to be changed."""

    now: Side
    changes: tuple[_Change, ...]

    @property
    def sides(self) -> tuple[Side, ...]:
        """What there is now, and after so many changes as there are."""
        return tuple(self.after(range(1, n + 1)) for n in range(len(self.changes) + 1))

    def name(self, made: Iterable[int]) -> str:
        """Return a name for the state after some changes: in their order, the last one's."""
        numbers = sorted(made)
        names = [self.changes[number - 1].name for number in numbers]
        on_the_way = numbers == [*range(1, len(numbers) + 1)]
        return names[-1] if on_the_way else f"{' and '.join(names)} alone"

    def after(self, made: Iterable[int]) -> Side:
        """Return what there is after some changes; of two about the same part, the later counts."""
        return reduce(_changed, (self.changes[number - 1] for number in sorted(made)), self.now)


def read(file: Path) -> PlannedRollout:
    """Read a rollout; each problem is reported with its line."""
    text = yaml_reader.read(file, yaml_reader.MAX_BYTES, "a rollout")
    form, document = load_yaml(_RolloutForm, text, str(file), "rollout")
    problems = Problems(str(file))
    try:
        readers = tuple(map(plan_options.existing_reader, form.now.readers))
        writer = plan_options.existing_writer(form.now.writer)
        now = Side(readers, writer, _metastore(form.now.metastore))
    except UsageProblem as wrong:
        problems.add(document.line(("now",)), f"now: {wrong}")
        problems.raise_if_any()
        raise
    side = now
    for number, change in enumerate(form.steps):
        try:
            side = _changed(side, change)
        except UsageProblem as wrong:
            problems.add(document.line(("steps", number)), f"{change.name}: {wrong}")
    problems.raise_if_any()
    return PlannedRollout(now, form.steps)


def _metastore(name: str) -> MetastoreChoice | None:
    return plan_options.existing_metastore(name) if name else None


def _changed(side: Side, change: _Change) -> Side:
    names = [str(reader) for reader in side.readers]
    for old in change.readers:
        if old not in names:
            raise UsageProblem(f"readers: there is no reader '{old}' then; {one_of(old, names)}")
    readers = (change.readers.get(name, name) for name in names)
    return replace(
        side,
        readers=tuple(map(plan_options.existing_reader, readers)),
        writer=plan_options.existing_writer(change.writer) if change.writer else side.writer,
        metastore=_metastore(change.metastore) or side.metastore,
    )


def judged(planned: PlannedRollout, folder: UpgradeFolder) -> Rollout:
    """Judge every state on the way, and look for an order in which each is safe."""
    now, number, make = planned.now, len(planned.changes), folder.make
    plan = make(lambda profile, _: now.apply(profile))
    before = folder.side("what there is now", plan, "now")
    states: dict[Changes, RolloutState] = {}

    @cache
    def state(made: Changes) -> RolloutState:
        name, numbers = planned.name(made), "-".join(map(str, sorted(made)))
        then = planned.after(made)
        replaced = dict(zip(map(str, then.readers), map(str, now.readers), strict=True))
        # Its writer continues tables of now, and begins its own.
        plan = make(then.with_writers(lambda scenarios: _writers(now, then, scenarios)))
        side = folder.side(name, plan, f"after-{numbers}")
        comparison = compare(before, side, replaced)
        # On the way back, the readers and the writer of now meet what is there then.
        plan = make(now.with_writers(lambda scenarios: _writers_back(now, then, scenarios)))
        side = folder.side(f"back from {name}", plan, f"back-{numbers}")
        states[made] = RolloutState(made, name, comparison, compare(before, side, {}))
        version = _version_before(now, then)
        if version and not states[made].returns:
            # Tables are brought to an older version before the way back.
            plan = make(now.with_writers(partial(_downgraders, now, then, version)))
            # Nothing is asked about tables that were not handed over yet.
            since = {v.id: v.writers.count(v.writers[0]) for v in plan.variants}
            cells = tuple(cell for cell in plan.cells if cell.step >= since[cell.variant])
            name = f"back from {name} by a downgrade to table version {version}"
            side = folder.side(name, replace(plan, cells=cells), f"downgraded-{numbers}")
            states[made] = replace(states[made], downgraded=compare(before, side, {}))
        return states[made]

    on_the_way = [frozenset(range(1, last + 1)) for last in range(1, number + 1)]
    asked = tuple(map(state, on_the_way))
    order = safe_order(number, lambda made: state(made).safe)
    return Rollout(asked, order, tuple(s for made, s in states.items() if made not in on_the_way))


def _writers(now: Side, then: Side, scenarios: Sequence[Scenario]) -> Iterator[Writer]:
    old, new = _writer(now), _writer(then)
    if old.distribution == new.distribution:
        yield new
    else:
        yield from writers_of(old, new, scenarios)


def _writers_back(now: Side, then: Side, scenarios: Sequence[Scenario]) -> Iterable[Writer]:
    writers: list[Writer] = []  # they have no hash
    for writer in (*_writers(now, then, scenarios), *_writers(then, now, scenarios)):
        writers += [writer] if writer not in writers else []
    return writers


def _downgraders(
    now: Side, then: Side, version: str, scenarios: Sequence[Scenario]
) -> Iterator[Writer]:
    old, new = _writer(then), _writer(now)
    old = replace(old, settings={**old.settings, HANDOVER_VERSION: version})
    for scenario in scenarios:
        yield from (handover.writer for handover in handovers(scenario, old, new.distribution))


def _version_before(now: Side, then: Side) -> str:
    """Return the table version to go back to; empty where the writer of then makes no other."""
    before, after = (
        writer.settings.get(TABLE_VERSION) or next(iter(table_versions(writer)[-1:]), "")
        for writer in (_writer(now), _writer(then))
    )
    possible = hudi_settings.SETTINGS[HANDOVER_VERSION]
    return before if before in possible and before != after else ""


def _writer(side: Side) -> Writer:
    if side.writer is None:
        raise ValueError("each state of a rollout has a writer")
    return side.writer
