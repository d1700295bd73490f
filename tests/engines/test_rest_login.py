"""A REST catalog that wants tokens: the harness and its engines get them as clients of OAuth.

Nessie asks a small issuer on loopback (`token_issuer`) about each token that it is shown.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import pytest
import requests

from harness import engines
from harness.artifacts import distributions, fetch, object_storage
from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.engines.api import RefusedError, Server
from harness.engines.trino import engine
from harness.engines.trino.engine import TrinoServer
from harness.formats import facts
from harness.runtime import provide, template
from harness.runtime.metastore import Metastore
from harness.runtime.process import LOOPBACK
from tests.engines import nessie, token_issuer
from tests.engines.token_issuer import CLIENT, Issuer

pytestmark = [pytest.mark.engines, pytest.mark.alone, pytest.mark.nightly]

WRONG: Final = "canary-client:canary-of-another-secret"
REFUSED: Final = "invalid_client(:| -) no such client"
"""What clients say of a secret that is not taken: the words of who gives tokens."""
SPARK: Final = "spark-3.5.8-iceberg-1.10.1"
TRINO: Final = "trino-483"
TIMEOUT_S: Final = 120.0
ROWS: Final = [[1, "a1"], [2, "a2"]]
PYICEBERG: Final = """
import json, sys
import pyarrow as pa
from pyiceberg.catalog import load_catalog
given = json.load(sys.stdin)
catalog = load_catalog("rest", type="rest", **given["settings"])
if given["rows"]:
    catalog.create_namespace("sales")
    columns = {"id": pa.int64(), "f1": pa.string()}
    rows = [dict(zip(columns, row)) for row in given["rows"]]
    schema = pa.schema(columns.items())
    catalog.create_table(("sales", "orders"), schema).append(pa.Table.from_pylist(rows, schema))
rows = catalog.load_table(("sales", "orders")).scan().to_arrow().to_pylist()
print(json.dumps([list(row.values()) for row in rows]))
"""
DUCKDB: Final = (
    nessie.DUCKDB
    + """
import json
given = json.load(sys.stdin)
settings = given["settings"]
id_, _, secret = settings["credential"].partition(":")
connection.execute(f"attach '{given['warehouse']}' as rest (type iceberg, "
                   f"endpoint '{settings['uri']}', client_id '{id_}', client_secret '{secret}', "
                   f"oauth2_server_uri '{settings['oauth2-server-uri']}')")
