"""Measure `harness scan` on a metastore with many tables, and show that it writes nothing.

    python tools/measure/scan_tables.py build/scan --tables 3000

The tables are frozen states of the usual cache, each in a folder of links of its own, every kind of
table that is there in turn; one in a hundred has no folder any more. The metastore's log says which
calls came to it. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools`

from pydantic import TypeAdapter

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.runtime import metastore, metastore_client, metastore_database, provide, template
from harness.runtime.api import MetastoreUris, Running, Surroundings
from harness.runtime.metastore import LOG, Metastore, MetastoreProgram
from harness.runtime.metastore_objects import CatalogEntry
from harness.runtime.ports import LOOPBACK
from harness.runtime.process_runtime import ProcessRuntime
from harness.usage import usage_file
from harness.write.table_state import TABLE, Frozen
from tools.markdown_table import table

SAMPLE_S: Final = 0.05
GONE: Final = 100
"""Every so many tables one has no folder."""
CALL: Final = re.compile(r"HiveMetaStore\.audit: ugi=\S+\s+ip=\S+\s+cmd=source:\S+ (?P<call>\w+)")
STATES: Final = TypeAdapter(Frozen)


@dataclass(frozen=True, slots=True)
class TalkingMetastore(MetastoreProgram):
    """A metastore that logs every call."""

    def files(self, around: Surroundings) -> Mapping[str, str]:
        """Return its configuration, with the log at a level at which calls are told."""
        told = template.render("metastore", LOG, {"level": "INFO"})
        return {**MetastoreProgram.files(self, around), LOG: told}


@dataclass(frozen=True, slots=True)
class ScanUsage:
    """A scan that is over."""

    status: int
    seconds: float
    peak_mb: float
    end: Mapping[str, Any]
    calls: Counter[str]
    changed: int
    """Files and folders that are not as they were."""


def states(cache: Cache) -> Iterator[tuple[Path, tuple[CatalogEntry, ...]]]:
    """Yield each state whose files can be read where they are, every kind of table in turn."""
    kinds: dict[tuple[object, ...], list[tuple[Path, tuple[CatalogEntry, ...]]]] = {}
    for file in sorted(cache.states().glob("*/state.json")):
        frozen = STATES.validate_json(file.read_bytes())
        if frozen.entries and not (frozen.home and not Path(frozen.home).is_dir()):
            first = frozen.entries[0].table
            reads = first["sd"].get("inputFormat")
            kind = (reads, frozen.table_version, bool(first.get("partitionKeys")))
            place = Path(frozen.home) if frozen.home else file.parent / TABLE
            kinds.setdefault(kind, []).append((place, frozen.entries))
    turns = cycle([cycle(found) for found in kinds.values()])
    yield from (next(each) for each in turns)


def register(uri: str, cache: Cache, folder: Path, wanted: int) -> int:
    """Make so many tables, or a few more, and their folders; return the number."""
    made = 0
    with metastore_client.connect(uri) as catalog:
        for number, (place, entries) in enumerate(states(cache)):
            if made >= wanted:
                return made
            where = folder / f"t{number:04}"
            if "metadata_location" in json.dumps(entries[0].table):
                where = place  # its files name each other by this path
            elif number % GONE:
                shutil.copytree(place, where, copy_function=linked)
            named = [renamed(each, f"t{number:04}") for each in entries]
            catalog.register(f"d{number % 7}", named, str(where))
            made += len(named)
    return made


def linked(source: str, target: str) -> str:
    """Link a file, or copy it to another file system."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target


def renamed(entry: CatalogEntry, name: str) -> CatalogEntry:
    """Return an entry under another name that ends as its own does (`_ro`)."""
    new = name + entry.name.removeprefix("t")
    parts = tuple({**each, "tableName": new} for each in entry.partitions)
    return replace(entry, name=new, table={**entry.table, "tableName": new}, partitions=parts)


