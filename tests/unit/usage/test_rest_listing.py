"""What the client of a REST catalog prints becomes tables; the client is simulated."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.artifacts import fetch
from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.progress import Progress
from harness.usage import rest_listing, rest_worker, scan
from tests.builders import rest_catalog
from tests.builders.table_folders import short

Printing = Callable[..., None]
ORDERS = Path(__file__).with_name("warehouse") / "sales" / "orders"
CONTENT = json.loads(max((ORDERS / "metadata").glob("*.json")).read_text(encoding="utf-8"))
FIRST = {"total": 3, "unlisted": {"hidden": "ForbiddenError: no"}, "databases": 2}
LINES = (
    FIRST,
    {"name": "sales.v", "view": True},
    {"name": "sales.orders", "location": str(ORDERS), "content": CONTENT},
    {"name": "sales.lost", "unread": "NoSuchTableError: no"},
)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Printing:
    """Let a client print these lines, whatever the catalog at the address has."""
    program = tmp_path / "client.py"
    monkeypatch.setattr(rest_worker, "__file__", str(program))
    home = SimpleNamespace(home=tmp_path)
    monkeypatch.setattr(fetch, "ensure", lambda *_: home)

    def printing(*lines: object) -> None:
        printed = "\n".join(map(json.dumps, lines))
        program.write_text(f"print({printed!r})\n", encoding="utf-8")

    return printing


def test_tables_of_a_rest_catalog_are_scanned_and_what_it_refuses_is_reported(
    client: Printing,
) -> None:
    client(*LINES)
    with rest_catalog.serving({}) as address:
        usage = scan.scan(address, (), Progress())
    lost, orders, view = usage.tables
    assert short(orders.schema_changes) == ["add f2 end yes", "rename f1 f1_new yes"]
    assert (orders.format, orders.table_version, view.format) == ("iceberg", "2", "view")
    assert lost.unread == "NoSuchTableError: no"
    assert usage.unlisted == {"hidden": "ForbiddenError: no"}
    assert usage.metastore == address


def test_no_login_of_an_address_gets_into_the_file(client: Printing) -> None:
    client({"total": 0, "unlisted": {}, "databases": 0})
    with rest_catalog.serving({}) as address:
        usage = scan.scan(address.replace("//", "//me:secret@"), (), Progress())
    assert usage.metastore == address


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({"problem": "UnauthorizedError: who"}, "cannot be listed: UnauthorizedError: who; docs/"),
        ({"total": 1, "unlisted": {}, "databases": 1}, "cannot be listed: its client ended"),
    ],
)
def test_a_catalog_that_cannot_be_listed_is_reported(
    line: object, problem: str, client: Printing
) -> None:
    client(line)
    with rest_catalog.serving({}) as address, pytest.raises(EnvironmentProblem, match=problem):
        scan.scan(address, (), Progress())


def test_a_pattern_that_nothing_fits_is_wrong_use(client: Printing) -> None:
    client({"total": 0, "unlisted": {}, "databases": 2})
    with (
        rest_catalog.serving({}) as address,
        pytest.raises(UsageProblem, match=r"like x\*; the catalog has 2 namespaces"),
    ):
        scan.scan(address, ("x*",), Progress())


def test_an_address_where_nobody_answers_is_reported_before_anything_is_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fetch, "ensure", lambda *_: pytest.fail("it fetches"))
    with pytest.raises(
        EnvironmentProblem, match=r"the REST catalog at http://127\.0\.0\.1:1 does not"
    ):
        scan.scan("http://127.0.0.1:1", (), Progress())


def test_the_client_imports_nothing_of_the_harness() -> None:
    text = Path(rest_worker.__file__).read_text(encoding="utf-8")
    assert "harness." not in text
    assert rest_listing.LIBRARY.startswith("pyiceberg-")
