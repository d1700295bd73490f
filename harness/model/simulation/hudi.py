"""Hive misreads Hudi tables in four known ways: by places, keys, ids and orders of columns."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Final, TypeVar

from harness.model.canonical import Value, text_of
from harness.model.file_facts import FileFact
from harness.model.schema import Field
from harness.model.simulation.column_resolution import META, WrittenFiles

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


def overlaid(sources: Sources, partition_by: Container[str]) -> list[tuple[Field, Field | None]]:
    """Return what is taken of a base file where Hudi's columns are in the places of the table's.

    To merge log files, Hudi's reader for Hive (1.0.2) asks for three columns more, by the numbers
    that they have where the catalog lists all of Hudi's; with schema-on-read it calls the catalog's
    columns of these numbers by their names. Where the catalog lists none of them, that is what is
    read under the table's own, in all file groups of a query that is answered without MapReduce.
    Rows of log files are put whole over those of base files later. Partition columns come last in
    Hive and take no place. Source: `HoodieRealtimeInputFormatUtils.addRequiredProjectionFields`,
    `SchemaEvolutionContext.setColumnNameList`, `RealtimeCompactedRecordReader.setUpWritable`.
    """
    places = count()
    return [
        (field, source if field.name in partition_by else PLACES.get(next(places), source))
        for field, source in sources
    ]


KEY_AT: Final = 2
"""The place that is taken for the key's (`HoodieInputFormatUtils.HOODIE_RECORD_KEY_COL_POS`)."""
AnyRow = TypeVar("AnyRow")


def rekeyed(
    older: Iterable[tuple[Value, AnyRow]], newer: Mapping[str, AnyRow | None]
) -> Iterator[AnyRow]:
    """Merge base rows, each with the value that is taken for its key, with what log files hold.

    Hudi's reader for Hive takes the record key of a base row from the place where it stands if the
    catalog lists Hudi's columns. Where it lists none of them, one of the table's own stands there:
    log records hardly ever meet the rows that they change, and both are shown (seen of MapReduce
    with schema-on-read). Source: `RealtimeCompactedRecordReader.next`.

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


def renumbered(files: WrittenFiles) -> bool:
    """Return whether ids that are given anew in the order of some base file of Hudi's are others.

    Hive, schema-on-read on, reads a file so where a timestamp is asked for: it numbers the file's
    columns and looks for the ids that the table gave when it was created (`HoodieAvroParquetReader`
    and the conversion of Avro's schema to `InternalSchema`). It is said only of tables that were
    seen to be read so: without partitions, and with the columns that they were created with.
    """
    table, fields = files.history[-1].table, files.history[-1].schema.fields
    ids = [field.id for field in files.history[0].schema.fields]
    if table.partition_by or {field.id for field in fields} != {*ids}:
        return False
    if not any(map(has_timestamp, fields)):
        return False
    for base in files.bases:
        names = [name for name, _ in base.columns]
        written = {one.name: one.id for one in files.written_schema(base).fields}
        in_file = [written[name] for name in names if name in written]
        if META.keys() <= {*names} and in_file not in ([], ids):
            return True
    return False


def taken_for(table: WrittenFiles, catalog: Sequence[str]) -> Mapping[int, int]:
    """Return the columns that show another one, by their ids; nothing where both orders agree.

    The metastore may have another order than the table: a column that the write client moved is
    moved nowhere else, and a DataFrame first changes the schema of the next commit alone. Hive 3.1
    then gives values in the order of the table and names them in that of the catalog (seen without
    MapReduce, schema-on-read off); where one of another type would be shown, it ends with an error.
    """
    files = [fact for fact in table.newest if fact.columns and not fact.partial]
    truth = table.history[-1]
    now = [field for field in truth.schema.fields if field.name not in truth.table.partition_by]
    hudis = any(META.keys() <= {name for name, _ in fact.columns} for fact in files)
    ids = {field.name.lower(): field.id for field in now}
    listed = [ids[name] for name in map(str.lower, catalog) if name in ids]
    if not hudis or sorted(listed) != sorted(ids.values()):
        return {}
    types = {field.id: field.type for field in now}
    pairs = zip(listed, _order(table, now, files), strict=True)
    others = {shown: name for shown, name in pairs if shown != name}
    return others if all(types[a] == types[b] for a, b in others.items()) else {}


def _order(table: WrittenFiles, fields: Sequence[Field], files: Sequence[FileFact]) -> list[int]:
    """Return the ids of the columns in the table's own order: another one if a write changed it."""
    now = [field.id for field in fields]
    newest = max(files, key=table.step)
    parts, columns = table.history[-1].table.partition_by, table.written_schema(newest).fields
    then = {field.name: field.id for field in columns if field.name not in parts}
    written = [then[name] for name, _ in newest.columns if name in then]
    if written == list(then.values()):
        return now
    here = [number for number in written if number in now]
    return here + [number for number in now if number not in here]