def listing(folder: Path) -> Mapping[str, tuple[int, ...]]:
    """Return how everything in a folder looks."""
    found = {}
    for path in folder.rglob("*"):
        seen = path.lstat()
        found[str(path)] = (seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
    return found


def measured(uri: str, log: Path, folder: Path) -> ScanUsage:
    """Scan, and look at what that takes and leaves."""
    before, at, began = listing(folder / "tables"), log.stat().st_size, time.monotonic()
    out, script = folder / "usage.yaml", Path(sys.executable).with_name("harness")
    with (folder / "scan.jsonl").open("wb") as said:
        process = psutil.Popen([str(script), "scan", uri, "--out", str(out), "--json"], stdout=said)
        peak = 0
        while process.poll() is None:
            try:
                peak = max(peak, process.memory_info().rss)
            except psutil.Error:
                break
            time.sleep(SAMPLE_S)
        status = process.wait()
    seconds = time.monotonic() - began
    with log.open(encoding="utf-8", errors="replace") as file:
        file.seek(at)
        calls = Counter(match["call"] for match in map(CALL.search, file) if match)
    end = json.loads((folder / "scan.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    after = listing(folder / "tables")
    changed = sum(before.get(p) != after.get(p) for p in before.keys() | after.keys())
    return ScanUsage(status, seconds, peak / 2**20, end, calls, changed)


def served(cache: Cache, folder: Path) -> AbstractContextManager[Metastore]:
    """Run a metastore that logs every call."""
    found = provide.runtime(distributions.load(metastore.DISTRIBUTION), cache, Progress())
    if not isinstance(found, ProcessRuntime):
        raise TypeError(found)
    prepared = metastore_database.schema(found.installation, cache, Progress())
    shutil.copytree(prepared, folder / metastore.DERBY, ignore=shutil.ignore_patterns("*.lck"))
    warehouse = folder / metastore.WAREHOUSE
    warehouse.mkdir()

    def ready(running: Running, port: int) -> Metastore:
        uri = f"thrift://{LOOPBACK}:{port}"
        metastore_client.check(uri)
        return Metastore(running, MetastoreUris(uri, ""), warehouse)

    return found.start(TalkingMetastore(found.distribution), None, folder, ready)


def text(found: ScanUsage, tables: int, registered_s: float, read_s: float) -> str:
    """Return what was measured as Markdown."""
    rows = [
        ("tables in the metastore", f"{tables:,} (made in {registered_s:.0f} s)"),
        ("scan", f"{found.seconds:.1f} s, exit status {found.status}"),
        ("peak memory of the scan", f"{found.peak_mb:.0f} MiB"),
        ("reading usage.yaml", f"{read_s:.1f} s"),
        ("what was found", json.dumps(found.end.get("tables", found.end))),
        ("calls that the metastore logged", json.dumps(found.calls)),
        ("files and folders of tables that changed", str(found.changed)),
    ]
    return "\n".join(table(("", "measured"), rows))


def main() -> None:
    """Make the tables, scan them, print what it took."""
    whole, _, rest = (__doc__ or "").partition("\n")
    form = argparse.RawDescriptionHelpFormatter
    options = argparse.ArgumentParser(description=f"{whole}\n{rest}", formatter_class=form)
    options.add_argument("folder", type=Path, help="a new folder")
    options.add_argument("--tables", type=int, default=3000)
    given = options.parse_args()
    folder, cache = given.folder.absolute(), Cache.default()
    (folder / "tables").mkdir(parents=True)
    (folder / "metastore").mkdir()
    with served(cache, folder / "metastore") as server:
        began = time.monotonic()
        tables = register(server.uri, cache, folder / "tables", given.tables)
        registered_s = time.monotonic() - began
        found = measured(server.uri, folder / "metastore" / "metastore.log", folder)
    began = time.monotonic()
    usage_file.read(folder / "usage.yaml")
    print(text(found, tables, registered_s, time.monotonic() - began))


if __name__ == "__main__":
    main()
