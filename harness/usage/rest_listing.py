"""The tables of an Iceberg REST catalog, as PyIceberg lists them in a process of its own."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

import requests

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.progress import Progress
from harness.core.texts import printable, without_login
from harness.usage import rest_worker
from harness.usage.catalog_table import CatalogTable, Entries, Listing, unread
from harness.usage.usage_file import UsedFormat, UsedTable

LIBRARY: Final = "pyiceberg-0.12.0"
"""The distribution whose client of REST catalogs is used."""
ANSWER_S: Final = 10.0
BATCH: Final = 8
"""The number of tables that are looked at side by side."""


@contextmanager
def listed(address: str, patterns: Sequence[str]) -> Iterator[Listing]:
    """Yield the tables in namespaces that fit `patterns`."""
    _check(address)
    home = fetch.ensure(distributions.load(LIBRARY), Cache.default(), Progress()).home
    command = [sys.executable, "-P", str(Path(rest_worker.__file__)), address, *patterns]
    environment = {**os.environ, "PYTHONPATH": str(home)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True
    ) as worker:
        lines = worker.stdout or io.StringIO()  # it is a pipe
        try:
            first = _message(lines, address)
            if patterns and not (first["total"] or first["unlisted"]):
                fit = f"no table is in a namespace like {', '.join(patterns)}"
                raise UsageProblem(f"{fit}; the catalog has {first['databases']} namespaces")
            unlisted = {name: printable(why) for name, why in first["unlisted"].items()}
            entries = _entries(lines, address, first["total"])
            batches = iter(lambda: list(islice(entries, BATCH)), [])
            yield Listing(first["total"], batches, unlisted)
        finally:
            worker.kill()


def _check(address: str) -> None:
    """Check that the catalog answers, so that a wrong address fails at once."""
    try:
        requests.get(f"{address.rstrip('/')}/v1/config", timeout=ANSWER_S)
    except requests.RequestException as problem:
        reason = getattr(problem.args[0] if problem.args else None, "reason", problem)
        where = f"the REST catalog at {without_login(address)}"
        raise EnvironmentProblem(f"{where} does not answer: {printable(str(reason))}") from problem


def _message(lines: IO[str], address: str) -> Mapping[str, Any]:
    line = lines.readline()
    message: Mapping[str, Any] = json.loads(line) if line else {"problem": "its client ended"}
    if problem := message.get("problem"):
        raise EnvironmentProblem(
            f"the REST catalog at {without_login(address)} cannot be listed: "
            f"{printable(str(problem))}; docs/usage.md says how it gets a token"
        )
    return message


def _entries(lines: IO[str], address: str, total: int) -> Iterator[Entries | UsedTable]:
    for _ in range(total):
        entry = _message(lines, address)
        kind = UsedFormat.VIEW if entry.get("view") else UsedFormat.ICEBERG
        location, content = entry.get("location", ""), entry.get("content", {})
        metadata = entry.get("metadata", "")
        table = CatalogTable(
            entry["name"], kind, location=location, metadata=metadata, content=content
        )
        yield unread(table, entry["unread"]) if "unread" in entry else (table,)
