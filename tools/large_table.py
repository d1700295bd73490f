"""Write a large Iceberg table with deletes and two changes of its schema, for measurements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from harness.formats.files import table_folder
from harness.formats.files.locations import Locations
from harness.formats.iceberg import read_plan
from harness.formats.read_plan import ReadPlan
from tests.builders.iceberg_folder import EQUALITY_DELETES, LOCATION, Entry, IcebergFolder

FILES: Final = 40
SCHEMAS: Final = 3
PROMOTED: Final = 2
"""The schema since which a column of `int` is one of `long`."""
_TYPES: Final = {
    "id": "long",
    **{f"n{at}": "int" for at in range(6)},
    **{f"d{at}": "decimal(12, 2)" for at in range(4)},
    **{f"t{at}": "string" for at in range(5)},
    **{f"m{at}": "timestamptz" for at in range(3)},
    "s": {
        "type": "struct",
        "fields": [
            {"id": 101, "name": "x", "type": "long", "required": False},
            {"id": 102, "name": "y", "type": "string", "required": False},
        ],
    },
}
IDS: Final = {**{name: at for at, name in enumerate(_TYPES, 1)}, "x": 101, "y": 102, "added": 103}


def write(folder: Path, rows: int) -> ReadPlan:
    """Write a table of about so many rows, and plan it."""
    table = IcebergFolder(folder)
    per_file, rng = rows // FILES, np.random.default_rng(7)
    paths = [_file(table, rng, number, per_file) for number in range(FILES)]
    entries = [Entry(path, metrics={"record_count": per_file}) for path in paths]
    for at in range(SCHEMAS):
        table.commit(at + 1, *entries[at::SCHEMAS])
    gone = sorted(rng.choice(per_file, per_file // 100, replace=False).tolist())
    deletes = table.deletes("deletes.parquet", *((path, at) for path in paths for at in gone))
    ids = rng.choice(rows, 1000, replace=False)
    by_id = _stored(table, "by_id.parquet", {"id": pa.array(ids, pa.int64())})
    by = Entry(by_id, EQUALITY_DELETES, by=(IDS["id"],))
    table.commit(4, Entry(deletes, 1), by)
    table.metadata(1, **{"schemas": list(_schemas()), "current-schema-id": 2})
    locations = Locations({LOCATION: str(folder)})
    return read_plan.plan(table_folder.at(str(folder)), "", locations)


def _schemas() -> Iterator[Mapping[str, Any]]:
    """Yield the first one; then one renamed and one without; then one promoted and two added."""
    types: dict[str, Any] = dict(_TYPES)
    for number in range(SCHEMAS):
        fields = [
            {"id": IDS[name], "name": f"{name}_now" * (number and name == "t1") or name, **_type(t)}
            for name, t in types.items()
        ]
        yield {"schema-id": number, "fields": fields}
        if number == 0:
            types.pop("n5")
        else:
            types |= {"n0": "long", "added": "string"}


def _type(type_: object) -> Mapping[str, object]:
    return {"type": type_, "required": False}


def _file(table: IcebergFolder, rng: np.random.Generator, number: int, rows: int) -> str:
    first = number * rows
    whole = pa.array(np.arange(first, first + rows), pa.int64())
    columns: dict[str, pa.Array] = {"id": whole}
    for at in range(6):
        type_ = pa.int64() if at == 0 and number % SCHEMAS == PROMOTED else pa.int32()
        columns[f"n{at}"] = pa.array(rng.integers(0, 2**31 - 1, rows), type_)
    for at in range(4):
        cents = pa.array(rng.integers(0, 10**7, rows), pa.int64()).cast(pa.decimal128(19, 0))
        hundredth = pa.scalar(1, pa.decimal128(3, 2)).cast(pa.decimal128(3, 2))
        columns[f"d{at}"] = pa.compute.multiply(cents, hundredth).cast(pa.decimal128(12, 2))
    for at in range(5):
        numbers = pa.array(rng.integers(0, 10**9, rows), pa.int64())
        columns[f"t{at}"] = pa.compute.binary_join_element_wise("text", numbers.cast("string"), " ")
    for at in range(3):
        micros = pa.array(rng.integers(0, 2 * 10**15, rows), pa.int64())
        columns[f"m{at}"] = micros.cast(pa.timestamp("us", "UTC"))
    columns["s"] = pa.StructArray.from_arrays([whole, columns["t0"]], ["x", "y"])
    if number % SCHEMAS:
        columns.pop("n5")
        columns["t1_now"] = columns.pop("t1")
    return _stored(table, f"{number}.parquet", columns)


def _stored(table: IcebergFolder, name: str, columns: Mapping[str, pa.Array]) -> str:
    fields = [_field(name, column.type) for name, column in columns.items()]
    path = table.path / "data" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(dict(columns)).cast(pa.schema(fields)), path)
    return f"data/{name}"


def _field(name: str, type_: pa.DataType) -> pa.Field:
    if pa.types.is_struct(type_):
        type_ = pa.struct([_field(part.name, part.type) for part in type_])
    id_ = IDS[name.removesuffix("_now")]
    return pa.field(name, type_, metadata={"PARQUET:field_id": str(id_)})
