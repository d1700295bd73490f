"""What a reader must know of a format. Each format says it of itself; engines know none by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Wording:
    """How an engine is asked for a table's past; see `time_travel`."""

    source: str
    """What stands after `from`, `{table}` in it for the catalog entry and `{key}` for the column
    that tells rows apart; to an engine without SQL, what its own text has for it."""
    before: tuple[str, ...] = ()
    """Statements that the session is told before."""
    after: tuple[str, ...] = ()
    """Those that take them back."""
    suffix: str = ""
    """What the entry's name ends with, inside its quotes."""
    alias: str = ""
    """What the source is called where it is a query itself, which has no name of its own; with a
    number where a question's own names have that one."""

    def mentions(self, mark: str) -> bool:
        """Return whether a mark stands in any of it."""
        return any(mark in each for each in (self.source, *self.before, *self.after, self.suffix))


@dataclass(frozen=True, slots=True)
class TimeTravel:
    """How readers are asked for the past of a format's tables."""

    words: Mapping[tuple[str, str], Wording | str] = field(default_factory=dict, hash=False)
    """By engine and view: the words, or why there are none."""
    instant: str = ""
    """What of a write `{instant}` in the words stands for, as `time_travel.MEANINGS` has it."""
    begin: Callable[[str, str], str] | None = None
    """Returns the same of `{begin}`, by the version of the reader's library and the table's."""
    added: frozenset[str] = frozenset()
    """The columns that an answer about what was written since has beside the table's own."""
    where: tuple[str, ...] = ()
    """How somebody finds the moments of a table at `{location}`, called `{database}.t`."""


@dataclass(frozen=True, slots=True)
class FormatFacts:
    """A format as its readers meet it."""

    name: str
    """As scenarios and profiles write it: `hudi-cow`."""
    family: str
    """What distributions call the library or connector that reads it: `hudi`, `hive` …"""
    files: str = "parquet"
    """What data files are; readers have settings of their own for `orc`."""
    keeps_case: bool = False
    """Whether its own metadata keep the names of columns as they are written. Those of others are
    the metastore's, which has lower case alone (Hive language manual, DDL, "Create Table")."""
    own_schema: frozenset[str] = frozenset()
    """The engines that go by a schema in the table, not by the catalog's, for meta columns."""
    past: TimeTravel = TimeTravel()
    transactional: bool = False
    """Whether the metastore says which of its files count, so that a reader has to take part in its
    transactions."""
    written_by: str = ""
    """What distributions call what writes it, where that is not the family's name."""
