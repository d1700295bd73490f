"""A HiveServer2 that runs already, with TLS and passwords, is asked for one's own tables."""

import json
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.cli.app import main
from harness.core.errors import UsageProblem
from harness.core.progress import Progress
from harness.engines.api import Connection
from harness.engines.hive.engine import ENGINE, LOG, READY_S, HiveProgram
from harness.plan import platform_file
from harness.run import load_run
from harness.runtime import provide, template
from harness.runtime.api import Running
from harness.runtime.metastore import Metastore
from harness.runtime.process import LOOPBACK
from harness.usage import own_tables
from tests.engines.trino_table import register

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

READER: Final = "production-hive@endpoint"
PASSWORD: Final = "canary-of-a-password"  # noqa: S105 - of this test
STORE: Final = "canary-of-a-key-store"
VARIABLE: Final = "HIVE_PASSWORD"
CLASS: Final = "hive.server2.custom.authentication.class"
BY_DIRECTORY: Final = "org.apache.hive.service.auth.LdapAuthenticationProviderImpl"
"""Who authenticates where the mode is LDAP; CUSTOM takes any such class, as a team's own."""
ANYBODY: Final = "org.apache.hive.service.auth.AnonymousAuthenticationProviderImpl"
COMPILED: Final = re.compile(r"Compiling command\(queryId=\S+\): (.*)")
"""What HiveServer2 logs of each statement (Hive 3.1.3, `Driver.compile`)."""


class Directory(StreamRequestHandler):
    """The bind of LDAP (RFC 4511, 4.2): somebody is who they say if they know the password."""

    def handle(self) -> None:
        while (head := self.rfile.read(2)) and head[0] == 0x30:
            message = self.rfile.read(head[1])  # shorter than 128 bytes
            if message[3] != 0x60:  # an unbind
                return
            right = message.endswith(PASSWORD.encode())
            result = bytes([0x0A, 1, 0 if right else 49, 4, 0, 4, 0])
            answer = bytes([*message[:3], 0x61, len(result)]) + result
            self.wfile.write(bytes([0x30, len(answer)]) + answer)


@pytest.fixture(scope="module")
def directory() -> Iterator[str]:
    with ThreadingTCPServer((LOOPBACK, 0), Directory) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"ldap://{LOOPBACK}:{server.server_address[1]}"
        server.shutdown()


@dataclass(frozen=True)
class Production:
    """What a team has: a server, its platform file, its log, and tables in its metastore."""

    platform: Path
    metastore: str
    log: Path


def platform_of(folder: Path, port: int, more: str) -> Path:
    file = folder / "platform.yaml"
    head = "engines:\n  production-hive:\n    like: hive-3.1.3\n    user: auditor\n"
    file.write_text(f"{head}    address: hive2://{LOOPBACK}:{port}{more}", encoding="utf-8")
    return file


def started(
    metastore: Metastore,
    cache: Cache,
    progress: Progress,
    folder: Path,
    site: dict[str, str],
    more: str,
) -> Iterator[Production]:
    name = f"hive-3.1.3-{site['hive.server2.authentication'].lower()}"
    data = {"name": name, "like": "hive-3.1.3", "settings": {"site": site}}
    distributions.register(name, json.dumps(data), "a test")
    runtime = provide.runtime(distributions.load(name), cache, progress)
    (folder / "server").mkdir()
    rendered = template.render

    def telling(folder_: str, file: str, values: Mapping[str, object]) -> str:
        return rendered(folder_, file, {**values, "level": "INFO"} if file == LOG else values)

    def ready(running: Running, port: int) -> Production:
        platform = platform_of(folder, port, more)
        connected(platform).close()
        return Production(platform, metastore.uri, running.log)

    program = HiveProgram(distributions.load(name), ready_s=READY_S)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(template, "render", telling)
        with runtime.start(program, metastore.uris, folder / "server", ready) as production:
            yield production


