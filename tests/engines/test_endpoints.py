"""A Trino and a PrestoDB that run already, with TLS, passwords and tokens, are asked, read-only."""

import base64
import hashlib
import hmac
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.cli.app import main
from harness.core.errors import UsageProblem
from harness.core.records import VerdictKind
from harness.engines.api import Attaches, NoAnswerError, RefusedError, Server
from harness.engines.trino.engine import READY_S
from harness.plan import platform_file
from harness.read.questions import load_engine
from harness.run import load_run
from harness.run.load_run import Run
from harness.runtime.metastore import Metastore
from tests.engines import secure_server
from tests.engines.everyone import Installed, TooLarge
from tests.engines.secure_server import PASSWORD, SIGNED_BY, USER, VARIABLE
from tests.engines.trino_table import register
from tests.engines.until import until

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

TOKEN: Final = "SECURE_TOKEN"  # noqa: S105 - a variable
LIKE: Final = ("trino-483", "prestodb-0.283")


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

    like: str
    platform: Path
    metastore: str

    @property
    def reader(self) -> str:
        return f"production-{self.like.partition('-')[0]}@endpoint"

    def with_text(self, name: str, *changes: tuple[str, str]) -> Path:
        """Another platform file beside it, in which something is otherwise."""
        text = self.platform.read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        other = self.platform.with_name(name)
        other.write_text(text, encoding="utf-8")
        return other

    def with_token(self) -> Path:
        changed = (f"password: {{env: {VARIABLE}}}", f"token: {{env: {TOKEN}}}")
        return self.with_text("token.yaml", changed)

    def server(self) -> Server:
        platform_file.register_file(self.platform)
        distribution = distributions.load(self.reader)
        engine = load_engine(self.like)
        assert isinstance(engine, Attaches)
        assert distribution.endpoint is not None
        return engine.attach(distribution, distribution.endpoint)

    def rows(self, sql: str) -> list[Any]:
        with closing(self.server().connect({})) as connection:
            return [row[0] for row in connection.run(sql, timeout_s=60).rows]


@pytest.fixture(scope="module")
def tables(metastore: Metastore, tmp_path_factory: pytest.TempPathFactory) -> Metastore:
    """A metastore with two tables, one of which has columns in another order than its files."""
    folder = tmp_path_factory.mktemp("sales")
    rows = pa.table({"id": [1, 2], "f1": ["a1", "a2"], "f2": ["b1", "b2"]})
    columns = [("id", "bigint"), ("f1", "string"), ("f2", "string")]
    for name, listed in (("orders", columns), ("moved", [columns[0], columns[2], columns[1]])):
        (folder / name).mkdir()
        files = "parquet" if name == "orders" else "orc"
        write = pq.write_table if name == "orders" else orc.write_table
        write(rows, folder / name / f"one.{files}")
        register(metastore.uri, "sales", name, listed, folder / name, files)
    return metastore


@pytest.fixture(scope="module", params=LIKE)
def production(
    request: pytest.FixtureRequest,
    installed: Installed,
    too_large: TooLarge,
    tables: Metastore,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Production]:
    installed(request.param)  # so that the plugin alone is left, which has an archive of its own
    if why := too_large(secure_server.registered(request.param)):
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("production") / "server"
    script = [sys.executable, "-m", secure_server.__name__, request.param, str(folder), tables.uri]
    theirs = Production(request.param, folder / "platform.yaml", tables.uri)

    def reads() -> bool:
        assert server.poll() is None, log.read_text(encoding="utf-8")
        try:
            return (
                theirs.platform.exists() and theirs.rows("select id from hive.sales.orders") != []
            )
        except (NoAnswerError, RefusedError):  # not yet
            return False

    log = folder.with_name("server.log")
    with (
        pytest.MonkeyPatch.context() as patched,
        log.open("wb") as out,
        subprocess.Popen(script, stdout=out, stderr=subprocess.STDOUT) as server,
    ):
        patched.setenv(VARIABLE, PASSWORD)
        try:
            until(reads, "it has not started", READY_S)
            yield theirs
        finally:
            server.kill()


@pytest.fixture(autouse=True)
def _asks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(TOKEN, token(USER))
    monkeypatch.setenv(VARIABLE, PASSWORD)
    monkeypatch.chdir(tmp_path)


def audited(production: Production, platform: Path, *options: str) -> dict[str, Any]:
    """Audit its tables; return what is written of each, by its name."""
    asked = ["audit", production.metastore, "--database", "sales", "--reader", production.reader]
    main([*asked, "--platform", str(platform), "--run-dir", "run", *options])
    written = json.loads(Path("run/audit.json").read_text(encoding="utf-8"))
    return {table["name"]: table["answers"] for table in written["tables"]}


