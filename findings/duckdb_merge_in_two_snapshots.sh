#!/usr/bin/env bash
# DuckDB 1.5.5: one `merge into` an Iceberg table that updates a row and inserts another one commits two
# snapshots at once, the update and then the insert. Whoever reads the table sees both; whoever reads the
# first of the two, by its id, by time or since it, sees half of the statement: a table that never was.
#
# Iceberg for Java commits a merge as one snapshot. DuckDB writes by REST catalogs alone, so a small one
# stands here, which lets PyIceberg apply what is committed. Seen: ['append', 'overwrite', 'append'] and,
# by the snapshot between, [(1, 'new'), (2, 'b')].
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib duckdb==1.5.5 \
    duckdb-extension-avro==1.5.5 duckdb-extension-httpfs==1.5.5 duckdb-extension-iceberg==1.5.5 \
    "pyiceberg[sql-sqlite]==0.12.0" pyarrow==26.0.1
PYTHONPATH=lib python3 - <<'PYTHON'
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import duckdb
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import CommitTableRequest

place = f"file://{Path.cwd()}"
catalog = SqlCatalog("c", uri="sqlite:///catalog.db", warehouse=place)
catalog.create_namespace("d")
first = pa.table({"id": [1, 2], "a": ["a", "b"]})
modes = dict.fromkeys(("write.delete.mode", "write.update.mode", "write.merge.mode"), "merge-on-read")
catalog.create_table("d.t", first.schema, properties=modes).append(first)


class Rest(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass

    def answer(self, body: dict) -> None:
        sent = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def do_GET(self) -> None:
        if "/config" in self.path:
            return self.answer({"defaults": {}, "overrides": {}})
        if "/tables/" not in self.path:
            return self.answer({"namespace": ["d"], "properties": {}})
        now = catalog.load_table("d.t")
        metadata = json.loads(now.metadata.model_dump_json())
        return self.answer({"metadata-location": now.metadata_location, "metadata": metadata})

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        for change in sent.get("table-changes", [sent]):
            asked = CommitTableRequest.model_validate_json(json.dumps(change))
            catalog.commit_table(catalog.load_table("d.t"), asked.requirements, asked.updates)
        self.answer({})


server = ThreadingHTTPServer(("127.0.0.1", 0), Rest)
Thread(target=server.serve_forever, daemon=True).start()
connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
for name in ("avro", "httpfs", "iceberg"):
    (file,) = Path("lib", f"duckdb_extension_{name}", "extensions").rglob("*.duckdb_extension")
    connection.execute(f"load '{file}'")
address = f"http://127.0.0.1:{server.server_port}"
connection.execute(f"attach '' as r (type iceberg, endpoint '{address}', authorization_type 'none')")
connection.execute(
    "merge into r.d.t as t using (values (1, 'new'), (3, 'c')) as s(id, a) on t.id = s.id "
    "when matched then update set a = s.a when not matched then insert values (s.id, s.a)"
)
table = catalog.load_table("d.t")
operations = [one.summary.operation.value for one in table.snapshots()]
between = table.snapshots()[1].snapshot_id


def rows(snapshot: int | None) -> list[tuple]:
    return sorted(tuple(row.values()) for row in table.scan(snapshot_id=snapshot).to_arrow().to_pylist())


print(operations, rows(between))
assert rows(None) == [(1, "new"), (2, "b"), (3, "c")]
assert operations == ["append", "overwrite", "append"]
assert rows(between) == [(1, "new"), (2, "b")]
PYTHON
