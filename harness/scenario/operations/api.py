"""What every operation offers: `Operation` is the base of the class in each file of this folder."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, ClassVar, Final

from pydantic import BeforeValidator, PlainSerializer

from harness.core.texts import counted
from harness.model.canonical import Value
from harness.model.datatypes import DataType, TypeTextError, parse_type
from harness.model.schema import ColumnPosition, SchemaChangeError
from harness.model.truth import Truth
from harness.scenario.statements import Statement


def _read_type(data: object) -> object:
    if isinstance(data, DataType):
        return data
    if not isinstance(data, str):
        raise ValueError(f'a type is text such as int or "struct<a: int>"; {data} is given')  # noqa: TRY004 - pydantic collects ValueErrors
    try:
        return parse_type(data)
    except TypeTextError as wrong:
        raise ValueError(str(wrong)) from wrong


TypeText = Annotated[DataType, BeforeValidator(_read_type), PlainSerializer(str)]
"""A type that scenario files write as text."""

Key = int | str
"""A key as scenario files write it; converted to the key column's type."""

Explicit = dict[str, Value]
"""An explicit row, by column name; columns not named get traceable values."""


class Family(StrEnum):
    """A family of formats, which has operations and their statements in common."""

    HUDI = "Hudi"
    ICEBERG = "Iceberg"
    DELTA = "Delta"
    HIVE = "Hive"
    HIVE_ACID = "Hive ACID"


WITH_DELETES: Final = frozenset(Family) - {Family.HIVE}
"""Those in which rows are changed and deleted."""


@dataclass(frozen=True, slots=True)
class TableKind:
    family: Family
    merge_on_read: bool = False
    """Whether changes go to log files first."""


@dataclass(frozen=True, slots=True)
class StepContext:
    """A step of a variant, of which an operation says the statements."""

    kind: TableKind
    before: Truth
    after: Truth
    settings: Mapping[str, str]
    """Those of the variant."""


Statements = tuple[Statement, ...] | None


class StepTrace(StrEnum):
    """The one thing in a table's own records by which a step shows: a field of `Committed`."""

    SCHEDULED = "scheduled"
    CLEANINGS = "cleanings"
    TABLE_VERSION = "table_version"
    SAVEPOINTS = "savepoints"
    UNDONE = "undone"
    BEGUN = "begun"
    TAGS = "tags"
    CHECKPOINTS = "checkpoints"


class ServiceMode(StrEnum):
    """How much of a table service a step does, where it is not all of it."""

    SCHEDULE = "schedule"


@dataclass(frozen=True, slots=True)
class Example:
    """A way to write an operation in a scenario file: a row of the documentation, and an example.

    The example is about the table of `scenario.load`.
    """

    step: str
    """As YAML: `drop_column: f2`."""
    meaning: str
    """What it does, as the documentation says it."""
    after: tuple[str, ...] = ()
    """The steps that must be done before it."""


def example(step: str, meaning: str, *, after: tuple[str, ...] = ()) -> tuple[Example, ...]:
    """Return the one way to write an operation."""
    return (Example(step, meaning, after),)


class Operation:
    """One thing a step can do: a frozen dataclass whose fields are the keys of scenario files."""

    __slots__ = ()

    EXAMPLES: ClassVar[tuple[Example, ...]] = ()
    TEXT: ClassVar[str] = ""
    """What it does, itself as `{0}`; see `text`."""
    SHORT: ClassVar[str] = ""
    """The field that a bare value fills, empty when there is none."""
    CHANGES_SCHEMA: ClassVar[bool] = False
    FAMILIES: ClassVar[frozenset[Family]] = frozenset(Family)
    """The formats that have it."""
    WHY_NOT: ClassVar[str] = ""
    """Why the others do not have it, to follow their name; by default that only these have it."""
    TRACE: ClassVar[StepTrace | None] = None
    """By what alone it shows in the table's records; None for a write or a schema change, and for
    what shows nowhere, which counts as done unless it ends in an error."""

    def text(self) -> str:
        """Return what it does in a few words, for reports: `rename column f1 to f1_new`."""
        return self.TEXT.format(self)

    @property
    def counted(self) -> str:
        """Return how many rows it names, by their keys or whole: `2 rows`."""
        return counted(sum(len(getattr(self, name, ())) for name in ("keys", "rows")), "row")

    def features(self) -> tuple[str, ...]:
        """Return the words of `usage.yaml` for what a table has by this and not by its like."""
        return ()

    def evolve(self, before: Truth) -> Truth:
        """Return the truth after this operation as the next step; by default all stays as it was.

        Raises SchemaChangeError: it cannot be done on this table; the message says why.
        """
        return replace(before, step=before.step + 1)

    def typed(self) -> Mapping[str, DataType]:
        """Return the columns and parts of structs that it adds or writes otherwise, with types."""
        return {}

    def with_types(self, types: Mapping[str, DataType]) -> "Operation":
        """Return it with other types of columns that it adds."""
        return self

    def without(self, path: str) -> "Operation | None":
        """Return what is left of it without one of these columns; None where nothing is."""
        return None

    def axis(self) -> str:
        """Return the axis that says what it does; empty where the scenario file says it."""
        return ""

    def following(self, value: str) -> "Operation":
        """Return what it is in a variant that has this value of its axis."""
        return self

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return the common Spark SQL statements, the table's name written as `{table}`."""
        return ()

    def statements(self, context: StepContext) -> Statements:
        """Return what is sent for a kind of table; None for the common SQL as the format has it."""
        return None

    def unsupported(self, kind: TableKind) -> str:
        """Return why a kind of table cannot have it, to follow the format's name; or nothing.

        What a writer itself refuses is an answer, and the statement is sent.
        """
        if kind.family in self.FAMILIES:
            return ""
        if self.WHY_NOT:
            return self.WHY_NOT
        owners = [str(family) for family in Family if family in self.FAMILIES]
        match owners:
            case [owner]:
                only = f", which is {owner}'s alone"
            case [_, _]:
                only = f", which {' and '.join(owners)} alone have"
            case _:
                only = ""
        return f"has no {name_in_files(type(self))}{only}"

    def trace(self) -> StepTrace | None:
        return self.TRACE


def name_in_files(kind: type[Operation]) -> str:
    """Return what scenario files call an operation: `add_column` for `AddColumn`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def position_of(first: bool, after: str | None) -> ColumnPosition:  # noqa: FBT001 - the scenario file's keys
    if first and after is not None:
        raise SchemaChangeError(f"'first' and 'after: {after}' are two places; give one of them")
    return ColumnPosition(first=first, after=after)
