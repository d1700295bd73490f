"""What an ORC file says of its columns, stripe by stripe.

Source: ORC specification, "Column Statistics" and "File Tail"; Arrow does not give them.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.formats.api import FileFactError
from harness.model.canonical import Value
from harness.model.column_statistics import ColumnStatistics, StatisticsSource, bound

if TYPE_CHECKING:
    from pyorc import Reader, TypeDescription


def read(path: Path, relative: str) -> tuple[ColumnStatistics, ...]:
    """Read the statistics of the columns, and of parts of structs; not of what is in a list or map.

    Raises:
        FileFactError: it is no ORC file.

    """
    import pyorc  # noqa: PLC0415 - only reading needs it

    try:
        with path.open("rb") as file:
            return tuple(_of_stripes(pyorc.Reader(file), relative))
    except (pyorc.errors.ORCError, OSError) as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem


def _of_stripes(reader: Reader[Any], relative: str) -> Iterator[ColumnStatistics]:
    columns = tuple(_leaves(reader.schema))
    for stripe in reader.iter_stripes():
        for name, column_id in columns:
            try:
                statistics = stripe[column_id].statistics
            except OverflowError:  # a bound is a moment that Python does not have
                continue
            least, greatest = _bounds(statistics)
            yield ColumnStatistics(
                StatisticsSource.ORC,
                relative,
                name,
                len(stripe),
                len(stripe) - statistics["number_of_values"],
                bound(least),
                bound(greatest),
                stripe.row_offset,
            )


def _leaves(type_: TypeDescription) -> Iterator[tuple[str, int]]:
    """Yield the dotted name and the number of each column and part of a struct without parts."""
    from pyorc import Struct, TypeKind  # noqa: PLC0415

    for name, field in type_.fields.items() if isinstance(type_, Struct) else ():
        if isinstance(field, Struct):
            yield from ((f"{name}.{part}", number) for part, number in _leaves(field))
        elif field.kind not in {TypeKind.LIST, TypeKind.MAP, TypeKind.UNION}:
            yield name, field.column_id


def _bounds(statistics: Mapping[str, Any]) -> tuple[Value, Value]:
    """Return the least and the greatest value; None where it is not stored.

    Those of times are stored in milliseconds, those of long texts cut: the library then says
    between which values all lie.
    """
    if "true_count" in statistics:
        there = [False] * statistics["false_count"] + [True] * statistics["true_count"]
        return (there[0], there[-1]) if there else (None, None)
    least = statistics.get("lower_bound", statistics.get("minimum"))
    greatest = statistics.get("upper_bound", statistics.get("maximum"))
    return _canonical(least), _canonical(greatest)


def _canonical(value: Any) -> Value:  # noqa: ANN401 - the library's
    # Written in UTC, as the values are.
    return value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value
