"""Lists the Iceberg tables of a REST catalog, in a process that has PyIceberg's packages.

Its arguments are the catalog's address and patterns of databases. It prints JSON, a line each:
first `{"total", "unlisted"}`, then for every table `{"name", …}`. Nothing of the harness is
imported. Tokens and whatever else the catalog asks for are PyIceberg's own settings of a catalog
called `default` (PyIceberg's manual, "Configuration").
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import partial
from importlib import import_module
from typing import Any

Name = tuple[str, ...]
AT_ONCE = 8


def namespaces(catalog: Any, above: Name = ()) -> Iterator[Name]:  # noqa: ANN401 - the library's
    for name in map(tuple, catalog.list_namespaces(above)):
        if len(name) <= len(above):
            return  # a catalog without namespaces in namespaces may name all again
        yield name
        with suppress(Exception):  # one that refuses must not hide the others
            yield from namespaces(catalog, name)


def described(catalog: Any, name: Name) -> dict[str, Any]:  # noqa: ANN401 - the library's
    entry: dict[str, Any] = {"name": ".".join(name)}
    try:
        table = catalog.load_table(name)
    except Exception as problem:  # noqa: BLE001 - a table that fails must not hide the others
        return {**entry, "unread": f"{type(problem).__name__}: {problem}"}
    metadata = table.metadata.model_dump(mode="json", by_alias=True, exclude_none=True)
    where = {"location": table.location(), "metadata": table.metadata_location}
    return {**entry, **where, "content": metadata}


def main(address: str, patterns: Sequence[str]) -> None:
    load = import_module("pyiceberg.catalog").load_catalog
    catalog = load("default", type="rest", uri=address)
    tables: list[Name] = []
    views: list[Name] = []
    unlisted: dict[str, str] = {}
    every = list(dict.fromkeys(namespaces(catalog)))
    for name in every:
        database = ".".join(name)
        if patterns and not any(fnmatchcase(database.lower(), p.lower()) for p in patterns):
            continue
        try:
            tables += map(tuple, catalog.list_tables(name))
        except Exception as problem:  # noqa: BLE001 - nor must a namespace
            unlisted[database] = f"{type(problem).__name__}: {problem}"
        with suppress(Exception):  # not every catalog has views
            views += map(tuple, catalog.list_views(name))
    send({"total": len(tables) + len(views), "unlisted": unlisted, "databases": len(every)})
    for view in views:
        send({"name": ".".join(view), "view": True})
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for entry in pool.map(partial(described, catalog), tables):
            send(entry)


def send(message: object) -> None:
    sys.stdout.write(f"{json.dumps(message)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2:])
    except Exception as problem:  # noqa: BLE001 - the parent process reports it
        send({"problem": f"{type(problem).__name__}: {problem}"})
