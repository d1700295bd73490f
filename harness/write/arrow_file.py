"""A Parquet file that no engine wrote: PyArrow's, as many pipelines add it to a folder."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

from harness.engines.arrow_values import arrow_type
from harness.model.canonical import MapValue, Value
from harness.model.datatypes import parse_type
from harness.scenario.statements import ArrowFile


def write(table: Path, file: ArrowFile) -> Path:
    """Write it under a name as Spark gives it, by which Hive's tables know who wrote a file."""
    import pyarrow as pa  # noqa: PLC0415 - only such a step needs it
    import pyarrow.parquet as pq  # noqa: PLC0415

    fields = [pa.field(name, arrow_type(parse_type(text))) for name, text in file.columns]
    values = [
        pa.array([_plain(row[at]) for row in file.rows], field.type)
        for at, field in enumerate(fields)
    ]
    path = table / file.folder / f"part-00000-{uuid4()}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(
        pa.Table.from_arrays(values, schema=pa.schema(fields)),
        path,
        use_deprecated_int96_timestamps=file.int96,
    )
    return path


def _plain(value: Value) -> object:
    match value:
        case MapValue():
            return [(_plain(key), _plain(pair)) for key, pair in value.pairs]
        case dict():
            return {name: _plain(part) for name, part in value.items()}
        case tuple():
            return [_plain(element) for element in value]
    return value
