"""Whether ids that are given anew in each base file of Hudi's are other ones than the table's.

Hive with Hudi 1.0.2, schema-on-read on, reads a file so where a timestamp is asked for: it numbers
the file's columns from the first on and looks for the ids of the table in it, which were given in
the same way when the table was created (`HoodieAvroParquetReader` and the conversion of Avro's
schema to `InternalSchema`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.model.file_facts import FileFact
from harness.model.schema import Field
from harness.model.simulation.column_resolution import META, slices, written_schema
from harness.model.truth import History


def has_timestamp(field: Field) -> bool:
    return any(str(each.type) == "timestamp" for each in field.walk())


def renumbered(history: History, files: Sequence[FileFact], steps: Mapping[str, int]) -> bool:
    """Return whether ids that are given anew in the order of some base file of Hudi's are others.

    It is said only of tables that were seen to be read so: with a timestamp, without partitions,
    and with the columns that they were created with.

    Raises:
        LayoutError: a file's instant is not in the history.

    """
    table, fields = history[-1].table, history[-1].schema.fields
    ids = [field.id for field in history[0].schema.fields]
    if table.partition_by or {field.id for field in fields} != {*ids}:
        return False
    if not any(map(has_timestamp, fields)):
        return False
    bases = (base for base, _ in slices(files, steps) if base is not None)
    return any(_ids(history, base, steps) not in ([], ids) for base in bases)


def _ids(history: History, fact: FileFact, steps: Mapping[str, int]) -> list[int]:
    """Return the ids of a file's columns in order; none of one that does not begin as Hudi's do."""
    names = [name for name, _ in fact.columns]
    ids = {field.name: field.id for field in written_schema(history, fact, steps).fields}
    return [ids[name] for name in names if name in ids] if META.keys() <= {*names} else []
