"""A Trino that runs already, behind TLS and tokens, is asked for one's own tables, read-only."""

import base64
import hashlib
import hmac
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.cli.app import main
from harness.core.errors import UsageProblem
from harness.core.progress import Progress
from harness.engines.api import Server
from harness.engines.trino.engine import ENGINE
from harness.plan import platform_file
from harness.runtime import provide
from harness.runtime.metastore import Metastore
from harness.runtime.process import LOOPBACK, free_port
from tests.engines.trino_table import register

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

READER: Final = "production-trino@endpoint"
GUARDED: Final = "trino-476-guarded"
SIGNED_BY: Final = "canary-of-a-signing-key-that-is-long"
VARIABLE: Final = "TRINO_TOKEN"
PASSWORD: Final = "canary-of-a-password"  # noqa: S105 - of this test
PASSWORDS: Final = "password-authenticators"
"""The plugin of Trino that has them in a file."""


def token(user: str) -> str:
    """A JSON Web Token by RFC 7519, signed with HMAC and SHA-256 (RFC 7515, A.1)."""

    def part(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    head, claims = ({"alg": "HS256", "typ": "JWT"}, {"sub": user})
    signed = ".".join(part(json.dumps(of).encode()) for of in (head, claims))
    return f"{signed}.{part(hmac.digest(SIGNED_BY.encode(), signed.encode(), hashlib.sha256))}"


@dataclass(frozen=True)
class Production:
    """What a team has: a server, its platform file, and tables in its metastore."""

    platform: Path
    metastore: str


@pytest.fixture(scope="module")
def production(
    metastore: Metastore,
    cache: Cache,
    progress: Progress,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Production]:
    folder, port = tmp_path_factory.mktemp("production"), free_port()
    rows = pa.table({"id": [1, 2], "f1": ["a1", "a2"], "f2": ["b1", "b2"]})
    columns = [("id", "bigint"), ("f1", "string"), ("f2", "string")]
    for name, listed in (("orders", columns), ("moved", [columns[0], columns[2], columns[1]])):
        (folder / name).mkdir()
        files = "parquet" if name == "orders" else "orc"
        write = pq.write_table if name == "orders" else orc.write_table
        write(rows, folder / name / f"one.{files}")
        register(metastore.uri, "sales", name, listed, folder / name, files)
    java = fetch.ensure(distributions.load("trino-476"), cache, progress).java_home
    store, certificate = folder / "store.p12", folder / "ca.pem"
    named = [str(java / "bin" / "keytool"), "-keystore", str(store), "-storepass", SIGNED_BY]
    made = ("-genkeypair", "-keyalg", "RSA", "-dname", "CN=trino", "-ext", f"san=ip:{LOOPBACK}")
    subprocess.run([*named, *made], check=True, capture_output=True)
    shown = ["-exportcert", "-rfc", "-file", str(certificate)]
    subprocess.run([*named, *shown], check=True, capture_output=True)
    (folder / "jwt.key").write_text(base64.b64encode(SIGNED_BY.encode()).decode(), encoding="ascii")
    config = {
        "http-server.https.enabled": "true",
        "http-server.https.port": str(port),
        "http-server.https.keystore.path": str(store),
        "http-server.https.keystore.key": SIGNED_BY,
        "http-server.authentication.type": "JWT,PASSWORD",
        "password-authenticator.config-files": str(folder / "passwords.properties"),
        "http-server.authentication.jwt.key-file": str(folder / "jwt.key"),
        "http-server.authentication.allow-insecure-over-http": "true",
        "internal-communication.shared-secret": SIGNED_BY,
    }
    salt = b"salt of auditor"
    hashed = hashlib.pbkdf2_hmac("sha1", PASSWORD.encode(), salt, 1000, 64).hex()
    (folder / "passwords").write_text(f"auditor:1000:{salt.hex()}:{hashed}\n", encoding="ascii")
    authenticator = f"password-authenticator.name=file\nfile.password-file={folder / 'passwords'}\n"
    (folder / "passwords.properties").write_text(authenticator, encoding="ascii")
    trino = distributions.load("trino-476")
    (archive,) = trino.artifacts
    members = [*archive.members, f"plugin/{PASSWORDS}"]
    file = {"get": str(archive.coordinates), "size": archive.size, "sha256": archive.sha256}
    data = {
        "name": GUARDED,
        "like": "trino-476",
        "settings": {"config": config, "plugins": [*trino.texts("plugins"), PASSWORDS]},
        "artifacts": {"archive": [{**file, "members": members}]},
    }
    distributions.register(GUARDED, json.dumps(data), "a test")
    platform = folder / "platform.yaml"
    platform.write_text(
        f"""\
engines:
  production-trino:
    like: trino-476
    address: https://{LOOPBACK}:{port}
    user: auditor
    token: {{env: {VARIABLE}}}
    certificate: ca.pem
    catalogs: {{hive: hive}}
""",
        encoding="utf-8",
    )
    runtime = provide.runtime(distributions.load(GUARDED), cache, progress)
    (folder / "server").mkdir()
    with ENGINE.serve(runtime, metastore.uris, folder / "server", progress):
        yield Production(platform, metastore.uri)


@pytest.fixture(autouse=True)
def _asks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, token("auditor"))
    monkeypatch.chdir(tmp_path)


