"""Which steps of a scenario tell ways of reading apart, before anything is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from harness.core.grouping import grouped
from harness.formats.api import Changes, FileLayout
from harness.model.query import ALL
from harness.model.simulation.matching import Readings, table_of
from harness.model.simulation.reader import Simulation
from harness.model.simulation.strategies import Logs, ReadStrategy
from harness.plan.expected_files import expected_files
from harness.scenario import expected_history
from harness.scenario.definition import Scenario

SHOWN: Final = {Logs.MERGED, Logs.IGNORED, Logs.OTHER_MODE}


@dataclass(frozen=True, slots=True)
class Apart:
    """What the whole table tells after a step."""

    step: int
    text: str
    """The operation in a few words."""
    changes_schema: bool
    groups: tuple[tuple[ReadStrategy, ...], ...]
    """Ways that answer alike are one group."""

    def tells(self, left: ReadStrategy, right: ReadStrategy) -> bool:
        """Return whether two ways answer otherwise; a way that was not tried is none."""
        found = [at for at, group in enumerate(self.groups) if left in group or right in group]
        return len(found) > 1


def separation(scenario: Scenario, layout: FileLayout) -> tuple[Apart, ...]:
    """Return what each step of a scenario tells apart after which questions are asked.

    Every way to find columns is looked at, where there are log files reading base files only, and
    where a merge mode matters merging versions by another one.
    Older catalogs are not: they show in the columns of an answer.
    """
    operations = expected_history.operations(scenario)
    history = expected_history.history(
        scenario, merge_on_read=layout.changes is Changes.LOG, applied=[True] * len(operations)
    )
    steps = {str(truth.step): truth.step for truth in history}
    facts = expected_files(history, operations, layout)
    return tuple(
        Apart(
            number,
            step.operation.text(),
            step.operation.CHANGES_SCHEMA,
            _groups(Readings(Simulation(history[: number + 1], facts[number], steps))),
        )
        for number, step in enumerate(scenario.steps, start=1)
        if not step.quiet
    )


def _groups(readings: Readings) -> tuple[tuple[ReadStrategy, ...], ...]:
    found: dict[object, list[ReadStrategy]] = {}
    for way in readings.strategies(ALL):
        if (
            way == ReadStrategy(way.mapping, way.logs)
            and way.logs in SHOWN
            and (labels := readings.labels(way, ALL))
        ):
            with suppress(ValueError):  # what no specification settles is not predicted
                found.setdefault(table_of(labels, readings.answer(way, ALL)), []).append(way)
    return tuple(map(tuple, found.values()))


def idle(apart: Sequence[Apart]) -> tuple[Apart, ...]:
    """Return schema changes after which no question tells two ways apart, until the next one."""
    found: list[list[Apart]] = []
    for each in apart:
        if each.changes_schema:
            found.append([])
        if found:
            found[-1].append(each)
    return tuple(each[0] for each in found if all(len(one.groups) == 1 for one in each))


def lines(apart: Sequence[Apart]) -> Iterator[str]:
    """Say it: steps with the same groups on one line, ways that answer alike with `=` between."""
    for said, steps in grouped((_said(each), str(each.step)) for each in apart).items():
        word = "step" if len(steps) == 1 else "steps"
        yield f"{word} {', '.join(steps)}: {said or 'all answer alike'}"


def _said(apart: Apart) -> str:
    """Return the groups in words; nothing where there is one alone."""
    several = len(apart.groups) > 1
    return " | ".join(" = ".join(map(str, group)) for group in apart.groups) if several else ""
