"""What Trino's own client prints, against a small server that replies as Trino's protocol says."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest

TOOL: Final = Path(__file__).parents[3] / "tools" / "measure" / "by_hand_trino.py"
VARCHAR: Final = {"rawType": "varchar", "arguments": [{"kind": "LONG", "value": 2147483647}]}
COLUMNS: Final = [
    {"name": name, "type": "varchar", "typeSignature": VARCHAR} for name in ("id", "ä")
]
REFUSED: Final = {
    "message": "Unsupported column",
    "errorName": "NOT_SUPPORTED",
    "errorCode": 13,
    "errorType": "USER_ERROR",
}


@contextmanager
def server(**body: Any) -> Iterator[tuple[int, list[str]]]:  # noqa: ANN401 - any JSON
    """Reply this to each statement; give the port, and the statements as they come."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            said = {"id": "q1", "infoUri": "", "stats": {"state": "FINISHED"}, **body}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(said).encode())

        def log_message(self, *_: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield listening.server_address[1], seen
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


@pytest.mark.parametrize(
    ("body", "printed"),
    [
        ({"columns": COLUMNS, "data": [["3", None], ["4", "a b"]]}, "id\tä\n3\tNULL\n4\ta b\n"),
        ({"columns": COLUMNS}, "id\tä\n"),
        ({"error": REFUSED}, "NOT_SUPPORTED: Unsupported column\n"),
    ],
    ids=["rows", "no rows", "an error"],
)
def test_names_and_rows_are_printed_or_the_error_that_the_server_names(
    body: dict[str, Any], printed: str, tmp_path: Path
) -> None:
    file = tmp_path / "one.sql"
    file.write_text("select 'ä' from t;\n", encoding="utf-8")
    with server(**body) as (port, seen):
        command = [sys.executable, "-X", "utf8", str(TOOL), str(port), str(file)]
        found = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    assert found.stdout.decode() == printed
    assert seen == ["select 'ä' from t"]
