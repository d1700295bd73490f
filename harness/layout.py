"""What the data files tell of an answer: whether the model may judge it, and how it came about.

Files never say that a row exists or what it holds; they only confirm or doubt the model, and let it
compute what a reader of a given kind would have answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.checks.place import World
from harness.model import resolution
from harness.model.canonical import Value, text_of
from harness.model.files import FileFact, FileKind
from harness.model.query import Query
from harness.model.truth import Row
from harness.record import Answer, labelled


@dataclass(frozen=True, slots=True)
class Layout:
    """The files of a table state beside the truth of that step."""

    world: World
    files: Sequence[FileFact]
    steps: Mapping[str, int]
    """The step that made each instant."""
    unread: str = ""
    """Why the files tell nothing; empty when they do."""
    _predicted: dict[resolution.Way, Sequence[Sequence[Value]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """What readers of each way would show of the whole table: many answers are compared with it."""

    def doubt_of_base(self) -> str:
        """Say how base files are not as the view needs them; empty when they are."""
        if self.unread:
            return self.unread
        try:
            held = dict(self._base_rows())
        except resolution.LayoutError as doubt:
            return str(doubt)
        for key in dict.fromkeys((*self.world.keys, *held)):
            wanted, there = self.world.keys.get(key), held.get(key)
            if wanted != there:
                return f"row {key}: base files hold {_of(there)}, the model says {_of(wanted)}"
        return ""

    def doubt(self) -> str:
        """Say how the files do not hold the rows of the truth; empty when they do."""
        if self.unread:
            return self.unread
        try:
            there = {text_of(row.key) for row in self._rows()}
        except resolution.LayoutError as doubt:
            return str(doubt)
        lost = [key for key in self.world.keys if key not in there]
        return f"no file holds row {', '.join(lost)}" if lost and there else ""

    def ways(self, answer: Answer) -> tuple[str, ...]:
        """Give the mappings that reproduce a whole answer; none when the files tell nothing.

        A reader of each kind is taken to resolve every row, and then to see whether the predicate
        holds for it: one that leaves out files by wrong statistics is none of these.
        """
        query, columns = answer.question, labelled(answer.question, answer.columns)
        names, wanted = [each.name for each in columns], query.labels(self.world.schema.names)
        if not self.files or sorted(names) != sorted(wanted):
            return ()
        order = [names.index(name) for name in wanted]
        found = _texts([[row[at] for at in order] for row in answer.rows])
        with_logs = any(fact.kind is FileKind.LOG for fact in self.files)
        ways = resolution.ways(with_logs=with_logs)
        try:
            return tuple(str(way) for way in ways if _texts(self._predict(way, query)) == found)
        except resolution.LayoutError:
            return ()

    def clash(self) -> str:
        """Say the one way of finding columns that meets another type; empty for none or several."""
        try:
            ways = resolution.meeting_other_types(self.world.history, self.files, self.steps)
        except resolution.LayoutError:
            return ""
        return str(ways[0]) if len(ways) == 1 else ""

    def _predict(self, way: resolution.Way, query: Query) -> Sequence[Sequence[Value]]:
        if way not in self._predicted:
            rows = resolution.predict(self.world.history, self.files, self.steps, way)
            self._predicted[way] = rows
        return query.answer(self.world.schema.names, self._predicted[way])

    def _base_rows(self) -> Iterator[tuple[str, Row]]:
        for base, _ in resolution.slices(self.files, self.steps):
            if base is not None:
                rows = (self._version(base, key) for key in base.keys)
                yield from ((text_of(row.key), row) for row in rows)

    def _rows(self) -> Iterator[Row]:
        """Give the rows of the newest files, deleted ones left out."""
        for base, logs in resolution.slices(self.files, self.steps):
            found = dict.fromkeys(base.keys, base) if base is not None else {}
            for log in logs:
                found = {key: fact for key, fact in found.items() if key not in log.deleted}
                found |= dict.fromkeys(log.keys, log)
            for key, fact in found.items():
                yield self._version(fact, key)

    def _version(self, fact: FileFact, key: str) -> Row:
        return resolution.version(self.world.history, fact, key, self.steps)


def _of(row: Row | None) -> str:
    return f"that of step {max(row.written.values(), default=0)}" if row else "none"


def _texts(rows: Sequence[Sequence[Value]]) -> list[tuple[str, ...]]:
    return sorted(tuple(map(text_of, row)) for row in rows)
