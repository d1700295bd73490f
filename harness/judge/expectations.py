"""What is expected after each step of a variant: the world of a view, and the table it shows."""

from __future__ import annotations

from dataclasses import replace

from harness.core.records import Expected
from harness.judge.case import READ_OPTIMIZED, SNAPSHOT, Case
from harness.judge.state_files import StateFiles
from harness.judge.world import World, index_of
from harness.model import past_views
from harness.model.canonical import text_of
from harness.model.commit import AS_OF
from harness.model.past_views import Past
from harness.model.query import Query
from harness.model.schema import Schema
from harness.model.truth import History, row_values


class Expectations:
    """The truth of one variant, step by step; each thing is made once."""

    def __init__(self, case: Case, history: History, files: StateFiles) -> None:
        """`files`: those of the same history."""
        self.history = history
        self._case, self._files = case, files
        self._index = index_of(history)
        self._worlds: dict[tuple[int, str], World] = {}
        self._tables: dict[tuple[int, str, Query], Expected] = {}

    def until(self, step: int) -> History:
        """Return the history up to a step."""
        return self.history[: step + 1]

    def world(self, step: int, view: str) -> World:
        """Return what checks may ask about a step and a view."""
        if (step, view) not in self._worlds:
            past = self._case.past(view)
            made = self._of_the_past(step, past) if past else self._of_now(step, view)
            self._worlds[step, view] = made
        return self._worlds[step, view]

    def table(self, step: int, view: str, query: Query) -> Expected:
        """Return the table that a view should answer to a query after a step."""
        if (step, view, query) not in self._tables:
            self._tables[step, view, query] = expected_table(self.world(step, view), query)
        return self._tables[step, view, query]

    def layout_problem(self, step: int) -> str:
        """Return why the files do not tell what base files show; empty where they do."""
        return self._files.base(step).why

    def _of_now(self, step: int, view: str) -> World:
        history, base = self.until(step), self._files.base(step)
        steps, now = self._files.steps_of_rows(step, view), history[-1].rows
        world = World(history, self._index, now, file_steps=steps, base=base.rows)
        return replace(world, rows=base.rows, newer=(now,)) if view == READ_OPTIMIZED else world

    def _of_the_past(self, step: int, past: Past) -> World:
        """Return the world of a view of the past: as of a step, or what was written since."""
        now = self.until(step)
        if past.name == AS_OF:
            world, later = self.world(past.step, SNAPSHOT), now[past.step + 1 :]
            return replace(world, newer=tuple(each.rows for each in later), later=later)
        world = self.world(step, SNAPSHOT)
        rows = past_views.written_since(world.rows, past.step)
        older = {key: row for key, row in world.rows.items() if key not in rows}
        return replace(world, rows=rows, left_out=older)


def expected_table(world: World, query: Query) -> Expected:
    """Return the table that a view should answer to a query."""
    schema = world.schema
    rows = sorted(world.rows.values(), key=lambda row: text_of(row.key))
    shown = query.answer(schema.names, [row_values(row, schema) for row in rows])
    return Expected(column_types(schema, query), tuple(shown))


def column_types(schema: Schema, query: Query) -> tuple[tuple[str, str], ...]:
    """Return the columns that answer a query, each with its type, in our words."""
    paths = () if query.count else query.columns or schema.names
    types = [str(schema.find(path).type) for path in paths] or ["long"]
    return tuple(zip(query.labels(schema.names), types, strict=True))
