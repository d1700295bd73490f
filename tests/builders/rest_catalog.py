"""A REST catalog with a few tables, on loopback (Iceberg's REST catalog specification).

What it refuses it answers with all that it was told, as careless servers do.
"""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

Answers = Mapping[str, Any]
OAUTH = "/who/tokens"
SCOPE = "tables.read"


def answers(tables: Mapping[str, Path]) -> Answers:
    """Return what is answered at each path: the metadata file of each table by `database.name`.

    Namespaces are in none, and there are no views.
    """
    result: dict[str, Any] = {"/v1/config": {"defaults": {}, "overrides": {}}}
    databases = sorted({name.partition(".")[0] for name in tables})
    result["/v1/namespaces"] = {"namespaces": [[database] for database in databases]}
    for database in databases:
        names = [name.partition(".")[2] for name in tables if name.startswith(f"{database}.")]
        entries = [{"namespace": [database], "name": name} for name in names]
        result[f"/v1/namespaces/{database}/tables"] = {"identifiers": entries}
    for name, file in tables.items():
        database, _, table = name.partition(".")
        metadata = json.loads(file.read_text(encoding="utf-8"))
        loaded = {"metadata-location": str(file), "metadata": metadata, "config": {}}
        result[f"/v1/namespaces/{database}/tables/{table}"] = loaded
    return result


def changed(known: Answers, how: str, path: str, body: Any = None) -> int:  # noqa: ANN401 - JSON
    """Change what a catalog answers, as one that was told so does; return the status."""
    spaces = known["/v1/namespaces"]["namespaces"]
    name, *rest = path.removeprefix("/v1/namespaces").strip("/").split("/")
    inside = known.get(f"/v1/namespaces/{name}/tables", {}).get("identifiers", [])
    match how, rest:
        case "POST", [] if body["namespace"] not in spaces:
            spaces.append(body["namespace"])
            listed = f"/v1/namespaces/{body['namespace'][0]}/tables"
            assert isinstance(known, dict)
            known[listed] = {"identifiers": []}
        case "POST", ["register"]:
            at = body["metadata-location"]
            inside.append({"namespace": [name], "name": body["name"], "at": at})
        case "POST", ["tables", table] if any(entry["name"] == table for entry in inside):
            assert isinstance(known, dict)
            known[path] = body
        case "DELETE", ["tables", table]:
            inside[:] = [entry for entry in inside if entry["name"] != table]
        case "DELETE", [] if not inside:
            spaces.remove([name])
        case _:
            return 409
    return 204 if how == "DELETE" else 200


@contextmanager
def serving(known: Answers, token: str = "", client: str = "") -> Iterator[str]:
    """Serve it, only to who has the token, which a client, `id:secret`, gets; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, who = unquote(self.path), self.headers.get("Authorization")
            if token and who != f"Bearer {token}":
                status, body = 401, _error("NotAuthorizedException", f"who is {who}", 401)
            elif path in known:
                status, body = 200, known[path]
            else:
                message = f"no {path} for {who}" if who else f"no {path}"
                status, body = 404, _error("NoSuchTableException", message, 404)
            self._answer(status, body)

        def do_POST(self) -> None:  # RFC 6749, 4.4: a client's own credentials
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if self.path.startswith("/v1/namespaces"):
                path = unquote(self.path)
                self._answer(changed(known, "POST", path, json.loads(text)), known.get(path, {}))
                return
            form = dict(parse_qsl(text))
            asked = f"{form.get('client_id')}:{form.get('client_secret')}"
            if client and self.path == OAUTH and asked == client and form["scope"] == SCOPE:
                self._answer(200, {"access_token": token, "token_type": "bearer"})
            else:
                self._answer(401, {"error": "invalid_client", "error_description": text})

        def do_DELETE(self) -> None:
            self._answer(changed(known, "DELETE", unquote(self.path).partition("?")[0]), None)

        def _answer(self, status: int, body: object) -> None:
            content = b"" if body is None else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing of requests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _error(kind: str, message: str, code: int) -> Mapping[str, Any]:
    return {"error": {"message": message, "type": kind, "code": code}}