def connected(platform: Path) -> Connection:
    (reader,) = platform_file.register_file(platform)
    distribution = distributions.load(reader)
    assert distribution.endpoint is not None
    return ENGINE.attach(distribution, distribution.endpoint).connect({})


@pytest.fixture(scope="module")
def folder(metastore: Metastore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a table in the metastore."""
    folder = tmp_path_factory.mktemp("production")
    (folder / "orders").mkdir()
    rows = pa.table({"id": [1, 2], "f1": ["a1", "a2"]})
    pq.write_table(rows, folder / "orders" / "one.parquet")
    columns = [("id", "bigint"), ("f1", "string")]
    register(metastore.uri, "sales_of_hive", "orders", columns, folder / "orders")
    return folder


@pytest.fixture(scope="module")
def secured(cache: Cache, progress: Progress, folder: Path, directory: str) -> dict[str, str]:
    """What a server has set with TLS and a directory of users."""
    java = fetch.ensure(distributions.load("hive-3.1.3"), cache, progress).java_home
    store = folder / "store.jks"
    named = [str(java / "bin" / "keytool"), "-keystore", str(store), "-storepass", STORE]
    made = ("-genkeypair", "-keyalg", "RSA", "-dname", "CN=hive", "-ext", f"san=ip:{LOOPBACK}")
    subprocess.run([*named, *made], check=True, capture_output=True)
    shown = ["-exportcert", "-rfc", "-file", str(folder / "ca.pem")]
    subprocess.run([*named, *shown], check=True)
    return {
        "hive.server2.authentication": "LDAP",
        "hive.server2.authentication.ldap.url": directory,
        "hive.server2.use.SSL": "true",
        "hive.server2.keystore.path": str(store),
        "hive.server2.keystore.password": STORE,
    }


def secret(folder: Path) -> str:
    password = f"    password: {{env: {VARIABLE}}}\n"
    return f";ssl=true\n{password}    certificate: {folder / 'ca.pem'}\n"


@pytest.fixture(scope="module")
def production(
    metastore: Metastore,
    cache: Cache,
    progress: Progress,
    folder: Path,
    secured: dict[str, str],
) -> Iterator[Production]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, PASSWORD)
        yield from started(metastore, cache, progress, folder, secured, secret(folder))


@pytest.fixture(autouse=True)
def _asks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, PASSWORD)
    monkeypatch.chdir(tmp_path)


def audit(production: Production, run: str = "run") -> int:
    asked = ["audit", production.metastore, "--database", "sales_of_hive", "--reader", READER]
    return main([*asked, "--platform", str(production.platform), "--run-dir", run])


def test_its_tables_are_audited_and_the_secret_is_nowhere(
    production: Production, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    platform_file.register_file(production.platform)
    assert audit(production) == 0
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    shown = capsys.readouterr()
    assert b"sales_of_hive.orders" in written
    assert PASSWORD.encode() not in written
    assert PASSWORD not in shown.out + shown.err


def test_a_run_asks_it_about_tables_of_its_own_and_the_secret_is_nowhere(
    production: Production, cache: Cache, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    lake.mkdir()
    section = f"""\
catalogs: {{theirs: {{address: "{production.metastore}"}}}}
own_tables: {{prefix: harness_, catalog: theirs, folder: "{lake}"}}
"""
    platform = production.platform.with_name("own.yaml")
    platform.write_text(
        f"{production.platform.read_text(encoding='utf-8')}{section}", encoding="utf-8"
    )
    asked = ["--profile", "quick-start-hive-parquet", "--reader", READER]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Cache, "default", lambda **_: cache)
        status = main(["run", *asked, "--platform", str(platform), "--run-dir", "run"])
    assert status in (0, 1)
    answers = load_run.load(Path("run")).answers.values()
    assert any(f"`{own_tables.current().begin}" in answer.sql for answer in answers)
    assert not any(answer.unknown for answer in answers)
    assert list(lake.iterdir()) == []
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    shown = capsys.readouterr()
    assert PASSWORD.encode() not in written
    assert PASSWORD not in shown.out + shown.err


def test_what_is_sent_can_be_read_before(
    production: Production, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["audit", production.metastore, "--database", "sales_of_hive", "--reader", READER]
    assert main([*asked, "--platform", str(production.platform), "--dry-run"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert audit(production) == 0
    (table,) = json.loads(Path("run/audit.json").read_text(encoding="utf-8"))["tables"]
    sent = [answer["sql"] for answer in table["answers"]]
    assert sent == [line for line in lines if line.startswith("select ")]


def test_its_own_log_tells_of_nothing_but_reading(production: Production) -> None:
    assert audit(production) == 0
    compiled = COMPILED.findall(production.log.read_text(encoding="utf-8"))
    sent = set(compiled) - {"USE `default`"}  # with which PyHive begins a session
    assert any("sales_of_hive" in statement for statement in sent)
    assert {statement.split()[0] for statement in sent} <= {"select", "show", "describe"}


def test_a_statement_that_could_change_something_is_not_sent(production: Production) -> None:
    with closing(connected(production.platform)) as connection:
        with pytest.raises(UsageProblem, match="only SELECT, SHOW and DESCRIBE"):
            connection.run("drop table sales_of_hive.orders", timeout_s=60)
        assert connection.run("show tables in sales_of_hive", timeout_s=60).rows == (("orders",),)


def test_who_may_not_ask_is_told_so(
    production: Production, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "another")
    platform_file.register_file(production.platform)
    assert main(["doctor", "--platform", str(production.platform)]) == 3
    assert "it does not take the login of auditor" in capsys.readouterr().out


def test_the_doctor_says_that_it_answers(
    production: Production, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--platform", str(production.platform)]) == 0
    assert "it answers: " in capsys.readouterr().out


def test_a_server_of_another_certificate_is_not_asked(
    production: Production, capsys: pytest.CaptureFixture[str]
) -> None:
    text = production.platform.read_text(encoding="utf-8").replace(
        f"    certificate: {production.platform.with_name('ca.pem')}\n", ""
    )
    other = production.platform.with_name("other.yaml")
    other.write_text(text, encoding="utf-8")
    assert main(["doctor", "--platform", str(other)]) == 3
    assert "certificate" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("authentication", "more"),
    [
        ("NONE", "\n"),
        ("NOSASL", "\n    sasl: false\n"),
        # A class of Hive's own, by which each login is right.
        ("CUSTOM", "\n"),
    ],
)
def test_a_server_without_passwords_is_asked(
    metastore: Metastore,
    cache: Cache,
    progress: Progress,
    tmp_path: Path,
    folder: Path,
    authentication: str,
    more: str,
) -> None:
    site = {
        "hive.server2.authentication": authentication,
        CLASS: ANYBODY,
    }
    for production in started(metastore, cache, progress, tmp_path, site, more):
        assert audit(production) == 0


def test_a_server_with_a_class_of_its_own_refuses_a_wrong_password(
    metastore: Metastore,
    cache: Cache,
    progress: Progress,
    tmp_path: Path,
    folder: Path,
    secured: dict[str, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site = {**secured, "hive.server2.authentication": "CUSTOM", CLASS: BY_DIRECTORY}
    for production in started(metastore, cache, progress, tmp_path, site, secret(folder)):
        assert audit(production, "right") == 0
        monkeypatch.setenv(VARIABLE, wrong := "canary-of-another")
        capsys.readouterr()
        assert main(["doctor", "--platform", str(production.platform)]) == 3
        why = "it does not take the login of auditor: Error validating the login"
        assert why in capsys.readouterr().out
        assert audit(production) == 3
        (table,) = json.loads(Path("run/audit.json").read_text(encoding="utf-8"))["tables"]
        assert {answer["verdict"] for answer in table["answers"]} == {"unknown"}
        assert all(why in answer["because"] for answer in table["answers"])
        shown = capsys.readouterr()
        written = b"".join(path.read_bytes() for path in Path("run").rglob("*") if path.is_file())
        assert wrong not in shown.out + shown.err
        assert wrong.encode() not in written
