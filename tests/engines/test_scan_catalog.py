"""`harness scan` and `harness audit` of a real REST catalog; its tables lie in an object store."""

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.audit import audit
from harness.audit.readers import AuditReaders
from harness.audit.tables import pinned
from harness.cli.app import main
from harness.core.progress import Progress
from harness.core.records import VerdictKind
from harness.scenario.cells import parse_reader
from harness.usage import scan
from harness.usage.usage_file import Usage, UsedTable
from tests.builders.table_folders import short
from tests.engines import nessie

pytestmark = [pytest.mark.engines, pytest.mark.alone, pytest.mark.nightly]

LIBRARY = "pyiceberg-0.12.0"
FILL = """
import sys, pyarrow, requests
from urllib.parse import quote
from pyiceberg.catalog import load_catalog
address = sys.argv[1]
catalog = load_catalog("default", type="rest", uri=address)
catalog.create_namespace("sales")
rows = pyarrow.table({"id": [1, 2, 3], "f1": ["a", "b", "c"]})
catalog.create_table("sales.parts", rows.schema)
table = catalog.create_table("sales.orders", rows.schema)
table.append(rows)
config = requests.get(f"{address}/v1/config").json()
prefix = quote({**config["defaults"], **config["overrides"]}["prefix"], safe="")
schema = table.schema().model_dump(mode="json", by_alias=True)
schema["fields"][1]["name"], schema["schema-id"] = "f1_new", 1
added = {"action": "add-schema", "schema": schema, "last-column-id": 2}
updates = [added, {"action": "set-current-schema", "schema-id": -1}]
url = f"{address}/v1/{prefix}/namespaces/sales/tables/orders"
answer = requests.post(url, json={"requirements": [], "updates": updates})
assert answer.ok, answer.text
"""
"""What PyIceberg does in the catalog; the rename is sent by hand, as PyIceberg 0.12.0 sends no
`last-column-id`, without which Nessie 0.99.0 takes no schema."""


@pytest.fixture(scope="module")
def catalog(
    cache: Cache, progress: Progress, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[nessie.Catalog]:
    with (
        nessie.serving(cache, tmp_path_factory.mktemp("nessie"), progress) as running,
        pytest.MonkeyPatch.context() as patched,
    ):
        for name, value in running.variables.items():
            patched.setenv(name, value)
        patched.setattr(Cache, "default", lambda **_: cache)
        home = fetch.ensure(distributions.load(LIBRARY), cache, progress).home
        environment = {**os.environ, "PYTHONPATH": str(home)}
        command = [sys.executable, "-c", FILL, running.address]
        subprocess.run(command, env=environment, check=True)
        yield running


def tables(usage: Usage) -> dict[str, UsedTable]:
    assert not usage.unlisted
    return {table.name: table for table in usage.tables}


def test_the_tables_of_a_catalog_are_read_from_its_object_store(catalog: nessie.Catalog) -> None:
    known = tables(scan.scan(catalog.address, ("sales",), Progress()))
    assert list(known) == ["sales.orders", "sales.parts"]
    assert short(known["sales.orders"].schema_changes) == ["rename f1 f1_new unknown"]
    assert not any(table.unread for table in known.values())


def test_the_tables_of_a_catalog_are_audited_where_they_lie(
    catalog: nessie.Catalog, cache: Cache, tmp_path: Path
) -> None:
    start = partial(AuditReaders, cache, tmp_path, Progress())
    reader = parse_reader(LIBRARY)
    audited = audit.audit(tuple(pinned(catalog.address, ("sales",))), [reader], start, Progress())
    by_name = {table.name: table for table in audited}
    assert {name: (table.rows, table.problem) for name, table in by_name.items()} == {
        "sales.orders": (3, ""),
        "sales.parts": (0, ""),
    }
    assert by_name["sales.orders"].columns == (("id", "long"), ("f1_new", "string"))
    answers = [answer for table in by_name.values() for answer in table.answers]
    assert {(answer.verdict, answer.because) for answer in answers} == {(VerdictKind.CORRECT, "")}


CANARY = "canary-3f9a1c"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (("doctor",), "it answers: 1 database, 2 tables"),
        (("doctor",), "it can be listed: "),
        (("scan", "lake"), "2 tables (2 iceberg)"),
        (("scan", "files"), "2 tables (2 iceberg)"),
        (("audit", "lake:sales.orders", "--reader", LIBRARY), "All is right: pyiceberg-0.12.0"),
    ],
)
def test_a_platform_file_says_all_that_is_needed_and_nobody_sees_the_secrets(
    catalog: nessie.Catalog,
    command: tuple[str, ...],
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in catalog.variables:
        monkeypatch.delenv(name)
    for name in ("TOKEN", "KEY", "WORD"):
        monkeypatch.setenv(name, f"{CANARY}-{name}")
    monkeypatch.chdir(tmp_path)
    Path("platform.yaml").write_text(
        f"""\
catalogs:
  lake: {{address: "{catalog.address}", warehouse: states, token: {{env: TOKEN}}}}
  files: {{address: "s3://{catalog.bucket}/warehouse"}}
store:
  endpoint: {catalog.store}
  region: us-east-1
  access_key: {{env: KEY}}
  secret_key: {{env: WORD}}
""",
        encoding="utf-8",
    )
    assert main([*command, "--platform", "platform.yaml"]) == 0
    printed = capsys.readouterr()
    assert shown in printed.out
    assert CANARY not in printed.out + printed.err
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if CANARY.encode() in path.read_bytes()]


def test_without_the_catalog_they_are_known_by_their_folders(catalog: nessie.Catalog) -> None:
    by_catalog = tables(scan.scan(catalog.address, (), Progress()))
    by_folder = tables(scan.scan(f"s3://{catalog.bucket}/warehouse", (), Progress()))
    # Which metadata are the newest is not seen: Nessie's all have the number 0.
    assert sorted((table.format, table.table_version) for table in by_folder.values()) == sorted(
        (table.format, table.table_version) for table in by_catalog.values()
    )
