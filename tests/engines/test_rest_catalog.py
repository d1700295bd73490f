"""Readers ask a real Iceberg REST catalog for the tables of a run: what does that change?

Each state that a run wrote is copied into the object store of Nessie, where its metadata name it,
and is registered by its metadata file (`register`). Then each reader is sent, through the catalog,
what it was sent in the run. What comes out is in `docs/results/rest_catalogs.md`.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest
import requests

from harness import engines
from harness.artifacts import distributions, fetch, object_storage
from harness.artifacts.cache import Cache
from harness.cli.app import main
from harness.core.progress import Progress
from harness.core.records import Answer
from harness.engines.api import RefusedError, Reply
from harness.engines.python_library import reply_of
from harness.formats.files.locations import Locations
from harness.formats.iceberg import move
from harness.formats.iceberg.table import METADATA, POINTER
from harness.model.query import ALL
from harness.run import load_run
from harness.run.load_run import Run
from harness.run.pipeline import states_of
from harness.runtime import provide, template
from harness.runtime.metastore import Metastore
from harness.scenario.cells import parse_reader
from harness.write.state_store import State
from tests.engines import nessie

pytestmark = [pytest.mark.engines, pytest.mark.alone, pytest.mark.nightly]

SERVERS: Final = ("spark-3.5.8-iceberg-1.10.1", "trino-476", "trino-483")
LIBRARIES: Final = ("pyiceberg-0.12.0", "duckdb-1.5.5")
TIMEOUT_S: Final = 120.0
BY_LIBRARY: Final = """
import json, os, re, sys
import pyarrow as pa
import pyarrow.compute as pc
library, address, bucket = sys.argv[1:]
out = sys.stdout.buffer
if library == "pyiceberg":
    from datetime import date, datetime
    from decimal import Decimal
    from pyiceberg.catalog import load_catalog
    from pyiceberg.expressions import *
    catalog = load_catalog("rest", type="rest", uri=address)
    def table(database, name):
        return catalog.load_table((database, name))
    def ask(question):
        result = eval(question)
        return result if isinstance(result, pa.Table) else pa.table({"answer": [result]})
else:
    exec(DUCKDB)
    connection.execute("set timezone = 'UTC'")
    connection.execute(f"attach '{bucket}' as rest (type iceberg, endpoint '{address}', "
                       "authorization_type 'none')")
    def ask(question):
        named = re.sub(r'"(s_[0-9a-f]{16})"', r'rest."\\1"', question)
        return connection.sql(named).to_arrow_table()
for line in sys.stdin:
    try:
        table_, error = ask(json.loads(line)), ""
    except Exception as problem:
        table_, error = pa.table({}), f"{type(problem).__name__}: {problem}"
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table_.schema) as writer:
        writer.write_table(table_)
    body = sink.getvalue().to_pybytes()
    out.write(json.dumps({"error": error, "bytes": len(body)}).encode() + b"\\n" + body)
    out.flush()
