"""The file of a rollout: what there is now, and the changes in their order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from harness.artifacts.lock import NonEmptyText
from harness.cli import named_parts
from harness.cli.upgrade.sides import Side, metastore_of
from harness.core import yaml_reader
from harness.core.errors import UsageProblem
from harness.core.problems import Problems, one_of
from harness.core.yaml_reader import load_yaml

WHAT: Final = "a rollout"


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
    """The keys of the file."""

    now: _Now
    steps: Annotated[tuple[_Change, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class PlannedRollout:
    """What there is now, and what is to be changed."""

    now: Side
    changes: tuple[_Change, ...]

    def name(self, made: Iterable[int]) -> str:
        """Return what people call the state after some changes: in their order, by the last one."""
        numbers = sorted(made)
        names = [self.changes[number - 1].name for number in numbers]
        on_the_way = numbers == [*range(1, len(numbers) + 1)]
        return names[-1] if on_the_way else f"{' and '.join(names)} alone"

    def after(self, made: Iterable[int]) -> Side:
        """Return what there is after some changes; of two that change the same, the later counts.

        Raises:
            UsageProblem: a change names what is not there.

        """
        return reduce(_changed, (self.changes[number - 1] for number in sorted(made)), self.now)

    def readers(self, made: Iterable[int]) -> dict[str, str]:
        """Return which reader of now each reader replaces after some changes."""
        return dict(
            zip(map(str, self.after(made).readers), map(str, self.now.readers), strict=True)
        )


def read(file: Path) -> PlannedRollout:
    """Read a rollout.

    Raises:
        ScenarioProblem: one line `file:line: what is wrong; what is allowed` for each problem.

    """
    text = yaml_reader.read(file, yaml_reader.MAX_BYTES, WHAT)
    form, document = load_yaml(_RolloutForm, text, str(file), "rollout")
    problems = Problems(str(file))
    try:
        now = _now(form.now)
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


def _now(form: _Now) -> Side:
    metastore = metastore_of(form.metastore) if form.metastore else None
    readers = tuple(map(named_parts.reader, form.readers))
    return Side(readers, named_parts.writer(form.writer), metastore)


def _changed(side: Side, change: _Change) -> Side:
    names = [str(reader) for reader in side.readers]
    for old in change.readers:
        if old not in names:
            raise UsageProblem(f"readers: there is no reader '{old}' then; {one_of(old, names)}")
    readers = (change.readers.get(name, name) for name in names)
    return replace(
        side,
        readers=tuple(map(named_parts.reader, readers)),
        writer=named_parts.writer(change.writer) if change.writer else side.writer,
        metastore=metastore_of(change.metastore) if change.metastore else side.metastore,
    )
