"""Conditions on NULL as a reader answers them that trusts a schema which forbids NULL.

It takes `is null` for true of no row, and `is not null` for true of every one, and looks at no
value (Apache Iceberg, `UnboundPredicate.bind`; Apache Spark, `NullPropagation`). Values may be NULL
all the same where NULL is forbidden in a column that older files lack (seen on Spark, Trino and
Hive, on Iceberg's tables).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from harness.model.query import Comparison, Condition, Query
from harness.model.truth import Truth


def decided(conditions: Sequence[Condition], truth: Truth) -> Iterator[Condition]:
    """Yield the conditions on NULL whose column forbids it, and so does all that it is a part of.

    Source: `allAncestorFieldsAreRequired` of Iceberg's `UnboundPredicate`.
    """
    for each in conditions:
        on_null = each.test in {Comparison.NULL, Comparison.NOT_NULL} and truth.schema.has(
            each.path
        )
        paths = accumulate(each.path.split("."), "{}.{}".format)
        if on_null and all(truth.schema.find(path).id in truth.required for path in paths):
            yield each


def without_decided(query: Query, truth: Truth) -> Query | None:
    """Return what is left of a question to ask of each row; None where no row can pass."""
    known = frozenset(decided(query.conditions, truth))
    if any(each.test is Comparison.NULL for each in known):
        return None
    where, also = (None if each in known else each for each in (query.where, query.also))
    return replace(query, where=where, also=also)
