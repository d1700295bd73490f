#!/usr/bin/env bash
# deltalake 1.6.6: a merge with merge_schema=True whose source has a part more in a struct, and which
# updates a row, writes NULL for the struct of every other row of the same file. An insert alone
# keeps them.
#
# The merge names the row 1; the row 2 is in no source. Seen: [('1', {'a': 3, 'b': 4}), ('2', None)].
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib deltalake==1.6.6 pyarrow==26.0.1
PYTHONPATH=lib python3 - <<'PYTHON'
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake


def table(rows: list, **parts: pa.DataType) -> pa.Table:
    return pa.Table.from_pylist(rows, pa.schema([("id", pa.string()), ("s", pa.struct(parts))]))


def merged(key: str) -> list:
    """Merge one row, with a part more, into a table of two."""
    rows = [{"id": "1", "s": {"a": 1}}, {"id": "2", "s": {"a": 2}}]
    write_deltalake(key, table(rows, a=pa.int32()))
    source = table([{"id": key, "s": {"a": 3, "b": 4}}], a=pa.int32(), b=pa.int32())
    names = {"source_alias": "source", "target_alias": "target", "merge_schema": True}
    merge = DeltaTable(key).merge(source, "target.id = source.id", **names)
    merge.when_matched_update_all().when_not_matched_insert_all().execute()
    rows = DeltaTable(key).to_pyarrow_table().to_pylist()
    return sorted((row["id"], row["s"]) for row in rows)


updated, inserted = merged("1"), merged("3")
print(updated)
assert updated == [("1", {"a": 3, "b": 4}), ("2", None)]
assert inserted[:2] == [("1", {"a": 1, "b": None}), ("2", {"a": 2, "b": None})]
PYTHON
