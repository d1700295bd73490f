"""Whether a file can hold what a predicate wants, by the statistics of a column.

Source: Apache Parquet format, `Statistics` (`min_value`, `max_value`, `null_count` of a row group);
a column that a file does not have counts as all NULL there. A bound that is NaN
counts for nothing (the same, `ColumnOrder`).
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.model.canonical import Value, is_nan
from harness.model.query import Comparison, Condition


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