def written_below(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def statements(production: Production) -> list[str]:
    """What the server itself says that the user has sent."""
    return production.rows(f"select query from system.runtime.queries where \"user\" = '{USER}'")


def test_its_metastore_has_a_name_as_well(
    production: Production, capsys: pytest.CaptureFixture[str]
) -> None:
    catalogs = f"catalogs:\n  theirs: {{address: '{production.metastore}'}}\nengines:"
    named = production.with_text("named.yaml", ("engines:", catalogs))
    assert main(["doctor", "--platform", str(named)]) == 0
    listed = capsys.readouterr().out
    assert f"theirs, at {production.metastore}" in listed
    assert re.search(r"it answers: \d+ databases, \d+ tables", listed)
    asked = ["audit", "theirs:sales.orders", "--reader", production.reader]
    assert main([*asked, "--platform", str(named)]) == 0
    assert f"All is right: {production.reader}" in capsys.readouterr().out
    assert main(["scan", "theirs", "--database", "sales", "--platform", str(named)]) == 0
    assert "2 tables (1 hive-orc, 1 hive-parquet)" in capsys.readouterr().out


@pytest.mark.parametrize("secret", [PASSWORD, token(USER)])
def test_its_tables_are_audited_by_their_own_names_and_the_secret_is_nowhere(
    production: Production, capsys: pytest.CaptureFixture[str], secret: str
) -> None:
    platform = production.platform if secret == PASSWORD else production.with_token()
    tables = audited(production, platform)
    orders = {(answer["verdict"], answer["because"]) for answer in tables["sales.orders"]}
    assert orders == {("correct", "")}
    # A plain table's rules leave open what a moved column shows.
    assert any("it differs" in answer["because"] for answer in tables["sales.moved"])
    shown = capsys.readouterr()
    for text in (secret, SIGNED_BY):
        assert text not in shown.out + shown.err
        assert text.encode() not in written_below(Path("run"))


def test_nothing_is_sent_that_could_change_anything(production: Production) -> None:
    audited(production, production.platform)
    with (
        closing(production.server().connect({})) as connection,
        pytest.raises(UsageProblem, match="only SELECT, SHOW and DESCRIBE"),
    ):
        connection.run("drop table hive.sales.orders", timeout_s=60)
    sent = statements(production)
    assert any("sales" in sql for sql in sent)
    assert {sql.split()[0].lower() for sql in sent} == {"select", "show"}


@pytest.mark.parametrize(
    ("variable", "why"),
    [
        ("", f"the variable {TOKEN} is not set"),
        ("no.token.atall", f"it does not take the login of {USER} (error 401)"),
    ],
)
def test_whose_token_is_none_is_told_so(
    production: Production,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    why: str,
) -> None:
    monkeypatch.setenv(TOKEN, variable)
    assert main(["doctor", "--platform", str(production.with_token())]) == 3
    shown = capsys.readouterr()
    assert why in shown.out + shown.err
    assert "defect of the harness" not in shown.out + shown.err


def test_trino_does_not_let_one_user_ask_as_another(
    production: Production, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN, token("somebody"))
    status = main(["doctor", "--platform", str(production.with_token())])
    if production.like.startswith("trino"):
        assert status == 3
        assert "User somebody cannot impersonate user auditor" in capsys.readouterr().out
    else:  # PrestoDB allows it where nobody has given it rules
        assert status == 0


@pytest.mark.parametrize(
    ("password", "changes", "why"),
    [
        ("canary-of-another", [], f"it does not take the login of {USER} (error 401)"),
        (PASSWORD, [(USER, "somebody")], "it does not take the login of somebody (error 401)"),
        (PASSWORD, [("    certificate: ca.pem\n", "")], "certificate verify failed"),
    ],
)
def test_who_may_not_ask_is_told_so(
    production: Production,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    password: str,
    changes: list[tuple[str, str]],
    why: str,
) -> None:
    monkeypatch.setenv(VARIABLE, password)
    other = production.with_text("other.yaml", *changes)
    assert main(["doctor", "--platform", str(other)]) == 3
    assert why in capsys.readouterr().out
    answers = [answer for table in audited(production, other).values() for answer in table]
    assert {answer["verdict"] for answer in answers} == {"unknown"}
    assert all(why in answer["because"] for answer in answers)
    shown = capsys.readouterr()
    assert "defect of the harness" not in shown.out + shown.err
    assert password not in shown.out + shown.err
    assert password.encode() not in written_below(Path("run"))


def seen(run: Run, case: str) -> tuple[VerdictKind, list[str], str]:
    """A verdict, the rows in any order, and of a refusal its kind: its text names databases."""
    answer = run.answers[case]
    rows = sorted(map(repr, answer.rows))
    return run.recorded[case].verdict, rows, answer.refusal.kind if answer.refusal else ""


@pytest.mark.parametrize("profile", ["first", "quick-start-hive-parquet"])
def test_a_run_has_the_answers_of_a_process(
    production: Production, cache: Cache, tmp_path: Path, profile: str
) -> None:
    (lake := tmp_path / "lake").mkdir()
    section = f"""\
catalogs: {{theirs: {{address: "{production.metastore}"}}}}
own_tables: {{prefix: harness_, catalog: theirs, folder: "{lake}"}}
engines:"""
    platform = production.with_text("own.yaml", ("engines:", section))
    readers = ["--reader", production.like, "--reader", production.reader]
    asked = ["run", "--profile", profile, *readers, "--platform", str(platform)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Cache, "default", lambda **_: cache)
        assert main([*asked, "--run-dir", "run"]) in (0, 1)
    run = load_run.load(Path("run"))
    by_reader = {
        reader: {
            cell.case.replace(reader, ""): seen(run, cell.case)
            for cell in run.info.cells
            if cell.reader == reader
        }
        for reader in (production.like, production.reader)
    }
    ours, theirs = by_reader.values()
    assert ours
    assert {case: theirs[case] for case in ours} == ours  # beside a control of an engine not ours
    assert list(lake.iterdir()) == []
    assert PASSWORD.encode() not in written_below(tmp_path)


def test_the_doctor_says_what_it_can_be_asked(
    production: Production, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--platform", str(production.platform)]) == 0
    assert "hive tables: in its catalog hive" in capsys.readouterr().out
    other = production.with_text("lake.yaml", ('"hive": "hive"', '"hive": "lake"'))
    assert main(["doctor", "--platform", str(other)]) == 3
    assert "it has no catalog lake; it has " in capsys.readouterr().out
