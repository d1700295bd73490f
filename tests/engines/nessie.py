"""Nessie, an Iceberg REST catalog, on loopback; its tables lie in an object store there."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import requests

from harness.artifacts import distributions, fetch, object_storage
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Artifact, Distribution, coordinates
from harness.artifacts.fetch import Installation
from harness.core.progress import Progress
from harness.runtime import object_store, template
from harness.runtime.api import Running, Served, Surroundings
from harness.runtime.process import LOOPBACK
from harness.runtime.process_runtime import ProcessRuntime
from tests.engines import token_issuer
from tests.engines.token_issuer import Issuer

LOCK: Final = Path(__file__).with_suffix(".yaml")
STORE: Final = "s3proxy-4.1.0"
READY_S: Final = 120.0
ANSWER_S: Final = 10.0
DUCKDB: Final = """
import os, sys, duckdb
from glob import glob
connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
for name in ("avro", "httpfs", "iceberg"):
    (file,) = [f for p in sys.path for f in glob(f"{p}/duckdb_extension_{name}/extensions/*/*")]
    connection.execute(f"load '{file}'")
store = os.environ["AWS_ENDPOINT_URL"].partition("://")[2]
connection.execute(f"create secret (type s3, key_id 'any', secret 'any', region 'us-east-1', "
                   f"endpoint '{store}', url_style 'path', use_ssl false)")
"""
"""A program's first lines: DuckDB that reads the store; `Catalog.variables` are set."""
AWS: Final = Artifact(
    coordinates("org.apache.iceberg:iceberg-aws-bundle:1.10.1:jar"),
    62673230,
    "86bf20892ea5b4c17688f19b075399885f6aa5303f6b2dc9f491e76ceef9633b",
    "front",
)


@dataclass(frozen=True, slots=True)
class Catalog(Served):
    """A catalog that answers, and the store of its tables."""

    address: str
    store: str
    """The address of the object store."""
    bucket: str

    @property
    def variables(self) -> Mapping[str, str]:
        """Return what a process must have in its environment to read the tables."""
        keys = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "any")
        # The store takes no checksum after a part's content (400, seen with S3Proxy 2.9.0).
        keys["AWS_REQUEST_CHECKSUM_CALCULATION"] = "WHEN_REQUIRED"
        return {"AWS_ENDPOINT_URL": self.store, "AWS_REGION": "us-east-1", **keys}


@dataclass(frozen=True, slots=True)
class _Program:
    """The server; see `runtime.api.Program`."""

    distribution: Distribution
    store: object_store.ObjectStore
    issuer: Issuer | None
    log: str = "nessie.log"
    ready_s: float = READY_S
    not_yet: tuple[type[Exception], ...] = (OSError,)  # as are all of `requests`

    def files(self, around: Surroundings) -> Mapping[str, str]:
        location = f"s3://{self.store.bucket.name}/warehouse"
        values = {
            **self.distribution.options("config"),
            **(oidc(self.issuer) if self.issuer else {}),
            "nessie.catalog.warehouses.states.location": location,
            "nessie.catalog.service.s3.default-options.endpoint": self.store.url,
            "quarkus.http.host": around.host,
            "quarkus.http.port": around.port,
        }
        lines = (f"{name}={value}\n" for name, value in values.items())
        return {"application.properties": "".join(lines)}

    def environment(self, around: Surroundings) -> Mapping[str, str]:
        return {}

    def class_path(self, installation: Installation) -> Sequence[Path]:
        return installation.jars("lib")

    def command(self, installation: Installation, around: Surroundings) -> tuple[str, ...]:
        (jar,) = self.class_path(installation)
        return (
            *(str(installation.java), *self.distribution.java_options, *around.jvm),
            f"-Djava.io.tmpdir={around.folder / 'tmp'}",
            f"-Dquarkus.config.locations={around.conf / 'application.properties'}",
            *("-jar", str(jar)),
        )


def oidc(issuer: Issuer) -> Mapping[str, str]:
    """What lets nobody ask without a token (Nessie's guide, "Authentication"; Quarkus' of OIDC)."""
    id_, _, secret = token_issuer.CATALOG.partition(":")
    return {
        "nessie.server.authentication.enabled": "true",
        "quarkus.oidc.auth-server-url": issuer.address,
        "quarkus.oidc.discovery-enabled": "false",
        "quarkus.oidc.introspection-path": "/introspect",
        "quarkus.oidc.client-id": id_,
        "quarkus.oidc.credentials.secret": secret,
    }


@contextmanager
def serving(
    cache: Cache, folder: Path, progress: Progress, issuer: Issuer | None = None
) -> Iterator[Catalog]:
    """Fetch Nessie and run it in an empty folder, with a store of its own.

    `issuer`: whose tokens it wants.
    """
    distribution = distributions.parse(LOCK.read_text(encoding="utf-8"), str(LOCK))
    installation = fetch.ensure(distribution, cache, progress)
    store = ProcessRuntime(fetch.ensure(distributions.load(STORE), cache, progress))
    (written := folder / "buckets" / "states").mkdir(parents=True)
    for name in ("store", "catalog"):
        (folder / name).mkdir()
    with object_store.serve(store, folder / "store", written) as running_store:

        def ready(running: Running, port: int) -> Catalog:
            address = f"http://{LOOPBACK}:{port}/iceberg"
            answer = requests.get(f"{address}/v1/config", timeout=ANSWER_S)
            if not (issuer and answer.status_code == HTTPStatus.UNAUTHORIZED):
                answer.raise_for_status()
            return Catalog(running, address, running_store.url, running_store.bucket.name)

        program = _Program(distribution, running_store, issuer)
        runtime = ProcessRuntime(installation)
        with runtime.start(program, None, folder / "catalog", ready) as catalog:
            yield catalog


def with_settings(of: Distribution, more: Mapping[str, Mapping[str, str]]) -> Distribution:
    options = {key: {**of.options_if_any(key), **texts} for key, texts in more.items()}
    return replace(of, settings={**of.settings, **options})


def by_file_io(spark: Distribution) -> Distribution:
    """Nessie has every client of Java read by `S3FileIO`, whatever it says."""
    jars = [a for a in spark.artifacts if "hadoop-aws" not in str(a.coordinates)]
    jars = [a for a in jars if "aws-java-sdk" not in str(a.coordinates)]
    return replace(spark, artifacts=(*jars, AWS))


def trino_settings(of: Distribution, catalog: Catalog) -> Mapping[str, Mapping[str, str]]:
    """What a Trino has set whose Iceberg tables are those of a catalog; see `without_metastore`."""
    stored = object_storage.added(of).options("hive_catalog")
    s3 = {key: text for key, text in stored.items() if "s3" in key}
    rest = {"iceberg.catalog.type": "rest", "iceberg.rest-catalog.uri": catalog.address}
    return {"iceberg_catalog": {**s3, **rest}}


RENDER: Final = template.render


def without_metastore(folder: str, name: str, values: Mapping[str, Any]) -> str:
    """A catalog by REST takes no address of a metastore."""
    text = RENDER(folder, name, values)
    lines = [line for line in text.splitlines() if not line.startswith("hive.metastore.uri")]
    return "\n".join(lines) + "\n" if "iceberg.catalog.type=rest" in text else text
