"""The read strategies that are predicted: how columns are found, and what is left out.

A strategy is how columns are found (there is no default: by id is one like the others) and what
the reader does beyond that. A strategy that does less is the smaller one, and explains as much.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import product
from typing import Final

AT_ONCE: Final = 2
"""So many things beyond how columns are found are combined at most."""

SEPARATOR: Final = ", "
"""Stands between the parts of a strategy in its text."""
CATALOG: Final = "catalog of step"
LEFT_OUT: Final = "files left out"
TRUSTED: Final = "rows left out by the wrong statistics of"
LISTED: Final = "partitions by their own column lists"
STORED: Final = "values as they are stored"
CAST: Final = "texts that are no numbers are NULL"
CONVERTED: Final = "values converted to the column's type"
NULLS_BY_SCHEMA: Final = "conditions on NULL answered from the schema"
PARTLESS: Final = "structs without a part in the file are NULL"
CUT: Final = "timestamps in milliseconds"
OVERLAID: Final = "three of Hudi's columns under others"
TABLE_ORDER: Final = "the table's own order under the catalog's names"
REKEYED: Final = "record keys from the third column"
"""What the text of a strategy says of the things beyond."""


class ColumnMapping(StrEnum):
    ID = "by id"
    ID_OUTSIDE = "by id, parts of structs by name"
    """Columns by id, what is inside them by name (seen on PrestoDB 0.283, on Iceberg's tables)."""
    ID_ALONE = "by id, default values left out"
    """Rows that are older than a column have no value there (seen on Trino 476, on Iceberg's)."""
    NAME = "by name"
    FOLDED = "by name in any case"
    POSITION = "by position"
    """Hudi's meta columns, which its base files begin with, take no position."""
    COUNTED = "by position, Hudi's meta columns counted"
    """They do, where the catalog does not list them (seen on tables synced without them)."""
    PARTS_TOO = "by position, parts of structs too"
    """Where files have no names at all."""
    RENUMBERED = "by id, ids given anew in each file"
    """A base file's columns get the ids that they would have if the table had been created so (seen
    on Hive 3.1.3 with Hudi 1.0.2, schema-on-read on, where a timestamp is asked for)."""

    @property
    def inside(self) -> bool:
        return self in _INSIDE

    @property
    def placed(self) -> bool:
        return self in _PLACED


# Tuples: a member of an enumeration is hashed by a function, and these are asked most of all.
_INSIDE: Final = (ColumnMapping.ID, ColumnMapping.ID_ALONE)
_PLACED: Final = (
    *(ColumnMapping.POSITION, ColumnMapping.COUNTED),
    *(ColumnMapping.PARTS_TOO, ColumnMapping.RENUMBERED),
)


class Logs(StrEnum):
    """What a reader makes of log files; of position deletes, where those are all there are."""

    MERGED = "log files merged"
    BY_ID = "log files by id"
    """Columns of log records are found by id and those of base files otherwise (seen on Hive 3.1.3
    with Hudi 1.0.2: a MapReduce job with schema-on-read on)."""
    BY_NAME = "log files by name"
    """The other way round (seen on Spark with Hudi 1.0.2, schema-on-read on)."""
    IGNORED = "base files only"
    UNDELETED = "deletes ignored"
    OTHER_MODE = "versions by another merge mode"
    """By event time where the table declares commit time or partial updates, by commit time where
    it declares event time."""


class IncrementalRange(StrEnum):
    """Which rows a reader gives that is asked for what was written since a step.

    A begin is exclusive or inclusive by a library's version (`engines.past`), and one that is taken
    for the other is off by one write.
    """

    SINCE = "what was written since"
    ALL = "the begin ignored"
    EARLIER = "one write too many"
    """The write by which the question begins as well."""
    LATER = "one write too few"
    """The first write after it left out."""
    NOTHING = "nothing given"


@dataclass(frozen=True, slots=True)
class ReadStrategy:
    """How a reader reads a whole table.

    Struct parts are found by name when columns are found by position, and so are log records,
    which carry their own schema (seen on Trino 476 and PrestoDB 0.283, engines notes).
    """

    mapping: ColumnMapping
    logs: Logs = Logs.MERGED
    catalog: int | None = None
    """The step whose schema the reader still goes by; None for today's."""
    pruned: ColumnMapping | None = None
    """How it finds the column by whose statistics it leaves out files; None for the column that it
    reads."""
    listed: bool = False
    """Whether it goes by the list of columns that the catalog keeps of each partition: what stands
    beyond the end of that list is NULL (see `catalog.Lists`)."""
    stored: bool = False
    """Whether it takes what a base file stores for a value of the column's own type, whatever the
    file says that it is."""
    cast: bool = False
    """Whether a text of a base file that is no number is NULL in a column of numbers; by
    position, whether all values are converted to the column's type."""
    cut: bool = False
    """Whether it keeps whole milliseconds of timestamps alone."""
    overlaid: bool = False
    """Whether it shows three of Hudi's columns of a base file under the table's own (see
    `hudi.overlaid`)."""
    table_order: bool = False
    """Whether it names columns that stand in the table's own order in that of the catalog (see
    `hudi.taken_for`)."""
    incremental: IncrementalRange = IncrementalRange.SINCE
    """Which rows it gives of a view of what was written since a step; all of any other view."""
    rekeyed: bool = False
    """Whether it takes the third column of a base row for its record key, by which log records are
    merged (see `hudi.rekeyed`)."""
    partless: bool = False
    """Whether a struct or an array none of whose parts a base file has is NULL as a whole."""
    trusted: str | None = None
    """Where the statistics are stored by which it leaves out rows, and which what the files hold
    contradicts; None where it goes by none of these."""
    nulls_by_schema: bool = False
    """Whether it looks for NULL in no column that forbids it (see `trusted_statistics`)."""

    @property
    def deviations(self) -> tuple[str, ...]:
        parts = (
            self.logs is not Logs.MERGED and str(self.logs),
            self.catalog is not None and f"{CATALOG} {self.catalog}",
            self.pruned is not None and f"{LEFT_OUT} {self.pruned}",
            self.trusted is not None and f"{TRUSTED} {self.trusted}",
            self.nulls_by_schema and NULLS_BY_SCHEMA,
            self.listed and LISTED,
            self.stored and STORED,
            self.cast and (CONVERTED if self.mapping.placed else CAST),
            self.cut and CUT,
            self.overlaid and OVERLAID,
            self.table_order and TABLE_ORDER,
            self.rekeyed and REKEYED,
            self.partless and PARTLESS,
            self.incremental is not IncrementalRange.SINCE and str(self.incremental),
        )
        return tuple(text for text in parts if text)

    @property
    def only_trusts(self) -> bool:
        """Whether all that it does wrong is to go by statistics as they are stored."""
        return self == ReadStrategy(ColumnMapping.ID, trusted=self.trusted)

    @property
    def redundant(self) -> bool:
        """Whether it says of something else what it says of columns: another one means the same."""
        by_id = self.mapping in {ColumnMapping.ID, ColumnMapping.RENUMBERED, ColumnMapping.ID_ALONE}
        pruned = self.mapping is self.pruned and not self.cast
        return pruned or (by_id and self.logs is Logs.BY_ID)

    @property
    def implausible(self) -> bool:
        by, older = self.mapping, self.catalog is not None
        prunes, trusts = self.pruned is not None, self.trusted is not None
        of_iceberg = {ColumnMapping.ID_OUTSIDE, ColumnMapping.ID_ALONE}
        merges_by_id = by is ColumnMapping.ID and self.logs is Logs.MERGED
        return (
            # Hive goes by partitions' lists, by name or id, in today's catalog, and converts.
            (self.listed and (by.placed or older or self.stored))
            # Who gives ids anew goes by the catalog of today, and leaves out files by its ids.
            or (by is ColumnMapping.RENUMBERED and (older or self.stored))
            or self.pruned in {ColumnMapping.RENUMBERED, *of_iceberg}
            or (by in of_iceberg and (older or self.stored or self.cast or self.listed))
            # Who goes by id converts values, and so does who cuts timestamps.
            or (self.stored and (by is ColumnMapping.ID or self.cut))
            or (self.cast and (self.listed or self.stored or self.cut))
            # Hive shows Hudi's columns under others where it goes by id and merges log files.
            or (self.overlaid and (not merges_by_id or older or prunes))
            or (self.table_order and (older or self.stored or self.cast or self.overlaid))
            or (self.logs is Logs.BY_NAME and (by is not ColumnMapping.ID or older))
            # Who answers from the schema goes by that of today, and by no statistics.
            or (trusts and prunes)
            or (self.nulls_by_schema and (older or trusts or prunes))
        )

    def includes(self, other: ReadStrategy) -> bool:
        return self.mapping is other.mapping and {*other.deviations} < {*self.deviations}

    def __str__(self) -> str:
        return SEPARATOR.join((self.mapping, *self.deviations))


REKEYING: Final = (
    ReadStrategy(ColumnMapping.ID, rekeyed=True),
    ReadStrategy(ColumnMapping.NAME, Logs.BY_ID, rekeyed=True),
)
"""The strategies by which record keys are taken from the third column. Hive finds columns of base
files by id or by name, those of log records always by id, and was seen to do nothing else
beside."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """What can make a difference on some files, beside how columns are found.

    Each field is about the one of `ReadStrategy` of that name: what else than usual is tried,
    whether anything is, or with which column mappings. `prunes`: whether there is a predicate.
    """

    logs: Sequence[Logs] = ()
    catalogs: Mapping[ColumnMapping, Sequence[int]] = field(default_factory=dict)
    prunes: bool = False
    listed: bool = False
    stored: Container[ColumnMapping] = ()
    cast: Container[ColumnMapping] = ()
    cut: bool = False
    overlaid: bool = False
    rekeyed: bool = False
    partless: Container[ColumnMapping] = ()
    trusted: Sequence[str] = ()
    nulls_by_schema: bool = False
    incremental: Sequence[IncrementalRange] = ()
    table_order: bool = False


def read_strategies(
    finders: Sequence[ColumnMapping], can: Deviation = Deviation()
) -> tuple[ReadStrategy, ...]:
    switch = {True: (False, True), False: (False,)}
    made = (
        ReadStrategy(by, *options, partless=partless, trusted=trusted, nulls_by_schema=by_schema)
        for by in finders
        for by_schema in switch[can.nulls_by_schema]
        for trusted in ((None, *can.trusted) if can.prunes else (None,))
        for partless in switch[by in can.partless]
        for options in product(
            (Logs.MERGED, *can.logs),
            (None, *can.catalogs.get(by, ())),
            (None, *finders) if can.prunes else (None,),
            switch[can.listed],
            switch[by in can.stored],
            switch[by in can.cast],
            switch[can.cut],
            switch[can.overlaid and by is ColumnMapping.ID],
            switch[can.table_order and by in {ColumnMapping.ID, ColumnMapping.NAME}],
            (IncrementalRange.SINCE, *can.incremental),
        )
    )
    some = [
        strategy
        for strategy in made
        if not (strategy.redundant or strategy.implausible) and len(strategy.deviations) <= AT_ONCE
    ]
    some += REKEYING if can.rekeyed else ()
    return tuple(sorted(some, key=lambda strategy: len(strategy.deviations)))


def parts_of(strategy: str) -> tuple[str, ...]:
    return tuple(strategy.split(SEPARATOR))
