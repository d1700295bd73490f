"""Who gives clients tokens, and tells a catalog which of them are good, on loopback.

RFC 6749, 4.4, the token of a client of its own; RFC 7662, what a token is.
"""

import base64
import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import parse_qsl

from harness.runtime.process import LOOPBACK

CLIENT: Final = "canary-client:canary-of-a-client-secret"
CATALOG: Final = "catalog:canary-of-the-catalog"
"""Who may ask what a token is."""


@dataclass
class Issuer:
    address: str = ""
    given: set[str] = field(default_factory=set)
    shown: set[str] = field(default_factory=set)
    """Those that the catalog was shown, and asked about."""

    @property
    def token_uri(self) -> str:
        return f"{self.address}/token"

    def reply(self, path: str, who: str, form: dict[str, str]) -> tuple[int, dict[str, object]]:
        if path == "/token" and who == CLIENT and form["grant_type"] == "client_credentials":
            self.given.add(token := secrets.token_urlsafe())
            return 200, {"access_token": token, "token_type": "bearer", "expires_in": 3600}
        if path == "/introspect" and who == CATALOG:
            self.shown.add(token := form["token"])
            return 200, {"active": token in self.given, "username": "auditor", "sub": "auditor"}
        return 401, {"error": "invalid_client", "error_description": "no such client"}


@contextmanager
def serving() -> Iterator[Issuer]:
    issuer = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = dict(parse_qsl(sent))
            scheme, _, login = self.headers.get("Authorization", "").partition(" ")
            basic = base64.b64decode(login).decode() if scheme == "Basic" else ""
            who = basic or f"{form.get('client_id')}:{form.get('client_secret')}"
            status, body = issuer.reply(self.path, who, form)
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer((LOOPBACK, 0), Handler) as server:
        issuer.address = f"http://{LOOPBACK}:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield issuer
        server.shutdown()
