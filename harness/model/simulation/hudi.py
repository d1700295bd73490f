"""Hive misreads Hudi tables in four known ways: by places, keys, ids and orders of columns.

Hudi's own columns in the places of the table's (`overlaid`, Hudi 1.0.2): to merge log files, Hudi's
reader for Hive asks for three columns more, under the numbers that they have where the catalog
lists all of Hudi's. With schema-on-read it then calls the catalog's columns of these numbers by
these names. Where the catalog lists none of Hudi's columns, that is what is read under the table's
own. Rows that log files hold are put whole over those of base files later.

All file groups of a query that Hive answers without MapReduce are read with one list of columns,
so groups without log files are read so as well; one of them that came first would end the query
with an error.

Source: `HoodieRealtimeInputFormatUtils.addRequiredProjectionFields`,
`SchemaEvolutionContext.setColumnNameList` and `setColumnTypeList` (the error),
`RealtimeCompactedRecordReader.setUpWritable`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Final, TypeVar

from harness.model.canonical import Value, text_of
from harness.model.file_facts import FileFact
from harness.model.schema import Field
from harness.model.simulation.column_resolution import META, Slices, slices, written_schema
from harness.model.truth import History

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


KEY_AT: Final = 2
"""The place that is taken for the key's (`HoodieInputFormatUtils.HOODIE_RECORD_KEY_COL_POS`)."""
AnyRow = TypeVar("AnyRow")


def rekeyed(
    older: Iterable[tuple[Value, AnyRow]], newer: Mapping[str, AnyRow | None]
) -> Iterator[AnyRow]:
    """Merge base rows, each with the value that is taken for its key, with what log files hold.

    Where Hudi's reader for Hive merges log files, it takes the record key of a base row from the
    place where it stands if the catalog lists Hudi's columns. Where it lists none of them, one of
    the table's own stands there, and its text is taken for the key. So log records hardly ever meet
    the rows that they change, and both are shown (seen of MapReduce with schema-on-read; without
    MapReduce all rows are merged as they should be). Source: `RealtimeCompactedRecordReader.next`.

    `newer`: by the text of a record key; None for a row that is deleted.

    Raises ValueError: a value is NULL. Hive ends such a query with an error.
    """
    met = set()
    for value, row in older:
        if value is None:
            raise ValueError("NULL is taken for a record key")
        # As Java writes it: 1.0 is not the key 1.
        key = str(value) if isinstance(value, float) else text_of(value)
        met.add(key)
        if (now := newer.get(key, row)) is not None:
            yield now
    yield from (row for key, row in newer.items() if key not in met and row is not None)


def has_timestamp(field: Field) -> bool:
    return any(str(part.type) == "timestamp" for part in field.walk())


def renumbered(history: History, files: Sequence[FileFact], steps: Mapping[str, int]) -> bool:
    """Return whether ids that are given anew in the order of some base file of Hudi's are others.

    Hive, schema-on-read on, reads a file so where a timestamp is asked for: it numbers the file's
    columns from the first on and looks for the ids of the table in it, which were given in the same
    way when the table was created (`HoodieAvroParquetReader` and the conversion of Avro's schema to
    `InternalSchema`). It is said only of tables that were seen to be read so: with a timestamp,
    without partitions, and with the columns that they were created with.
    """
    table, fields = history[-1].table, history[-1].schema.fields
    ids = [field.id for field in history[0].schema.fields]
    if table.partition_by or {field.id for field in fields} != {*ids}:
        return False
    if not any(map(has_timestamp, fields)):
        return False
    for base in (base for base, _ in slices(files, steps) if base is not None):
        names = [name for name, _ in base.columns]
        written = {one.name: one.id for one in written_schema(history, base, steps).fields}
        in_file = [written[name] for name in names if name in written]
        if META.keys() <= {*names} and in_file not in ([], ids):
            return True
    return False


def taken_for(
    history: History, found: Slices, steps: Mapping[str, int], catalog: Sequence[str]
) -> Mapping[int, int]:
    """Return the columns that show another one, by their ids; nothing where both orders agree.

    The order of the metastore may be another one than that of the table: a column that the write
    client moved is moved nowhere else, and a DataFrame of other columns first changes the schema of
    the next commit alone. Hive 3.1.3 then gives each row's values in the order of the table and
    names them in that of the catalog (seen without MapReduce, schema-on-read off). Nor is anything
    said where a column would show one of another type, which ends with an error, nor where a table
    is not Hudi's or the catalog lists other columns than the table has.
    """
    files = [fact for base, logs in found for fact in (base, *logs) if fact and fact.columns]
    parts = history[-1].table.partition_by
    now = [field for field in history[-1].schema.fields if field.name not in parts]
    hudis = any(META.keys() <= {name for name, _ in fact.columns} for fact in files)
    ids = {field.name.lower(): field.id for field in now}
    listed = [ids[name] for name in map(str.lower, catalog) if name in ids]
    if not hudis or sorted(listed) != sorted(ids.values()):
        return {}
    types = {field.id: field.type for field in now}
    pairs = zip(listed, _order(history, now, files, steps), strict=True)
    others = {shown: own for shown, own in pairs if shown != own}
    return others if all(types[a] == types[b] for a, b in others.items()) else {}


def _order(
    history: History, fields: Sequence[Field], files: Sequence[FileFact], steps: Mapping[str, int]
) -> list[int]:
    """Return the ids of the columns in the table's own order.

    It is the truth's, but where the newest files have the columns of their time in another one:
    then a write has changed it.
    """
    now = [field.id for field in fields]
    newest = max(files, key=lambda fact: steps[fact.instant])
    parts, columns = history[-1].table.partition_by, written_schema(history, newest, steps).fields
    then = {field.name: field.id for field in columns if field.name not in parts}
    written = [then[name] for name, _ in newest.columns if name in then]
    if written == list(then.values()):
        return now
    here = [number for number in written if number in now]
    return here + [number for number in now if number not in here]
