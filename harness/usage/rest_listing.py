"""The tables of an Iceberg REST catalog, by requests that only read, and those of a run put there.

Sources: Iceberg's REST catalog specification (`rest-catalog-open-api.yaml`); RFC 6749, 4.4, for the
token that a client gets.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final
from urllib.parse import quote

import requests

from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.texts import printable, without_login
from harness.formats.files import table_folder
from harness.formats.iceberg import table as iceberg_table
from harness.formats.iceberg.table import POINTER, IcebergMetadata
from harness.runtime.metastore_objects import CatalogEntry, placed
from harness.usage.catalog_table import CatalogTable, Entries, Listing, fits, unread
from harness.usage.named_catalog import CATALOGS, NamedCatalog
from harness.usage.usage_file import UsedFormat, UsedTable

ANSWER_S: Final = (10.0, 60.0)
"""To connect, and for the beginning of an answer: a table's metadata may be long."""
AT_ONCE: Final = 8
"""The number of tables that are asked for, and then looked at, side by side."""
VARIABLES: Final = "PYICEBERG_CATALOG__DEFAULT__"
"""Begins the variables that say of a catalog without a name what a platform file would."""
Name = tuple[str, ...]


class NotToldError(Exception):
    """What the catalog answers instead of what it was asked for, without secrets."""


_NOT_TOLD: Final = (NotToldError, requests.RequestException)


@contextmanager
def listed(
    address: str, patterns: Sequence[str], named: NamedCatalog | None = None
) -> Iterator[Listing]:
    """Yield the tables in namespaces that fit `patterns`; `named`: what a platform file says."""
    where = f"the REST catalog at {without_login(address)}"
    with requests.Session() as session, ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            catalog = _begun(session, address.rstrip("/"), named)
            every = list(dict.fromkeys(catalog.namespaces()))
        except requests.ConnectionError as problem:
            reason = getattr(problem.args[0] if problem.args else None, "reason", problem)
            raise EnvironmentProblem(f"{where} does not answer: {printable(str(reason))}") from None
        except _NOT_TOLD as problem:
            why = f"{_said(problem)}; docs/usage.md says how it gets a token"
            raise EnvironmentProblem(f"{where} cannot be listed: {why}") from None
        chosen = [name for name in every if fits(".".join(name), patterns)]
        inside = dict(zip(chosen, pool.map(catalog.inside, chosen), strict=True))
        names = [one for ones, _ in inside.values() for one in ones]
        unlisted = {".".join(name): why for name, (_, why) in inside.items() if why}
        if patterns and not (names or unlisted):
            fit = f"no table is in a namespace like {', '.join(patterns)}"
            raise UsageProblem(f"{fit}; the catalog has {len(every)} namespaces")
        entries = pool.map(catalog.entry, names)
        batches = iter(lambda: list(islice(entries, AT_ONCE)), [])
        try:
            yield Listing(len(names), batches, unlisted, len(every))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _said(problem: Exception) -> str:
    return printable(without_login(str(problem)))


