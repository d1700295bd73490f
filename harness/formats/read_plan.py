"""How a table's rows come out of its files by the rules of its format, for anybody to carry out.

A plan is made of a format's own records alone: which data files are part of the table, what each
column of the table is called in each file, what stands for one that a file lacks, and which rows
are deleted. It says nothing of how files are read. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from harness.core.arrow import pa
from harness.formats.files.column_parts import ColumnPart
from harness.model.canonical import Look, Value

Id: TypeAlias = int | str
"""What a format knows a column or a part of one by: a field id, a physical name, or its name."""
ArrowType: TypeAlias = "Callable[[str], pa.DataType]"
"""Returns Arrow's type for a format's word for a type without parts; raises ValueError."""


MayBecome: TypeAlias = "Callable[[pa.DataType, pa.DataType], bool]"
"""Returns whether what a file stores in the first type may be a column of the second one."""


@dataclass(frozen=True, slots=True)
class FileColumns:
    """How the columns of a file, and parts of them, are told."""

    names: Mapping[str, Id] = field(default_factory=dict)
    """Ids by the dotted name in the file. A part of a list or map is `element`, `key`, `value`;
    below these the table's ids are in the same places."""
    by_id: bool = False
    """Whether the field ids that a file itself has go before its names; a file without any has
    names alone."""
    unread: Collection[Id] = ()
    """Of these the file is not asked, whatever it has."""


@dataclass(frozen=True, slots=True)
class DeletedValues:
    """Rows that are deleted by what some of their columns hold."""

    ids: tuple[Id, ...]
    rows: Collection[tuple[Look, ...]]
    """How the values look (`look_of`); NULL is equal to NULL."""
    types: tuple[str, ...] = ()
    """The format's words for the types in which they are compared; as they lie in files if none."""


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file of rows."""

    path: str
    """As the table's records name it, for people."""
    location: str
    """Where it lies: a path or a URI."""
    columns: FileColumns
    constants: Mapping[Id, Value] = field(default_factory=dict)
    """The values of columns that the file lacks, such as those of its partition."""
    deleted: Collection[int] = ()
    """The positions of deleted rows, from 0."""
    deleted_values: tuple[DeletedValues, ...] = ()
    only: Collection[int] | None = None
    """The positions of the only rows that are read; all if None."""
    stored: Callable[[], pa.Table] | None = None
    """Reads the rows where they are only a part of what lies there, with what they hold as ids
    under `field_id`; raises FileFactError."""
    size: int | None = None
    """Its bytes, as the table's records say; None where they do not."""
    partial: bool = False
    """Whether the columns that the rows lack stay as they were; see `RowMerge`."""


@dataclass(frozen=True, slots=True)
class DeletedKeys:
    """Rows that are deleted by their keys, with the value by which their versions are ordered.

    Where there is none, whatever came before is deleted.
    """

    keys: Mapping[tuple[Look, ...], tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class RowMerge:
    """Versions of rows, of which for each key only one is part of the table."""

    base: PlannedFile | None
    """Where several rows have one key, all are part of the table until a version replaces them."""
    versions: tuple[PlannedFile | DeletedKeys, ...]
    """In the order of their writes."""
    key: tuple[Id, ...]
    ordering: tuple[Id, ...] = ()
    """The columns that tell which version is the newest; the later one where they are equal or
    NULL, and where there are none."""
    deleting: tuple[DeletedValues, ...] = ()
    """What rows hold that only say that their keys are deleted."""
    fills: bool = False
    """Whether a column that is NULL in the newest version is as it was before."""


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """What a reader must do to show a table as it is at one version."""

    columns: tuple[ColumnPart, ...]
    """Of the table, in its order, with the format's own words for types."""
    files: tuple[PlannedFile, ...]
    """Those whose rows are part of the table, but for deleted ones."""
    arrow_type: ArrowType
    version: str
    """The snapshot, version or instant that it is of; empty where the format counts none."""
    defaults: Mapping[Id, Value] = field(default_factory=dict)
    """What columns and parts hold where a file lacks them; NULL for all others."""
    merges: tuple[RowMerge, ...] = ()
    undecided: tuple[str, ...] = ()
    """What the format's rules leave open about this table, a sentence each, with the source."""
    may_become: MayBecome = lambda _stored, _type: True
    """What else is stored is an error, not what the table's records say; else what Arrow casts."""

    @property
    def every_file(self) -> Iterator[PlannedFile]:
        """All files that have rows, or versions of rows."""
        yield from self.files
        for merge in self.merges:
            yield from (merge.base,) if merge.base else ()
            yield from (file for file in merge.versions if isinstance(file, PlannedFile))
