#!/usr/bin/env bash
# A column that was added to an Iceberg table of format version 3 with a default has it in older
# rows (specification, "Default values"). Daft 0.7.26 shows NULL there, without an error. PyIceberg
# 0.12.0 shows it, and a filter finds a number by it, but not a day: d = '2020-02-29' misses the row
# that is shown with that day. Iceberg's own library on Spark cannot be told a default by SQL, so
# such tables come from other writers; this one is made of a metadata file.
#
# Seen: PyIceberg {x 5, d 2020-02-29}, 1 row with x = 5, 0 rows with d = '2020-02-29'; Daft {x NULL,
# d NULL}.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib "pyiceberg[sql-sqlite]==0.12.0" daft==0.7.26 pyarrow==25.0.1
PYTHONPATH=lib python3 - <<'PYTHON'
import json
import os
from datetime import date
from pathlib import Path

import daft
import pyarrow as pa
from pyiceberg.catalog.memory import InMemoryCatalog
from pyiceberg.table import StaticTable

catalog = InMemoryCatalog("c", warehouse=f"file://{os.getcwd()}/warehouse")
catalog.create_namespace("n")
rows = pa.table({"id": [1]})
made = catalog.create_table("n.t", rows.schema)
made.append(rows)
metadata = json.loads(Path(made.metadata_location.removeprefix("file://")).read_text())
for at, name, kind, default in ((2, "x", "int", 5), (3, "d", "date", "2020-02-29")):
    column = {"id": at, "name": name, "type": kind, "required": False}
    defaults = {"initial-default": default, "write-default": default}
    metadata["schemas"][0]["fields"].append({**column, **defaults})
metadata |= {"format-version": 3, "last-column-id": 3, "next-row-id": 1}
for snapshot in metadata["snapshots"]:
    snapshot |= {"first-row-id": 0, "added-rows": 1}
Path("v3.metadata.json").write_text(json.dumps(metadata))
table = StaticTable.from_metadata(f"file://{os.getcwd()}/v3.metadata.json")


def found(filter_: str) -> list[dict]:
    return table.scan(filter_).to_arrow().to_pylist()


by_daft = daft.read_iceberg(table).to_pydict()
print(found("id = 1"), found("x = 5"), found("d = '2020-02-29'"), by_daft)
assert found("id = 1") == found("x = 5") == [{"id": 1, "x": 5, "d": date(2020, 2, 29)}]
assert found("d = '2020-02-29'") == [], "the row is shown with that day"
assert by_daft == {"id": [1], "x": [None], "d": [None]}, "5 and 2020-02-29 are the defaults"
PYTHON
