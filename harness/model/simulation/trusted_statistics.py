"""Which rows a reader leaves out that goes by what is stored beside the values.

A file's own statistics are followed where nothing but deletes is merged into it, for other log
records may change what it holds; those of a folder are followed whatever is in its files (Apache
Parquet format, `Statistics` of a row group; a column that a file does not have counts as all NULL
there, and a bound that is NaN for nothing: the same, `ColumnOrder`).

A schema that forbids NULL answers conditions on it without a look at a value: `is null` is true of
no row, `is not null` of every one (Apache Iceberg, `UnboundPredicate.bind`; Apache Spark,
`NullPropagation`). Values may be NULL all the same where NULL is forbidden in a column that older
files lack (seen on Spark, Trino and Hive, on Iceberg's tables).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from harness.model.canonical import Value, is_nan
from harness.model.file_facts import FileFact
from harness.model.query import Comparison, Condition, Query
from harness.model.schema import Field
from harness.model.simulation.column_resolution import part_in
from harness.model.simulation.strategies import ColumnMapping
from harness.model.truth import Truth

Sources = Sequence[tuple[Field, Field | None]]
"""The columns of a table, each with the one of a file that is taken for it."""


def can_hold(condition: Condition, values: Sequence[Value]) -> bool:
    """Return whether a file whose column has these values may hold a row for which it holds.

    Values that cannot be compared with the wanted one leave nothing out, nor does a NaN: the least
    and the greatest of a column that has one are not written, or not to be relied on.
    """
    there = [value for value in values if value is not None]
    match condition.test:
        case Comparison.NULL:
            return len(there) < len(values)
        case Comparison.NOT_NULL:
            return bool(there)
    if any(map(is_nan, there)):
        return True
    try:
        if condition.test is Comparison.AT_LEAST:
            return bool(there) and bool(condition.value <= max(there))
        return bool(there) and bool(min(there) <= condition.value <= max(there))
    except TypeError:
        return True


def decided(conditions: Sequence[Condition], truth: Truth) -> Iterator[Condition]:
    """Yield the conditions on NULL whose column forbids it, and so does all that it is a part of.

    Source: `allAncestorFieldsAreRequired` of Iceberg's `UnboundPredicate`.
    """
    for condition in conditions:
        on_null = condition.test in {Comparison.NULL, Comparison.NOT_NULL} and truth.schema.has(
            condition.path
        )
        paths = accumulate(condition.path.split("."), "{}.{}".format)
        if on_null and all(truth.schema.find(path).id in truth.required for path in paths):
            yield condition


def without_decided(query: Query, truth: Truth) -> Query | None:
    """Return what is left of a question to ask of each row; None where no row can pass."""
    known = frozenset(decided(query.conditions, truth))
    if any(condition.test is Comparison.NULL for condition in known):
        return None
    where, also = (
        None if condition in known else condition for condition in (query.where, query.also)
    )
    return replace(query, where=where, also=also)


def names_of(path: str, pairs: Sources, fact: FileFact, by: ColumnMapping) -> frozenset[str]:
    """Return the names under which a column of a table has its statistics.

    That is the name of the file's column which is taken for it. Where the file has none of the
    table's name, it may be the table's as well: not all statistics are made with the file.
    """
    head, *rest = path.split(".")
    own = frozenset[str]() if head in dict(fact.columns) else frozenset({path})
    field, source = next((pair for pair in pairs if pair[0].name == head), (None, None))
    names = []
    for part in ("", *rest):
        if part and field is not None and source is not None:
            inner = next((child for child in field.children if child.name == part), None)
            source = part_in(source, field, inner, by) if inner is not None else None
            field = inner
        if field is None or source is None:
            return own
        names.append(source.name)
    return own | {".".join(names)}
