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

from harness.model.query import Condition, Query, Test
from harness.model.truth import Truth


def decided(conditions: Sequence[Condition], truth: Truth) -> Iterator[Condition]:
    """Yield the conditions on NULL whose column forbids it, and so does all that it is a part of.

    Source: `allAncestorFieldsAreRequired` of Iceberg's `UnboundPredicate`.
    """
    for condition in conditions:
        on_null = condition.test in {Test.NULL, Test.NOT_NULL} and truth.schema.has(condition.path)
        paths = accumulate(condition.path.split("."), "{}.{}".format)
        if on_null and all(truth.schema.find(path).id in truth.required for path in paths):
            yield condition


def without_decided(query: Query, truth: Truth) -> Query | None:
    """Return what is left of a question to ask of each row; None where no row can pass."""
    known = frozenset(decided(query.conditions, truth))
    if any(condition.test is Test.NULL for condition in known):
        return None
    where, also = (
        None if condition in known else condition for condition in (query.where, query.also)
    )
    return replace(query, where=where, also=also)
