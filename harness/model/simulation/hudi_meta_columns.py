"""Hudi's own columns in the places of the table's, as Hive shows them.

To merge log files Hudi's reader for Hive asks for three columns more, under the numbers that they
have where the catalog lists all of Hudi's. With schema-on-read it then calls the catalog's columns
of these numbers by these names. Where the catalog lists none of Hudi's columns, that is what is
read under the table's own. Rows that log files hold are put whole over those of base files later.

All file groups of a query that Hive answers without MapReduce are read with one list of columns,
so groups without log files are read so as well; one of them that came first would end the query
with an error.

Source: Hudi 1.0.2, `HoodieRealtimeInputFormatUtils.addRequiredProjectionFields`,
`SchemaEvolutionContext.setColumnNameList` and `setColumnTypeList` (the error),
`RealtimeCompactedRecordReader.setUpWritable`.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Final

from harness.model.canonical import Value
from harness.model.schema import Field
from harness.model.simulation.column_resolution import META

Meta = Mapping[str, Sequence[Sequence[Value]]]
"""By a base file's path: the values of Hudi's meta columns, row by row, in the order of its keys.
Nothing in it where the catalog lists these columns, or where they are not known."""
NO_META: Final[Meta] = MappingProxyType({})
Sources = Sequence[tuple[Field, Field | None]]
"""A table's columns, each with the one of a file that is taken for it."""
PLACES: Final[Mapping[int, Field]] = MappingProxyType(
    {
        0: META["_hoodie_commit_time"],
        2: META["_hoodie_record_key"],
        3: META["_hoodie_partition_path"],
    }
)
"""Which of Hudi's columns stands at which place (`HoodieInputFormatUtils`)."""


def overlaid(found: Sources, partition_by: Container[str]) -> list[tuple[Field, Field | None]]:
    """What is taken of a base file; partition columns come last in Hive and take no place."""
    places = count()
    return [
        (field, source if field.name in partition_by else PLACES.get(next(places), source))
        for field, source in found
    ]