def audited(
    production: Production, capsys: pytest.CaptureFixture[str], *options: str
) -> dict[str, Any]:
    (reader,) = platform_file.register_file(production.platform)
    assert reader == READER
    asked = ["audit", production.metastore, "--database", "sales", "--reader", READER]
    main([*asked, "--platform", str(production.platform), "--json", *options])
    report: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return report


def test_its_metastore_has_a_name_as_well(
    production: Production, capsys: pytest.CaptureFixture[str]
) -> None:
    text = production.platform.read_text(encoding="utf-8")
    named = production.platform.with_name("named.yaml")
    catalogs = f"catalogs:\n  theirs: {{address: '{production.metastore}'}}\n"
    named.write_text(f"{text}{catalogs}", encoding="utf-8")
    assert main(["doctor", "--platform", str(named)]) == 0
    listed = capsys.readouterr().out
    assert f"theirs, at {production.metastore}" in listed
    assert re.search(r"it answers: \d+ databases, \d+ tables", listed)
    asked = ["audit", "theirs:sales.orders", "--reader", READER, "--platform", str(named)]
    assert main(asked) == 0
    assert "All is right: production-trino@endpoint" in capsys.readouterr().out
    assert main(["scan", "theirs", "--database", "sales", "--platform", str(named)]) == 0
    assert "2 tables (1 hive-orc, 1 hive-parquet)" in capsys.readouterr().out


def attached() -> Server:
    distribution = distributions.load(READER)
    assert distribution.endpoint is not None
    return ENGINE.attach(distribution, distribution.endpoint)


def statements(production: Production) -> list[str]:
    """What the server itself says that the user has sent."""
    platform_file.register_file(production.platform)
    with closing(attached().connect({})) as connection:
        text = "select query from system.runtime.queries where \"user\" = 'auditor'"
        return [str(sql) for (sql,) in connection.run(text, timeout_s=60).rows]


def test_its_tables_are_audited_by_their_own_names_and_the_secret_is_nowhere(
    production: Production, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    report = audited(production, capsys)
    assert report["status"] == 3  # a plain table's rules leave open what a moved column shows
    written = json.loads(Path(report["reports"]["json"]).read_text(encoding="utf-8"))
    verdicts = {
        table["name"]: {(answer["verdict"], answer["because"]) for answer in table["answers"]}
        for table in written["tables"]
    }
    assert verdicts["sales.orders"] == {("correct", "")}
    assert any("it differs" in because for _, because in verdicts["sales.moved"])
    written_bytes = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert token("auditor").encode() not in written_bytes
    assert token("auditor") not in json.dumps(report)


def test_nothing_is_sent_that_could_change_anything(
    production: Production, capsys: pytest.CaptureFixture[str]
) -> None:
    audited(production, capsys)
    platform_file.register_file(production.platform)
    with (
        closing(attached().connect({})) as connection,
        pytest.raises(UsageProblem, match="only SELECT, SHOW and DESCRIBE"),
    ):
        connection.run("drop table hive.sales.orders", timeout_s=60)
    sent = statements(production)
    assert any("sales" in sql for sql in sent)
    assert {sql.split()[0].lower() for sql in sent} == {"select", "show"}


@pytest.mark.parametrize(
    ("variable", "why"),
    [
        ("", f"the variable {VARIABLE} is not set"),
        (token("somebody"), "User somebody cannot impersonate user auditor"),
        ("no.token.atall", "error 401"),
    ],
)
def test_who_may_not_ask_is_told_so(
    production: Production,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    why: str,
) -> None:
    monkeypatch.setenv(VARIABLE, variable)
    report = audited(production, capsys)
    assert report["status"] == 3
    message = report.get("problem") or Path(report["reports"]["json"]).read_text(encoding="utf-8")
    assert why in message
    assert "defect of the harness" not in message


def test_a_password_is_as_good_as_a_token_and_a_wrong_one_is_refused(
    production: Production, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = production.platform.read_text(encoding="utf-8")
    other = production.platform.with_name("password.yaml")
    secret = text.replace(f"token: {{env: {VARIABLE}}}", "password: {env: TRINO_PASSWORD}")
    other.write_text(secret, encoding="utf-8")
    monkeypatch.setenv("TRINO_PASSWORD", PASSWORD)
    asked = ["audit", production.metastore, "--database", "sales", "--reader", READER]
    main([*asked, "--platform", str(other), "--run-dir", "run"])
    (orders,) = (
        table
        for table in json.loads(Path("run/audit.json").read_text(encoding="utf-8"))["tables"]
        if table["name"] == "sales.orders"
    )
    assert {answer["verdict"] for answer in orders["answers"]} == {"correct"}
    shown = capsys.readouterr()
    written = b"".join(path.read_bytes() for path in Path("run").rglob("*") if path.is_file())
    assert PASSWORD not in shown.out + shown.err
    assert PASSWORD.encode() not in written
    monkeypatch.setenv("TRINO_PASSWORD", "another")
    assert main(["doctor", "--platform", str(other)]) == 3
    assert "error 401" in capsys.readouterr().out


def test_the_doctor_says_what_it_can_be_asked(
    production: Production, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--platform", str(production.platform)]) == 0
    shown = capsys.readouterr().out
    assert "hive tables: in its catalog hive" in shown
    text = production.platform.read_text(encoding="utf-8").replace("hive: hive", "hive: lake")
    other = production.platform.with_name("other.yaml")
    other.write_text(text, encoding="utf-8")
    assert main(["doctor", "--platform", str(other)]) == 3
    assert "it has no catalog lake; it has " in capsys.readouterr().out
