"""A reproducer's script taken apart, and what a client printed compared with what it says. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from harness.cli.reproduce.script import DATABASE, LOCATION
from harness.engines.api import METASTORE

_SECTION = re.compile(r"^-- ===== (in Spark SQL|the query): (.*) =====$")
_CONF = "--   --conf "
_COMMENT = "-- "
_SEEN = "-- seen:"
_NO_SQL = ("-- in PySpark:", "-- by Hudi's SparkRDDWriteClient", "-- in Hive:")
_ROW = "--   "
_TASK = re.compile(r"^.*Lost task [^()]+\(TID \d+\) \([^()]+\): (?=\S)")
_TOLD = 60
"""So many characters of an error's own words must stand in what a client printed."""


@dataclass(frozen=True, slots=True)
class ScriptSection:
    """The part of a script that one engine is sent."""

    engine: str
    """A writer's distribution, or a reader with its settings."""
    lines: tuple[str, ...]

    @property
    def statements(self) -> tuple[str, ...]:
        """The lines that are no comments."""
        return tuple(each for each in self.lines if each and not each.startswith("--"))

    @property
    def conf(self) -> tuple[str, ...]:
        """What a Spark session is started with."""
        return tuple(each.removeprefix(_CONF) for each in self.lines if each.startswith(_CONF))

    @property
    def seen(self) -> tuple[str, ...]:
        """The table or the error under `-- seen:`, line by line."""
        if _SEEN not in self.lines:
            return ()
        below = self.lines[self.lines.index(_SEEN) + 1 :]
        return tuple(each.removeprefix(_ROW) for each in below if each.startswith(_ROW))


@dataclass(frozen=True, slots=True)
class Script:
    """One reproducer's script."""

    name: str
    writing: tuple[ScriptSection, ...]
    query: ScriptSection | None
    """None where a step of the writer is what is shown."""
    location: str = LOCATION
    """The table's folder."""
    head: tuple[str, ...] = ()
    """The lines above all parts: the cause, what was seen, what is needed."""

    @property
    def sql(self) -> bool:
        """Whether SQL says all that is written: no DataFrame, no call of a client, no HiveQL."""
        lines = (line for part in self.writing for line in part.lines)
        return not any(line.startswith(_NO_SQL) for line in lines)

    @property
    def cause(self) -> str:
        """What was found there, the operation before all else; the name where nothing says it."""
        return self.head[0].removeprefix(_COMMENT).rstrip(".") if self.head else self.name

    @property
    def told(self) -> tuple[str, ...]:
        """The findings that are seen, in words, or the error."""
        start = f"{_SEEN} "
        return tuple(each.removeprefix(start) for each in self.head if each.startswith(start))


def parse(name: str, text: str) -> Script:
    """Take a script apart."""
    writing, query, lines = [], None, text.splitlines()
    for what, part in _parts(lines):
        if what == "the query":
            query = part
        else:
            writing.append(part)
    head = takewhile(lambda line: not _SECTION.match(line), lines)
    return Script(name, tuple(writing), query, head=tuple(head))


def _parts(lines: Sequence[str]) -> Iterator[tuple[str, ScriptSection]]:
    starts = [at for at, line in enumerate(lines) if _SECTION.match(line)]
    for at, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        if heading := _SECTION.match(lines[at]):
            yield heading[1], ScriptSection(heading[2], tuple(lines[at + 1 : end]))


def placed(script: Script, database: str, location: str, metastore: str) -> Script:
    """Return a script with a database, a folder and a metastore of its own."""

    def own(part: ScriptSection) -> ScriptSection:
        texts = (each.replace(LOCATION, location) for each in part.lines)
        named = (re.sub(rf"\b{DATABASE}\b(?=[.`\";])", database, each) for each in texts)
        return replace(part, lines=tuple(each.replace(METASTORE, metastore) for each in named))

    return replace(
        script,
        writing=tuple(map(own, script.writing)),
        query=own(script.query) if script.query else None,
        location=location,
    )


def alike(query: ScriptSection, printed: str) -> bool:
    """Return whether a client printed what was seen: the same rows in any order, or that error.

    `printed`: a line of names and rows with tabs between values, among lines that do not count.
    Columns are found by their names: a client shows those of Hudi's own too.
    """
    head, *rows = [tuple(each.strip() for each in line.split(" | ")) for line in query.seen]
    if not all(re.fullmatch(r"\S+ \([^()]+(\(.*\))?\)", each) for each in head):
        return _plain(query.seen[0])[:_TOLD] in _plain(printed)
    names = [each.partition(" (")[0] for each in head]
    there = _rows(names, printed)
    # A client that failed prints no names; what shows no rows must not be taken for its silence.
    return there is not None and Counter(there) == Counter(rows)


def _rows(names: Sequence[str], printed: str) -> list[tuple[str, ...]] | None:
    """Return the values of these columns, of the lines below their names; None without these."""
    lines = [line.split("\t") for line in printed.splitlines()]
    for number, cells in enumerate(lines):
        shown = [each.rpartition(".")[2].strip() for each in cells]  # Hive says `t.id`
        if set(names) <= set(shown):
            at = [shown.index(name) for name in names]
            below = (line for line in lines[number + 1 :] if len(line) == len(cells))
            return [tuple(line[each] for each in at) for line in below]
    return None


def _plain(text: str) -> str:
    """Return the words after an error's kind without what clients change: quotes and blanks.

    Of a task of Spark's that failed it is the words of its cause: before them stand numbers of the
    stage and the task, which count what a session has done.
    """
    text = _TASK.sub("", text)
    said = text.partition(": ")[2] or text
    return re.sub(r"[\s'\"`\\]+", "", said)
