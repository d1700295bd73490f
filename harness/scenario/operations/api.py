"""What every operation offers."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Protocol

from pydantic import BeforeValidator, PlainSerializer

from harness.model.canonical import Value
from harness.model.datatypes import DataType, TypeTextError, parse_type
from harness.model.schema import ColumnPosition, SchemaChangeError
from harness.model.truth import Truth


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


class Only(StrEnum):
    """How much of a table service a step does, where it is not all of it."""

    SCHEDULE = "schedule"


class Operation(Protocol):
    """One thing a step can do."""

    SHORT: ClassVar[str]
    """The field that a bare value fills, empty when there is none."""
    CHANGES_SCHEMA: ClassVar[bool]

    def text(self) -> str:
        """Say it in a few words, for reports: `rename column f1 to f1_new`."""

    def evolve(self, before: Truth) -> Truth:
        """Return the truth after this operation as the next step.

        Raises:
            SchemaChangeError: it cannot be done on this table; the message says why.

        """

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return the common Spark SQL statements, the table's name written as `{table}`."""


def schedules(operation: Operation) -> bool:
    """Return whether an operation plans a table service that a later one carries out."""
    return getattr(operation, "only", None) is Only.SCHEDULE


def place_of(first: bool, after: str | None) -> ColumnPosition:  # noqa: FBT001 - the scenario file's keys
    """Return the position that a scenario file's `first` and `after` mean.

    Raises:
        SchemaChangeError: both are said.

    """
    if first and after is not None:
        raise SchemaChangeError(f"'first' and 'after: {after}' are two places; give one of them")
    return ColumnPosition(first=first, after=after)
