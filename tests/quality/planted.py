"""The family of planted defects: each is a small function that reads a history wrongly.

A defect takes a history and chance, and gives what its reader answers, with its shadow; None where
the history has nothing that it could get wrong (no log file, no decimal …).
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from harness.model.canonical import Value
from harness.model.query import Query
from tests.builders import random_story
from tests.builders.random_story import Plot
from tests.builders.simulated_reader import Reader
from tests.builders.table_story import Story
from tests.builders.traced_answer import Line, Seen, read
from tests.quality import asked

Way = Callable[[Story, random.Random], Seen | None]
Twist = Callable[[Plot, random.Random], Plot]


@dataclass(frozen=True, slots=True)
class Defect:
    name: str
    answer: Way
    harmless: bool = False
    """Whether every answer is right all the same."""
    twist: Twist | None = None
    """What a history needs so that it can show."""

    def seen(self, seed: int) -> Seen | None:
        return self.read(random_story.plot(seed), seed)

    def read(self, plot: Plot, seed: int) -> Seen | None:
        by_chance = random.Random(f"{self.name} {seed}")  # noqa: S311 - nothing is kept secret
        story = (self.twist(plot, by_chance) if self.twist else plot).story()
        return self.answer(story, by_chance)


DEFECTS: Final[dict[str, Defect]] = {}
"""All of them, by name."""


def planted(
    name: str, *, harmless: bool = False, twist: Twist | None = None
) -> Callable[[Way], Way]:

    def enter(answer: Way) -> Way:
        if name in DEFECTS:
            raise ValueError(f"two defects are called '{name}'")
        DEFECTS[name] = Defect(name, answer, harmless, twist)
        return answer

    return enter


def plant(name: str, answer: Way, *, harmless: bool = False, twist: Twist | None = None) -> None:
    planted(name, harmless=harmless, twist=twist)(answer)


def plant_right(
    name: str, twist: Twist, reader: Reader | None = None, view: str = "snapshot"
) -> None:
    """Plant a reader that errs in nothing."""

    def right(story: Story, _: random.Random) -> Seen:
        return replace(read(story, reader), view=view)

    plant(f"{name} (right)", right, harmless=True, twist=twist)


def having(type_: str) -> Twist:

    def twist(plot: Plot, _: random.Random) -> Plot:
        return replace(plot, columns=plot.columns.replace("ts long, ", f"ts long, x {type_}, ", 1))

    return twist


def free(plot: Plot) -> list[str]:
    truth = plot.story().truth
    return [name for name in truth.schema.names if name not in truth.table.fixed]


def with_lines(seen: Seen, change: Callable[[Line], Line]) -> Seen:
    return replace(seen, lines=tuple(map(change, seen.lines)))


def reordered(line: Line, order: list[int]) -> Line:
    """Return a row with its cells in another order, some left out or twice."""
    values = tuple(line.values[at] for at in order)
    return replace(line, values=values, tokens=tuple(line.tokens[at] for at in order))


def with_cell(line: Line, at: int, value: Value, token: Value) -> Line:
    values = (*line.values[:at], value, *line.values[at + 1 :])
    return replace(line, values=values, tokens=(*line.tokens[:at], token, *line.tokens[at + 1 :]))


def predicate(story: Story) -> Query | None:
    """Return the first predicate that a plan would ask about the end of a history."""
    return next((q.query for q in asked.questions(story) if q.text.startswith("predicate(")), None)


def filtered(seen: Seen, query: Query) -> Seen:
    """Return the rows for which a predicate holds, by what is shown."""
    rows = ((line, dict(zip(seen.names, line.values, strict=True))) for line in seen.lines)
    return replace(seen, lines=tuple(line for line, row in rows if query.takes(row)), query=query)
