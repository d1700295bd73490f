"""What a reader must know of a format. Each format says it of itself; engines know none by name."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timeline:
    """How questions about the past name the writes of a format's tables."""

    instant: str = ""
    """What `PointInTime.instant` is of a write, one of `time_travel.MEANINGS`."""
    begin: Callable[[str, str], str] | None = None
    """Returns the same of `PointInTime.begin`, given the versions of the reader's library and of
    the table."""
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
    schema_in_table: frozenset[str] = frozenset()
    """The engines that go by a schema in the table, not by the catalog's, for meta columns."""
    past: Timeline = Timeline()
    transactional: bool = False
    """Whether the metastore says which of its files count, so that a reader has to take part in its
    transactions."""
    written_by: str = ""
    """What distributions call what writes it, where that is not the family's name."""
