"""An Iceberg REST catalog of one table, on loopback, inside of the process that writes to it.

DuckDB commits to no other kind of catalog. Whoever asks for any table gets the one; what a commit
changes is written as a metadata file beside the others, and the metastore is told afterwards
(Iceberg's REST specification, "CommitTableRequest"; its table specification, "Table Metadata
Fields"). The standard library alone.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final
from uuid import uuid4

Message = dict[str, Any]

NEW: Final[Message] = {
    "last-sequence-number": 0,
    "last-updated-ms": 0,
    "last-column-id": 0,
    "last-partition-id": 999,
    "properties": {},
}
"""What every table has before the updates that make it."""
ADDED: Final = {
    "add-schema": ("schemas", "schema", "schema-id"),
    "add-spec": ("partition-specs", "spec", "spec-id"),
    "add-sort-order": ("sort-orders", "sort-order", "order-id"),
    "add-snapshot": ("snapshots", "snapshot", "snapshot-id"),
}
"""By an update that adds something: the list, the update's own member, and what it is known by."""
SET: Final = {
    "assign-uuid": ("table-uuid", "uuid"),
    "set-location": ("location", "location"),
    "upgrade-format-version": ("format-version", "format-version"),
    "set-current-schema": ("current-schema-id", "schema-id"),
    "set-default-spec": ("default-spec-id", "spec-id"),
    "set-default-sort-order": ("default-sort-order-id", "sort-order-id"),
}
IDS: Final = re.compile(r'"(?:id|element-id|key-id|value-id)": (\d+)')
RESERVED: Final = "format-version"
"""Sent as a property, it is none (Iceberg's `TableProperties.RESERVED_PROPERTIES`)."""


def committed(before: Message, updates: Sequence[Message]) -> Message:
    """Return a table's metadata after the updates of a commit. Raises LookupError: one is unknown.

    >>> committed(NEW, [{"action": "assign-uuid", "uuid": "u"}])["table-uuid"]
    'u'
    """
    after: Message = {**before, "properties": dict(before["properties"])}
    for update in updates:
        action = update["action"]
        if action in SET:
            member, value = SET[action]
            after[member] = update[value]
        elif action in ADDED:
            member, value, key = ADDED[action]
            one = update[value]
            others = [other for other in after.get(member, ()) if other[key] != one[key]]
            after[member] = [*others, one]
            after |= _counted(action, one, after)
        elif action == "set-properties":
            after["properties"] |= {k: v for k, v in update["updates"].items() if k != RESERVED}
        elif action == "set-snapshot-ref":
            after |= _named(update, after)
        else:
            raise LookupError(f"the catalog of one table knows no update {action}")
    return after


def _counted(action: str, one: Message, table: Message) -> Message:
    """Return the figures of a table once something was added to it."""
    match action:
        case "add-schema":
            ids = [int(number) for number in IDS.findall(json.dumps(one))]
            return {"last-column-id": max((table["last-column-id"], *ids))}
        case "add-spec":
            ids = [field["field-id"] for field in one["fields"]]
            return {"last-partition-id": max((table["last-partition-id"], *ids))}
        case "add-snapshot":
            rows = {"next-row-id": table.get("next-row-id", 0) + one.get("added-rows", 0)}
            return {
                "last-sequence-number": one["sequence-number"],
                "last-updated-ms": one["timestamp-ms"],
                **(rows if table["format-version"] >= 3 else {}),  # noqa: PLR2004 - since when rows have ids
            }
    return {}


def _named(update: Message, table: Message) -> Message:
    """Return the members of a table that name its snapshots, once a name was given one."""
    name, snapshot = update["ref-name"], update["snapshot-id"]
    reference = {k: v for k, v in update.items() if k not in {"action", "ref-name"}}
    named: Message = {"refs": {**table.get("refs", {}), name: reference}}
    if name == "main":
        entry = {"timestamp-ms": table["last-updated-ms"], "snapshot-id": snapshot}
        log = [*table.get("snapshot-log", ()), entry]
        named |= {"current-snapshot-id": snapshot, "snapshot-log": log}
    return named


