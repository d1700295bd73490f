#!/usr/bin/env bash
# deltalake 1.6.6: a new table with column mapping by name and deletion vectors gets a protocol of
# version 3 that lacks the feature columnMapping, while its columns have physical names. What is
# written then has the table's own names, where a table with the mapping alone has the physical ones.
#
# By the Delta protocol, "Column Mapping", the mode does not count without the feature; a reader that
# goes by the mode alone finds no column. Seen: ['deletionVectors', 'variantType'] and {'p': '1'}.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib deltalake==1.6.6 pyarrow==26.0.1
PYTHONPATH=lib python3 - <<'PYTHON'
import json
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

schema = pa.schema([("id", pa.int64()), ("p", pa.int32())])


def actions_of(name: str, **properties: str) -> dict:
    """Make a table, write a row, and return the last action of each kind in its log."""
    named = {f"delta.{key}": value for key, value in properties.items()}
    DeltaTable.create(name, schema, partition_by=["p"], configuration=named)
    write_deltalake(name, pa.table({"id": [1], "p": [1]}, schema), mode="append")
    files = sorted(Path(name, "_delta_log").glob("*.json"))
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return {kind: action for line in lines for kind, action in line.items()}


alone = actions_of("alone", **{"columnMapping.mode": "name"})
both = actions_of("both", **{"columnMapping.mode": "name"}, enableDeletionVectors="true")
print(both["protocol"]["readerFeatures"], both["add"]["partitionValues"])
assert "physicalName" in both["metaData"]["schemaString"]
assert "columnMapping" not in both["protocol"]["readerFeatures"]
assert both["add"]["partitionValues"] == {"p": "1"}
assert [*alone["add"]["partitionValues"]][0].startswith("col-")
PYTHON