@dataclass(frozen=True, slots=True)
class RestCatalog:
    session: requests.Session
    base: str
    """What the address of everything in it begins with."""
    secrets: tuple[str, ...]
    """What it is told, and may repeat."""

    def ask(self, path: str, how: str = "GET", **what: Any) -> Mapping[str, Any]:  # noqa: ANN401
        """Return an answer; raises `_NOT_TOLD`. Secrets are sent to no other address."""
        what |= {"timeout": ANSWER_S, "allow_redirects": how == "GET"}
        answer = self.session.request(how, f"{self.base}{path}", **what)
        body: object = None
        with suppress(ValueError):
            body = answer.json()
        if answer.ok and (isinstance(body, dict) or how == "DELETE"):
            return body if isinstance(body, dict) else {}
        text = f"{answer.status_code} {answer.reason}"
        match body:
            case {"error": {"message": message, **more}}:
                text += f": {more.get('type', 'error')}: {message}"
            case {"error": error, **more}:  # who gives tokens
                text += f": {error}: {more.get('error_description', '')}"
        for secret in filter(None, self.secrets):
            text = text.replace(secret, "…")
        raise NotToldError(text)

    def _listed(self, path: str, key: str, **parameters: str) -> Iterator[Any]:
        while True:
            answer = self.ask(path, params=parameters)
            yield from answer.get(key) or ()
            if not (page := answer.get("next-page-token")):
                return
            parameters["pageToken"] = page

    def namespaces(self, above: Name = ()) -> Iterator[Name]:
        parent = {"parent": "\x1f".join(above)} if above else {}
        for name in map(tuple, self._listed("/namespaces", "namespaces", **parent)):
            if len(name) <= len(above):
                return  # a catalog without namespaces in namespaces may name all again
            yield name
            with suppress(*_NOT_TOLD):  # one that refuses must not hide the others
                yield from self.namespaces(name)

    def inside(self, name: Name) -> tuple[list[tuple[Name, UsedFormat]], str]:
        """Return the tables and views of a namespace, and why not all of its tables are listed."""
        names, why = list[tuple[Name, UsedFormat]](), ""
        for kind, key in ((UsedFormat.ICEBERG, "tables"), (UsedFormat.VIEW, "views")):
            try:
                for entry in self._listed(f"{_path(name)}/{key}", "identifiers"):
                    names.append(((*entry["namespace"], entry["name"]), kind))
            except _NOT_TOLD as problem:
                why = why or _said(problem) * (key == "tables")  # not every catalog has views
        return names, why

    def entry(self, named: tuple[Name, UsedFormat]) -> Entries | UsedTable:
        name, kind = named
        table = CatalogTable(".".join(name), kind)
        if kind is UsedFormat.VIEW:
            return (table,)
        try:
            loaded = self.ask(f"{_path(name[:-1])}/tables/{quote(name[-1], safe='')}")
            content, metadata = loaded["metadata"], loaded.get("metadata-location", "")
            location = content["location"]
        except (*_NOT_TOLD, KeyError, TypeError) as problem:
            return unread(table, _said(problem))
        return (replace(table, location=location, metadata=metadata, content=content),)

    def databases(self) -> tuple[str, ...]:
        return tuple(map(".".join, self._listed("/namespaces", "namespaces")))

    def put(self, database: str, entries: Sequence[CatalogEntry], location: str) -> None:
        """Make Iceberg tables in a new namespace; it is refused where there is one of this name.

        A catalog may register the columns of the last snapshot, and not those that the metadata
        file has by now (Nessie 0.99.0): it is told of these, as by a writer who changes them.
        """
        self.ask("/namespaces", "POST", json={"namespace": [database]})
        inside = _path((database,))
        for entry in entries:
            metadata = placed(entry.table, database, location)["parameters"][POINTER]
            body = {"name": entry.name, "metadata-location": metadata}
            shown = self.ask(f"{inside}/register", "POST", json=body).get("metadata", {})
            head, _, file = metadata.rpartition("/")
            written = iceberg_table.read(table_folder.at(head), file) if shown else {}
            if updates := _columns(written, shown):
                body = {"requirements": [], "updates": updates}
                self.ask(f"{inside}/tables/{quote(entry.name, safe='')}", "POST", json=body)

    def drop(self, database: str) -> None:
        """Remove a namespace and the tables in it, and no file."""
        inside = f"{_path((database,))}/tables"
        for entry in list(self._listed(inside, "identifiers")):
            table = f"{inside}/{quote(entry['name'], safe='')}"
            self.ask(table, "DELETE", params={"purgeRequested": "false"})
        self.ask(_path((database,)), "DELETE")


def _columns(written: Mapping[str, Any], shown: Mapping[str, Any]) -> list[Mapping[str, object]]:
    """Return the updates after which a table has the columns that its metadata file has."""
    now, fields = IcebergMetadata(shown), IcebergMetadata(written).current_schema
    if now.current_schema == fields:
        return []
    for number, those in now.schemas.items():
        if those == fields:
            return [{"action": "set-current-schema", "schema-id": number}]
    added = {"schema": {"type": "struct", "fields": fields}}
    last = {"last-column-id": written["last-column-id"]}
    return [
        {"action": "add-schema", **added, **last},
        {"action": "set-current-schema", "schema-id": -1},  # the one added
    ]


@contextmanager
def opened(address: str, name: str) -> Iterator[RestCatalog]:
    """Connect to a catalog of a platform file; all of it raises NotToldError or OSError."""
    with requests.Session() as session:
        yield _begun(session, address.rstrip("/"), CATALOGS.get(name))


def _path(namespace: Name) -> str:
    return "/namespaces/" + quote("\x1f".join(namespace), safe="")


def _begun(session: requests.Session, address: str, named: NamedCatalog | None) -> RestCatalog:
    """Say who asks, and learn where the catalog has everything."""
    mine = {n.removeprefix(VARIABLES): t for n, t in os.environ.items() if n.startswith(VARIABLES)}
    settings = named.settings() if named else {name.lower(): text for name, text in mine.items()}
    token, credential = settings.get("token", ""), settings.get("credential", "")
    if credential:
        id_, _, secret = credential.partition(":")
        form = {"grant_type": "client_credentials", "scope": settings.get("scope", "catalog")}
        form |= {"client_id": id_, "client_secret": secret}
        url = settings.get("oauth2_server_uri") or f"{address}/v1/oauth/tokens"
        asked = RestCatalog(session, url, (secret or id_,)).ask("", "POST", data=form)
        token = str(asked.get("access_token", ""))

    def bearer(request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {token}"
        return request

    session.auth = bearer if token else None
    catalog = RestCatalog(session, f"{address}/v1", (token,))
    config = catalog.ask("/config", params={"warehouse": settings.get("warehouse")})
    every = {**(config.get("defaults") or {}), **(config.get("overrides") or {})}
    return replace(catalog, base=f"{address}/v1/{every.get('prefix', '')}".rstrip("/"))
