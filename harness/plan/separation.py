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
        sides = [at for at, group in enumerate(self.groups) if left in group or right in group]
        return len(sides) > 1


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
    result: dict[object, list[ReadStrategy]] = {}
    for strategy in readings.strategies(ALL):
        if (
            strategy == ReadStrategy(strategy.mapping, strategy.logs)
            and strategy.logs in SHOWN
            and (labels := readings.labels(strategy, ALL))
        ):
            with suppress(ValueError):  # what no specification settles is not predicted
                result.setdefault(table_of(labels, readings.answer(strategy, ALL)), []).append(
                    strategy
                )
    return tuple(map(tuple, result.values()))


def idle(aparts: Sequence[Apart]) -> tuple[Apart, ...]:
    """Return schema changes after which no question tells two ways apart, until the next one."""
    apartses: list[list[Apart]] = []
    for group in aparts:
        if group.changes_schema:
            apartses.append([])
        if apartses:
            apartses[-1].append(group)
    return tuple(aparts[0] for aparts in apartses if all(len(one.groups) == 1 for one in aparts))


def lines(aparts: Sequence[Apart]) -> Iterator[str]:
    """Say it: steps with the same groups on one line, ways that answer alike with `=` between."""
    for text, steps in grouped((_said(s), str(s.step)) for s in aparts).items():
        word = "step" if len(steps) == 1 else "steps"
        yield f"{word} {', '.join(steps)}: {text or 'all answer alike'}"


def _said(differences: Apart) -> str:
    """Return the groups in words; nothing where there is one alone."""
    several = len(differences.groups) > 1
    return " | ".join(" = ".join(map(str, g)) for g in differences.groups) if several else ""