print(json.dumps([list(row) for row in connection.sql("from rest.sales.orders").fetchall()]))
"""
)


@dataclass(frozen=True)
class Lake:
    """A catalog that wants tokens, and who gives them."""

    nessie: nessie.Catalog
    issuer: Issuer

    def settings(self, credential: str) -> dict[str, str]:
        """As PyIceberg and Iceberg's own client in Java call them."""
        return {
            "uri": self.nessie.address,
            "credential": credential,
            "oauth2-server-uri": self.issuer.token_uri,
        }

    def asked(
        self, code: str, paths: str, credential: str, *, rows: list[list[Any]] | None = None
    ) -> Any:  # noqa: ANN401 - JSON
        """Let a library read the table; AssertionError: what it says instead."""
        named = {"settings": self.settings(credential), "rows": rows}
        given = json.dumps(named | {"warehouse": self.nessie.bucket})
        environment = {**os.environ, **self.nessie.variables, "PYTHONPATH": paths}
        command = [sys.executable, "-W", "ignore", "-c", code]
        done = subprocess.run(
            command, input=given, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def path_of(name: str, cache: Cache, progress: Progress) -> str:
    return str(fetch.ensure(distributions.load(name), cache, progress).home)


@pytest.fixture(scope="module")
def lake(
    cache: Cache, progress: Progress, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lake]:
    folder = tmp_path_factory.mktemp("lake")
    with (
        token_issuer.serving() as issuer,
        nessie.serving(cache, folder, progress, issuer) as catalog,
    ):
        asked = requests.get(f"{catalog.address}/v1/config", timeout=TIMEOUT_S)
        assert asked.status_code == HTTPStatus.UNAUTHORIZED  # who has no token is told nothing
        made = Lake(catalog, issuer)
        paths = path_of("pyiceberg-0.12.0", cache, progress)
        assert made.asked(PYICEBERG, paths, CLIENT, rows=ROWS) == ROWS
        yield made


@contextmanager
def serving(
    name: str,
    lake: Lake,
    credential: str,
    metastore: Metastore,
    cache: Cache,
    progress: Progress,
    folder: Path,
) -> Iterator[Server]:
    """A Spark or Trino whose Iceberg tables are those of the catalog, by a client's name."""
    before = distributions.load(name)
    if name.startswith("spark"):
        rest = "spark.sql.catalog.rest"
        options = {**lake.settings(credential), "type": "rest", "client.region": "us-east-1"}
        options |= dict.fromkeys(("s3.access-key-id", "s3.secret-access-key"), "any")
        conf = {f"{rest}.{key}": text for key, text in options.items()}
        conf[rest] = "org.apache.iceberg.spark.SparkCatalog"
        settings: Mapping[str, Mapping[str, str]] = {"conf": conf}
    else:
        login = {
            "security": "OAUTH2",
            "oauth2.credential": credential,
            "oauth2.server-uri": lake.issuer.token_uri,
        }
        ((catalog, options_),) = nessie.trino_settings(before, lake.nessie).items()
        more = {f"iceberg.rest-catalog.{key}": text for key, text in login.items()}
        settings = {catalog: {**options_, **more}}
    distribution = object_storage.reaching(
        nessie.with_settings(object_storage.added(before), settings), lake.nessie.store
    )
    if name.startswith("spark"):
        distribution = nessie.by_file_io(distribution)
    runtime = provide.runtime(distribution, cache, progress)
    (folder / "server").mkdir()
    planned = frozenset([(facts("iceberg"), ())])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(template, "render", nessie.without_metastore)
        patched.setattr(
            engine, "first_questions", lambda *_: []
        )  # it would wait for a right secret
        with engines.load(distribution.engine).serve(
            runtime, metastore.uris, folder / "server", progress, planned
        ) as server:
            patched.setattr(template, "render", nessie.RENDER)
            yield server


@pytest.mark.parametrize("credential", [CLIENT, WRONG])
@pytest.mark.parametrize("name", ["pyiceberg-0.12.0", "duckdb-1.5.5"])
def test_libraries_get_a_token_and_use_it(
    name: str, credential: str, lake: Lake, cache: Cache, progress: Progress
) -> None:
    code = PYICEBERG if name.startswith("pyiceberg") else DUCKDB
    paths, before = path_of(name, cache, progress), set(lake.issuer.shown)
    if credential == WRONG:
        with pytest.raises(AssertionError, match=REFUSED):
            lake.asked(code, paths, credential)
        assert lake.issuer.shown == before
    else:
        assert lake.asked(code, paths, credential) == ROWS
        assert lake.issuer.shown - before <= lake.issuer.given
        assert lake.issuer.shown > before


@pytest.mark.parametrize(
    ("name", "credential"),
    [(SPARK, CLIENT), (SPARK, WRONG), (TRINO, WRONG)],  # with the right one: see below
)
def test_servers_get_a_token_and_use_it(
    name: str,
    credential: str,
    lake: Lake,
    metastore: Metastore,
    cache: Cache,
    progress: Progress,
    tmp_path: Path,
) -> None:
    before = set(lake.issuer.shown)
    on = "iceberg" if name.startswith("trino") else "rest"
    started = serving(name, lake, credential, metastore, cache, progress, tmp_path)
    with started as server, closing(server.connect({})) as connection:
        question = f"select id, f1 from {on}.sales.orders order by id"
        if credential == WRONG:
            with pytest.raises(RefusedError) as caught:
                connection.run(question, timeout_s=TIMEOUT_S)
            refusal = caught.value.refusal  # of which Trino's message says nothing of the cause
            assert re.search(REFUSED, f"{refusal.message} {refusal.cause}")
            assert lake.issuer.shown == before
        else:
            assert [[*row] for row in connection.run(question, timeout_s=TIMEOUT_S).rows] == ROWS
            assert lake.issuer.shown > before
            assert lake.issuer.shown <= lake.issuer.given


def commanded(lake: Lake, platform: Path, *asked: str, credential: str = CLIENT) -> tuple[int, str]:
    """Run a command of the harness; return its status and all that it says, without a secret."""
    environment = {**os.environ, **lake.nessie.variables, "LAKE_CLIENT": credential}
    command = [sys.executable, "-m", "harness", *asked, "--platform", str(platform)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    for secret in (credential.partition(":")[2], *lake.issuer.given):
        assert secret not in done.stdout + done.stderr
        for file in Path.cwd().rglob("*"):
            assert not file.is_file() or secret.encode() not in file.read_bytes()
    return done.returncode, done.stdout + done.stderr


def test_the_harness_and_what_it_asks_get_a_token_and_no_output_has_the_secret(
    lake: Lake,
    metastore: Metastore,
    cache: Cache,
    progress: Progress,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("asked"))
    started = serving(TRINO, lake, CLIENT, metastore, cache, progress, tmp_path)
    with started as server:
        assert isinstance(server, TrinoServer)
        platform = tmp_path / "platform.yaml"
        platform.write_text(
            f"""\
engines:
  production-trino:
    like: {TRINO}
    address: http://{LOOPBACK}:{server.port}
    catalogs: {{iceberg: iceberg}}
catalogs:
  lake:
    address: {lake.nessie.address}
    credential: {{env: LAKE_CLIENT}}
    oauth2_server_uri: {lake.issuer.token_uri}
store:
  endpoint: {lake.nessie.store}
  region: us-east-1
  access_key: {{env: AWS_ACCESS_KEY_ID}}
  secret_key: {{env: AWS_SECRET_ACCESS_KEY}}
""",
            encoding="utf-8",
        )
        before = set(lake.issuer.shown)
        status, text = commanded(lake, platform, "doctor")
        assert status == 0, text
        assert "it answers: 1 database, 1 table" in text
        readers = ("--reader", "pyiceberg-0.12.0", "--reader", "production-trino@endpoint")
        asked = ("audit", "lake:sales.orders", *readers, "--run-dir")
        status, text = commanded(lake, platform, *asked, "run")
        assert status == 0, text
        (table,) = json.loads(Path("run/audit.json").read_text(encoding="utf-8"))["tables"]
        verdicts = {(answer["reader"], answer["verdict"]) for answer in table["answers"]}
        assert verdicts == {(reader, "correct") for reader in readers[1::2]}
        assert lake.issuer.shown > before
        assert commanded(lake, platform, "scan", "lake")[0] == 0
        status, text = commanded(lake, platform, "doctor", credential=WRONG)
        assert status == 3
        assert "cannot be listed: 401 Unauthorized: invalid_client: no such client" in text
        status, text = commanded(lake, platform, *asked, "wrong", credential=WRONG)
        assert status == 3
        assert "401 Unauthorized: invalid_client: no such client" in text
        changed = platform.read_text(encoding="utf-8").replace("    credential:", "    token:")
        (other := tmp_path / "token.yaml").write_text(changed, encoding="utf-8")
        status, text = commanded(lake, other, "doctor", credential="canary:of-no-token")
        assert status == 3
        assert "cannot be listed: 401 Unauthorized" in text
