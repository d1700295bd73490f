"""The program that holds DataFusion: questions and answers on a socket, one thread a connection.

`python worker.py PACKAGES HOST PORT` listens; PACKAGES is the folder of DataFusion and of what it
needs. Each connection says, as its first line, what stands in the variable HARNESS_WORKER_TOKEN,
and is answered `HELLO`. Then each question is a line of JSON, and nothing of it outlives its
answer:

    {"sql", "conf": {…}, "tables": [{"name", "location", "options"} or …, "schema", "keys"}]}

`conf` are keys and values of DataFusion's own. A table with `options` is Hudi's, and read by
hudi-rs. Another one is a folder of Parquet files: `schema` is that of Arrow, in its own format, as
base64, and so are `keys`, of the columns that the names of folders hold.

An answer is a line of JSON, `{"bytes", "seconds"}`, and so many bytes: a table in Arrow's streaming
format. There are none if it has `error`, an exception's class and text, which was raised for the
question, or `broke`, which this program failed with.

It is one file that imports the standard library and what is in PACKAGES alone.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import socketserver
import sys
import time
import traceback
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow

TOKEN: Final = "HARNESS_WORKER_TOKEN"  # noqa: S105 - the name of a variable
DATAFUSION: Final = "datafusion"
HUDI: Final = "hudi"
"""Packages that the project does not depend on: only this process has them."""
HELLO: Final = b"datafusion\n"
HELLO_S: Final = 5.0
"""How long somebody who connects may take to say the token."""

Message = dict[str, Any]
"""A question or the line of an answer, as the module's docstring says."""


def ask(question: Message) -> pyarrow.Table:
    """Ask in a context of its own, which knows the tables that are named with the question."""
    package = import_module(DATAFUSION)
    conf = package.SessionConfig()
    for key, value in question["conf"].items():
        conf = conf.set(key, value)
    context = package.SessionContext(conf)
    for schema in {each["name"].rpartition(".")[0] for each in question["tables"]}:
        context.sql(f"create schema {schema}")
    for each in question["tables"]:
        register(context, each)
    found: pyarrow.Table = context.sql(question["sql"]).to_arrow_table()
    return found


def register(context: Any, table: Message) -> None:  # noqa: ANN401 - a SessionContext
    """Make a table known."""
    import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

    if "options" in table:
        source = import_module(HUDI).HudiDataFusionDataSource
        options = [*table["options"].items()]
        context.register_table(table["name"], source(table["location"], options))
        return
    schema, keys = (
        pa.ipc.read_schema(pa.py_buffer(base64.b64decode(table[part])))
        for part in ("schema", "keys")
    )
    partitions = [(each.name, each.type) for each in keys]
    # Not `register_listing_table`: it goes by no settings of the session.
    context.register_parquet(
        table["name"], table["location"], table_partition_cols=partitions, schema=schema
    )


def answer(question: Message) -> tuple[Message, bytes]:
    """Return the line of an answer, and the bytes after it."""
    began = time.monotonic()
    try:
        found = ask(question)
    except BaseException as problem:  # noqa: BLE001 - a panic of Rust is no Exception
        return {"error": [type(problem).__name__, str(problem)], "seconds": _since(began)}, b""
    try:
        body = streamed(found)
    except Exception:  # noqa: BLE001 - told to who asks
        return {"broke": traceback.format_exc(), "seconds": _since(began)}, b""
    return {"bytes": len(body), "seconds": _since(began)}, body


def _since(began: float) -> float:
    return round(time.monotonic() - began, 6)


def streamed(table: pyarrow.Table) -> bytes:
    """Return a table in Arrow's streaming format."""
    import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    found: bytes = sink.getvalue().to_pybytes()
    return found


class Client(socketserver.StreamRequestHandler):
    """Somebody who asks."""

    timeout = HELLO_S

    def handle(self) -> None:
        """Serve whoever knows the token, until the connection ends."""
        told = self.rfile.readline().strip()
        if not secrets.compare_digest(told, os.environ[TOKEN].encode()):
            return
        self.connection.settimeout(None)
        self.wfile.write(HELLO)
        for line in self.rfile:
            head, body = answer(json.loads(line))
            self.wfile.write(json.dumps(head).encode() + b"\n" + body)


class Listener(socketserver.ThreadingTCPServer):
    """Connections, each in a thread that does not hold up the end of the process."""

    daemon_threads = True


def main(arguments: list[str]) -> None:
    """Serve until somebody ends this process."""
    packages, host, port = arguments
    sys.path.insert(0, packages)
    with Listener((host, int(port)), Client) as listener:
        listener.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
