#!/usr/bin/env bash
# A list of structs in an Iceberg table, whose struct has lost the one part that its file has and
# got another one: the list is still of two, a struct of NULL and a NULL. Daft 0.7.26 shows NULL for
# the whole list, also for an empty one, and DuckDB 1.5.5 takes the NULL for a struct. PyIceberg
# 0.12.0, which reads as Iceberg's specification has it ("Column Projection"), is right. There is no
# error anywhere.
#
# Seen of [{a: 1}, NULL] and []: PyIceberg [{b: NULL}, NULL] and [], Daft NULL and NULL, DuckDB
# [{b: NULL}, {b: NULL}] and [].
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib "pyiceberg[sql-sqlite]==0.12.0" daft==0.7.26 pyarrow==25.0.1 duckdb==1.5.5 duckdb-extension-avro==1.5.5 duckdb-extension-iceberg==1.5.5
PYTHONPATH=lib python3 - <<'PYTHON'
import os
from importlib import import_module
from pathlib import Path

import daft
import duckdb
import pyarrow as pa
from pyiceberg.catalog.memory import InMemoryCatalog
from pyiceberg.types import LongType

catalog = InMemoryCatalog("c", warehouse=f"file://{os.getcwd()}/warehouse")
catalog.create_namespace("n")
kind = pa.list_(pa.struct([("a", pa.int64())]))
rows = pa.table({"id": [1, 2], "l": pa.array([[{"a": 1}, None], []], kind)})
table = catalog.create_table("n.t", rows.schema)
table.append(rows)
with table.update_schema() as update:
    update.add_column(("l", "element", "b"), LongType())
with table.update_schema(allow_incompatible_changes=True) as update:
    update.delete_column(("l", "element", "a"))
for name in ("avro", "iceberg"):
    package = Path(import_module(f"duckdb_extension_{name}").__file__).parent
    (file,) = package.glob(f"extensions/*/{name}.duckdb_extension")
    duckdb.sql(f"load '{file}'")
scan = f"iceberg_scan('{table.metadata_location.removeprefix('file://')}')"
by_duckdb = [l for (l,) in duckdb.sql(f"select l from {scan} order by id").fetchall()]
by_pyiceberg = table.scan().to_arrow().sort_by("id")["l"].to_pylist()
by_daft = daft.read_iceberg(table).sort("id").to_pydict()["l"]
print(by_pyiceberg, by_daft, by_duckdb)
assert by_pyiceberg == [[{"b": None}, None], []]
assert by_daft == [None, None], "an empty list is not NULL"
assert by_duckdb == [[{"b": None}, {"b": None}], []], "the second element is NULL"
PYTHON
