"""The program that holds an engine of Python: questions and answers on a socket.

`python worker.py PACKAGES HOST PORT` listens, one thread a connection; PACKAGES is the folder of
the engine. Beside it lies the engine's `answers.py`, whose `ask(question)` returns a table of Arrow
or raises. An `expression` of Python is evaluated here: it knows `table(database, name)`, which is
what `answers.py` has `opened`, or in a write the one `table`, made `writable`; what `names()` has;
Arrow as `pa`, its functions as `pc`, `Decimal`, `date` and `datetime`. A connection says first what
stands in HARNESS_WORKER_TOKEN, and is answered `HELLO`.
Then a question is a line of JSON, and nothing of it outlives its answer: a line `{"bytes",
"seconds"}` with so many bytes of Arrow's streaming format; or `error`, class and text of what `ask`
raised; or `broke`, which this program failed with. Both files import the standard library and
PACKAGES alone.
"""

from __future__ import annotations

import json
import os
import secrets
import socketserver
import sys
import time
import traceback
from datetime import date, datetime
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow

TOKEN: Final = "HARNESS_WORKER_TOKEN"  # noqa: S105 - the name of a variable
ANSWERS: Final = "answers"
HELLO: Final = b"worker\n"
HELLO_S: Final = 5.0
"""How long somebody who connects may take to say the token."""

Message = dict[str, Any]


def answer(question: Message) -> tuple[Message, bytes]:
    module = import_module(ANSWERS)
    began = time.monotonic()
    try:
        table = evaluated(question, module) if "expression" in question else module.ask(question)
    except BaseException as problem:  # noqa: BLE001 - a panic of Rust is no Exception
        return {"error": [type(problem).__name__, str(problem)], "seconds": _since(began)}, b""
    try:
        body = streamed(table)
    except Exception:  # noqa: BLE001 - told to who asks
        return {"broke": traceback.format_exc(), "seconds": _since(began)}, b""
    return {"bytes": len(body), "seconds": _since(began)}, body


def evaluated(question: Message, module: Any) -> pyarrow.Table:  # noqa: ANN401 - a module
    """Return what an expression makes as a table: it may be a data frame, or one value."""
    import pyarrow as pa  # noqa: PLC0415 - of PACKAGES
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    def table(database: str, name: str) -> Any:  # noqa: ANN401 - whatever the library has for it
        for described in question["tables"]:
            if (described["database"], described["name"]) == (database, name):
                return module.opened(described)
        raise LookupError(f"the metastore has no table {database}.{name}")

    one = question.get("table")
    scope = {
        "table": module.writable(one) if one else table, "pa": pa, "pc": pc,
        "Decimal": Decimal, "date": date, "datetime": datetime, **module.names(),
    }  # fmt: skip
    try:
        result = eval(question["expression"], scope)  # noqa: S307 - it comes from who knows the token
    finally:
        getattr(module, "clear_cache", int)()
    if isinstance(result, pa.Table):
        return result
    if hasattr(result, "to_arrow"):
        return result.to_arrow()
    value = result if isinstance(result, pa.Scalar) else pa.scalar(result)
    return pa.table({"value": pa.array([value.as_py()], value.type)})


def _since(began: float) -> float:
    return round(time.monotonic() - began, 6)


def streamed(table: pyarrow.Table) -> bytes:
    import pyarrow as pa  # noqa: PLC0415 - of PACKAGES

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    body: bytes = sink.getvalue().to_pybytes()
    return body


class Client(socketserver.StreamRequestHandler):
    timeout = HELLO_S

    def handle(self) -> None:
        """Serve whoever knows the token, until the connection ends."""
        token = self.rfile.readline().strip()
        if not secrets.compare_digest(token, os.environ[TOKEN].encode()):
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
    sys.path[:0] = [packages, str(Path(__file__).parent)]
    with Listener((host, int(port)), Client) as listener:
        listener.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
