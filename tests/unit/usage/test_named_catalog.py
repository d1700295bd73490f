"""Catalogs and stores that a platform file names: what a file may say, and what is sent."""

import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harness.audit import table_list
from harness.audit.table_list import TableAddress
from harness.cli import options
from harness.cli.app import main
from harness.core.errors import ScenarioProblem
from harness.formats.files import table_folder
from harness.plan import platform_file
from harness.usage.named_catalog import CATALOGS

CANARY = "canary-3f9a1c"
LISTED = """<?xml version="1.0"?><ListBucketResult><Name>lake</Name><IsTruncated>false</IsTruncated>
<CommonPrefixes><Prefix>warehouse/sales/</Prefix></CommonPrefixes>
</ListBucketResult>"""
"""What S3 answers (its manual, "ListObjectsV2")."""
VARIABLES = (
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    *("AWS_ENDPOINT_URL", "AWS_REGION"),
)


@pytest.fixture(autouse=True)
def _variables(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in VARIABLES:  # whatever is set in a test, they are afterwards as before
        monkeypatch.setenv(name, "mine")
    monkeypatch.setenv("KEY", "key-of-lake")
    monkeypatch.setenv("WORD", CANARY)
    yield
    CATALOGS.clear()
    table_folder._files.cache_clear()


@pytest.fixture
def logins() -> Iterator[list[str]]:
    """Serve a store; return how requests are signed, the address first."""
    seen = list[str]()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(f"{self.headers['Authorization']} {self.headers.as_string()}")
            self.send_response(200)
            self.send_header("Content-Length", str(len(LISTED)))
            self.end_headers()
            self.wfile.write(LISTED.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing of requests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        seen.append(f"http://127.0.0.1:{server.server_port}")
        yield seen
        server.shutdown()


def registered(folder: Path, text: str) -> Path:
    file = folder / "platform.yaml"
    file.write_text(text, encoding="utf-8")
    platform_file.register_file(file)
    return file


def lake(endpoint: str) -> str:
    return f"""\
store:
  endpoint: {endpoint}
  region: eu-1
  access_key: {{env: KEY}}
  secret_key: {{env: WORD}}
catalogs:
  lake: {{address: s3://lake/warehouse}}
"""


def test_a_store_is_listed_with_its_own_keys(
    tmp_path: Path, logins: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = registered(tmp_path, lake(logins[0]))
    assert main(["doctor", "--platform", str(file)]) == 0
    shown = capsys.readouterr()
    assert "it can be listed: 1 entry" in shown.out
    assert logins[1].startswith("AWS4-HMAC-SHA256 Credential=key-of-lake/")
    assert CANARY not in shown.out + shown.err + "".join(logins)
    assert "X-Amz-Security-Token" not in logins[1]
    assert "AWS_SESSION_TOKEN" not in os.environ


def test_a_store_that_cannot_be_asked_is_said_without_its_keys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = registered(tmp_path, lake("http://127.0.0.1:1"))
    monkeypatch.delenv("KEY")
    assert main(["doctor", "--platform", str(file)]) == 3
    shown = capsys.readouterr()
    assert "the variable KEY is not set" in shown.err
    assert CANARY not in shown.out + shown.err


def test_a_name_stands_for_a_catalog_and_its_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered(tmp_path, "catalogs:\n  lake: {address: 'thrift://127.0.0.1:1'}\n")
    monkeypatch.chdir(tmp_path)
    texts = "lake", "lake:sales", "lake:sales.orders"
    named = [one for text in texts for one in table_list.expanded(TableAddress(text, ("crm.*",)))]
    chosen = [("crm.*",), ("sales.*", "crm.*"), ("sales.orders", "crm.*")]
    assert [one.tables for one in named] == chosen
    assert {one.address for one in named} == {"lake"}
    (table, folder) = options.TableOptions().addresses(["lake:sales.orders", "orders"])
    assert (table.address, folder.address) == ("lake:sales.orders", str(tmp_path / "orders"))


REST = """\
catalogs:
  lake:
    address: https://catalog.example/api
    token: {file: token}
    warehouse: sales
"""


def test_files_lie_beside_the_platform_file(tmp_path: Path) -> None:
    registered(tmp_path, REST)
    (tmp_path / "token").write_text("word\n", encoding="ascii")
    (tmp_path / "token").chmod(0o600)
    settings = CATALOGS["lake"].settings()
    assert (settings["token"], settings["warehouse"]) == ("word", "sales")


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        ("https", "http", 2, "secrets are sent to https addresses"),
        ("https://", "https://me:canary-3f9a1c@", 2, "address is https://catalog.example/api; al"),
        ("https://catalog.example/api", "lake", 2, "allowed: https://host/path, thrift://host"),
        ("https://catalog.example/api", "thrift://hms:9083", 2, "are of REST catalogs"),
        ("{file: token}", CANARY, 4, "no secret stands here; name its place"),
        ("{file: token}", f"[{CANARY}]", 4, "no secret stands here; name its place"),
        ("warehouse: sales", "credential: {env: ID}", 2, "a token, or a credential; not both"),
        ("  lake:", "  my lake:", 2, "my lake.*should match pattern"),
    ],
)
def test_what_is_wrong_is_said_by_its_line_and_without_secrets(
    tmp_path: Path, old: str, new: str, line: int, why: str
) -> None:
    with pytest.raises(ScenarioProblem, match=why) as refused:
        registered(tmp_path, REST.replace(old, new))
    assert f"platform.yaml:{line}:" in str(refused.value)
    assert CANARY not in str(refused.value)


def test_a_metastore_where_nobody_answers_is_said_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = registered(tmp_path, "catalogs:\n  lake: {address: 'thrift://127.0.0.1:1'}\n")
    assert main(["doctor", "--platform", str(file)]) == 3
    assert "the metastore at thrift://127.0.0.1:1 does not answer" in capsys.readouterr().out
