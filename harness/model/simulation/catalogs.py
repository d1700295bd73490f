"""What a reader may be told of columns that is not the schema of the view's step."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from harness.model.simulation.partition_schemas import Lists
from harness.model.simulation.strategies import ColumnMapping
from harness.model.truth import History

CATALOGS: Final = 12
"""So many earlier schemas a reader is tried with at most, the newest ones, and as many later."""


@dataclass(frozen=True, slots=True)
class CatalogColumns:
    """What the catalog lists of the columns of a table."""

    order: Sequence[str] = ()
    """Their names; none where they are not known."""
    partitions: Lists | None = None
    """The lists of partitions, where these have some of their own."""
    lowers: bool = False
    """Whether the reader has all names in lower case, and some are not."""


CATALOG_AS_SCHEMA: Final = CatalogColumns()
"""Nothing that a schema does not tell."""


def other_catalogs(history: History, later: History, by: ColumnMapping) -> tuple[int, ...]:
    """Return the steps that made another schema than the view's, the newest first.

    A reader may still go by one of them, or go by it already.

    `later`: what came after the step that the view goes back to. A schema that was there before and
    is there again counts twice: nobody can tell by which of them a reader goes.
    """
    (now, _), *_ = _made(history[-1:], by)
    made = (_made(truths, by) for truths in (history, later))
    steps = ([step for fields, step in each if fields != now] for each in made)
    before, after = (sorted(step, reverse=True)[:CATALOGS] for step in steps)
    return (*after, *before)


def _made(truths: History, by: ColumnMapping) -> list[tuple[Hashable, int]]:
    """Return each schema, as far as it matters to a way to find columns, with what made it.

    The order of columns matters to a reader by position alone.
    """
    made: dict[Hashable, int] = {}
    for truth in truths:
        fields = truth.schema.fields
        made.setdefault(fields if by.placed else frozenset(fields), truth.step)
    return list(made.items())