class OneTable:
    """The table; `location`: its metadata file as a URL, empty before it is made."""

    def __init__(self, location: str) -> None:
        self.location = location
        text = Path(local(location)).read_text(encoding="utf-8") if location else ""
        self.metadata: Message = json.loads(text) if text else NEW

    def commit(self, updates: Sequence[Message]) -> None:
        made, number = committed(self.metadata, updates), 0
        if self.location:
            number = int(Path(self.location).name.partition("-")[0]) + 1
            before = {
                "timestamp-ms": self.metadata["last-updated-ms"],
                "metadata-file": self.location,
            }
            made["metadata-log"] = [*self.metadata.get("metadata-log", ()), before]
        location = f"{made['location']}/metadata/{number:05d}-{uuid4()}.metadata.json"
        file = Path(local(location))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(made), encoding="utf-8")
        self.metadata, self.location = made, location

    @property
    def loaded(self) -> Message:
        return {"metadata-location": self.location, "metadata": self.metadata, "config": {}}


def local(url: str) -> str:
    return "/" + url.removeprefix("file:").lstrip("/")


class OneTableServer(ThreadingHTTPServer):
    """A table by an address that nobody else can guess."""

    def __init__(self, table: OneTable) -> None:
        super().__init__(("127.0.0.1", 0), OneTableCatalog)
        self.table = table
        self.prefix = f"/{secrets.token_hex(16)}"

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}{self.prefix}"


class OneTableCatalog(BaseHTTPRequestHandler):
    server: OneTableServer

    def log_message(self, *_: object) -> None:
        """Say nothing of each request."""

    def do_GET(self) -> None:
        *_, kind, name = self.path.partition("?")[0].split("/")
        table = self.server.table
        if not self.path.startswith(f"{self.server.prefix}/"):
            self.send(HTTPStatus.NOT_FOUND)
        elif name == "config":
            self.send(HTTPStatus.OK, {"defaults": {}, "overrides": {}})
        elif kind == "namespaces":
            self.send(HTTPStatus.OK, {"namespace": [name], "properties": {}})
        elif table.location:
            self.send(HTTPStatus.OK, table.loaded)
        else:
            self.send(HTTPStatus.NOT_FOUND, error("NoSuchTableException", "it is not made yet"))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.startswith(f"{self.server.prefix}/"):
            self.send(HTTPStatus.NOT_FOUND)
        elif self.path.endswith("/tables"):  # what is staged comes with the commit
            self.send(HTTPStatus.OK, {"metadata": staged(body), "config": {}})
        else:
            self.commit(body)

    def commit(self, body: Message) -> None:
        try:
            for change in body.get("table-changes", [body]):
                self.server.table.commit(change["updates"])
        except LookupError as problem:
            unknown = error("UnsupportedOperationException", str(problem))
            self.send(HTTPStatus.BAD_REQUEST, unknown)
        else:
            several = "table-changes" in body
            self.send(HTTPStatus.NO_CONTENT if several else HTTPStatus.OK, self.server.table.loaded)

    def send(self, status: HTTPStatus, body: Message | None = None) -> None:
        sent = json.dumps(body or {}).encode() if status is not HTTPStatus.NO_CONTENT else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        if sent:
            self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)


@contextmanager
def serving(table: OneTable) -> Iterator[str]:
    """Serve a table until the block ends; gives the address."""
    with OneTableServer(table) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.address
        finally:
            server.shutdown()


def staged(asked: Message) -> Message:
    """Return the metadata of a table that is asked for and not made yet."""
    updates: list[Message] = [
        {"action": "assign-uuid", "uuid": str(uuid4())},
        {"action": "upgrade-format-version", "format-version": int(asked["properties"][RESERVED])},
        {"action": "set-location", "location": asked["location"]},
        {"action": "add-schema", "schema": asked["schema"]},
        {"action": "set-current-schema", "schema-id": asked["schema"]["schema-id"]},
        {"action": "add-spec", "spec": asked["partition-spec"]},
        {"action": "set-default-spec", "spec-id": asked["partition-spec"]["spec-id"]},
        {"action": "add-sort-order", "sort-order": asked["write-order"]},
        {"action": "set-default-sort-order", "sort-order-id": asked["write-order"]["order-id"]},
        {"action": "set-properties", "updates": asked["properties"]},
    ]
    return committed(NEW, updates)


def error(kind: str, message: str) -> Message:
    return {"error": {"message": message, "type": kind, "code": 400}}
