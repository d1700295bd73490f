#!/usr/bin/env bash
# deltalake 1.6.6 refuses every Delta table with type widening, by its feature's name; 1.5.1 read
# it, and right. So an upgrade of the library takes away a table that it had. The one here follows
# Delta's protocol ("Type Widening"): an int became a long, and its file still has 32 bits.
#
# Seen: 1.5.1 [{id 1}], 1.6.6 "Unsupported table features required: [TypeWidening]".
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target old deltalake==1.5.1 pyarrow==25.0.1
python3 -m pip install --quiet --disable-pip-version-check --target new deltalake==1.6.6 pyarrow==25.0.1
PYTHONPATH=old python3 - <<'PYTHON'
import json
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

folder = Path("t")
(folder / "_delta_log").mkdir(parents=True)
parquet.write_table(pa.table({"id": pa.array([1], pa.int32())}), folder / "f.parquet")
changes = {"delta.typeChanges": [{"fromType": "integer", "toType": "long"}]}
field = {"name": "id", "type": "long", "nullable": True, "metadata": changes}
metadata = {
    "id": "00000000-0000-4000-8000-000000000001",
    "format": {"provider": "parquet", "options": {}},
    "schemaString": json.dumps({"type": "struct", "fields": [field]}),
    "partitionColumns": [],
    "configuration": {"delta.enableTypeWidening": "true"},
}
features = {"readerFeatures": ["typeWidening"], "writerFeatures": ["typeWidening"]}
protocol = {"minReaderVersion": 3, "minWriterVersion": 7, **features}
size = (folder / "f.parquet").stat().st_size
add = {"path": "f.parquet", "partitionValues": {}, "size": size, "modificationTime": 0, "dataChange": True}
log = [{"protocol": protocol}, {"metaData": metadata}, {"add": add}]
(folder / "_delta_log" / f"{0:020}.json").write_text("\n".join(map(json.dumps, log)))
PYTHON
cat > read.py <<'PYTHON'
import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

try:
    rows = QueryBuilder().register("t", DeltaTable("t")).execute("select * from t").read_all()
    print(pa.table(rows).to_pylist())
except Exception as refused:
    print(refused)
PYTHON
old=$(PYTHONPATH=old python3 read.py) new=$(PYTHONPATH=new python3 read.py)
printf '%s\n' "$old" "$new"
[[ "$old" == "[{'id': 1}]" && "$new" == *TypeWidening* ]]