"""


@pytest.fixture(scope="module")
def run(cache: Cache, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("run") / "run"
    named = [part for name in (*SERVERS, *LIBRARIES) for part in ("--reader", name)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Cache, "default", lambda **_: cache)
        assert (
            main(["run", "--profile", "quick-start-iceberg", *named, "--run-dir", str(folder)]) == 1
        )
    return load_run.load(folder)


@dataclass(frozen=True)
class Registered:
    """A catalog with the tables of a run, by their databases."""

    nessie: nessie.Catalog
    databases: frozenset[str]
    behind: frozenset[str]
    """Those whose columns were changed after the last snapshot was made."""


@pytest.fixture(scope="module")
def catalog(
    run: Run, cache: Cache, progress: Progress, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Registered]:
    folder = tmp_path_factory.mktemp("nessie")
    with nessie.serving(cache, folder, progress) as running:
        config = requests.get(f"{running.address}/v1/config", timeout=TIMEOUT_S).json()
        prefix = {**config["defaults"], **config["overrides"]}["prefix"]
        base = f"{running.address}/v1/{prefix}/namespaces"
        states = {state.digest: state for state in states_of(run.states, cache).values()}
        refused = {
            state.database: register(
                state, folder / "buckets" / running.bucket, running.bucket, base
            )
            for state in states.values()
        }
        # All that it refuses are tables of format version 3, which it does not know.
        assert {why for why in refused.values() if why} == {"Unkown Iceberg spec version 3"}
        databases = frozenset(name for name, why in refused.items() if not why)
        behind = {s.database for s in states.values() if s.database in databases and is_behind(s)}
        yield Registered(running, databases, frozenset(behind))


def metadata_of(state: State) -> Path:
    (entry,) = state.frozen.entries
    name = str(entry.table["parameters"][POINTER]).rpartition("/")[2]
    return state.home / METADATA / name


def is_behind(state: State) -> bool:
    metadata = json.loads(metadata_of(state).read_text(encoding="utf-8"))
    newest = metadata.get("current-snapshot-id")
    schemas = {of["snapshot-id"]: of.get("schema-id") for of in metadata.get("snapshots", ())}
    return newest in schemas and schemas[newest] != metadata["current-schema-id"]


def register(state: State, files: Path, bucket: str, base: str) -> str:
    """Copy a state into the store, and let the catalog know its metadata file; return why not."""
    inside, name = f"tables/{state.database}", metadata_of(state).name
    copy, there = files / inside, f"s3://{bucket}/{inside}"
    shutil.copytree(state.home, copy, copy_function=shutil.copyfile)
    root = json.loads((copy / METADATA / name).read_text(encoding="utf-8"))["location"]
    move.relocate(copy, Locations({root: there}), there)
    made = requests.post(base, json={"namespace": [state.database]}, timeout=TIMEOUT_S)
    assert made.ok, made.text
    body = {"name": "t", "metadata-location": f"{there}/{METADATA}/{name}"}
    answer = requests.post(f"{base}/{state.database}/register", json=body, timeout=TIMEOUT_S)
    return "" if answer.ok else str(answer.json()["error"]["message"])


def answers(run: Run, reader: str, catalog: Registered) -> list[Answer]:
    """What a reader answered of the tables that the catalog has."""
    cells = [cell for cell in run.info.cells if parse_reader(cell.reader).distribution == reader]
    every = [run.answers[cell.case] for cell in cells if cell.case in run.answers]
    return [a for a in every if any(database in a.sql for database in catalog.databases)]


def check(asked: Sequence[Answer], replies: Sequence[Reply | str], catalog: Registered) -> None:
    """The catalog forgets what was done to columns since the last snapshot, and nothing else."""
    every = dict(differences(asked, replies))
    other = {case: how for case, how in every.items() if not names(case, asked, catalog.behind)}
    assert other == {}
    whole = {a.case for a in asked if a.question == ALL and names(a.case, asked, catalog.behind)}
    assert whole
    assert whole <= every.keys()
    assert {every[case].partition(" ")[0] for case in whole} == {"columns"}


def names(case: str, asked: Sequence[Answer], databases: Collection[str]) -> bool:
    (sql,) = {answer.sql for answer in asked if answer.case == case}
    return any(database in sql for database in databases)


def differences(
    before: Sequence[Answer], replies: Sequence[Reply | str]
) -> Iterator[tuple[str, str]]:
    """Yield where a reader shows something else through the catalog, and what."""
    for answer, reply in zip(before, replies, strict=True):
        if isinstance(reply, str):
            if answer.refusal is None:
                yield answer.case, f"refused: {reply[:200]}"
        elif answer.refusal is not None:
            yield answer.case, "answered"
        else:
            columns = [(column.name, column.canonical) for column in answer.columns]
            shown = [(column.name, column.canonical) for column in reply.columns]
            if columns != shown:
                yield answer.case, f"columns {shown}, not {columns}"
            elif sorted(map(repr, reply.rows)) != sorted(map(repr, answer.rows)):
                yield answer.case, f"rows {reply.rows}, not {answer.rows}"


@pytest.mark.parametrize("name", SERVERS)
def test_servers_answer_otherwise_only_where_columns_were_changed_last(
    name: str,
    run: Run,
    catalog: Registered,
    metastore: Metastore,
    cache: Cache,
    progress: Progress,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = distributions.load(name)
    if name.startswith("spark"):
        rest = "spark.sql.catalog.rest"
        settings: Mapping[str, Any] = {
            "conf": {
                rest: "org.apache.iceberg.spark.SparkCatalog",
                f"{rest}.type": "rest",
                f"{rest}.uri": catalog.nessie.address,
                f"{rest}.s3.access-key-id": "any",
                f"{rest}.s3.secret-access-key": "any",
                f"{rest}.client.region": "us-east-1",
                "spark.sql.defaultCatalog": "rest",
            }
        }
    else:
        settings = nessie.trino_settings(before, catalog.nessie)
        monkeypatch.setattr(template, "render", nessie.without_metastore)
    distribution = object_storage.reaching(
        nessie.with_settings(object_storage.added(before), settings), catalog.nessie.store
    )
    if name.startswith("spark"):
        distribution = nessie.by_file_io(distribution)
    engine = engines.load(distribution.engine)
    runtime = provide.runtime(distribution, cache, progress)
    asked = answers(run, name, catalog)
    assert asked
    replies = list[Reply | str]()
    with (
        engine.serve(runtime, metastore.uris, tmp_path, progress) as server,
        closing(server.connect({})) as connection,
    ):
        for answer in asked:
            try:
                replies.append(connection.run(answer.sql, timeout_s=TIMEOUT_S))
            except RefusedError as refused:
                replies.append(str(refused))
    check(asked, replies, catalog)


@pytest.mark.parametrize("name", LIBRARIES)
def test_libraries_answer_otherwise_only_where_columns_were_changed_last(
    name: str, run: Run, catalog: Registered, cache: Cache, progress: Progress
) -> None:
    home = fetch.ensure(distributions.load(name), cache, progress).home
    library = name.partition("-")[0]
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-c",
        f"DUCKDB = {nessie.DUCKDB!r}{BY_LIBRARY}",
        library,
        catalog.nessie.address,
        catalog.nessie.bucket,
    ]
    environment = {**os.environ, **catalog.nessie.variables, "PYTHONPATH": str(home)}
    asked = answers(run, name, catalog)
    assert asked
    lines = "".join(f"{json.dumps(answer.sql)}\n" for answer in asked).encode()
    done = subprocess.run(command, input=lines, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    replies, left = list[Reply | str](), done.stdout
    while left:
        head, _, left = left.partition(b"\n")
        about = json.loads(head)
        body, left = left[: about["bytes"]], left[about["bytes"] :]
        with pa.ipc.open_stream(body) as reader:
            replies.append(about["error"] or reply_of(reader.read_all(), 0.0))
    check(asked, replies, catalog)
