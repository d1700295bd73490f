"""PyIceberg's client lists a REST catalog, which is simulated on loopback, for `harness scan`."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.artifacts.cache import Cache
from harness.artifacts.fetch import Installation
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.usage import rest_listing, scan
from tests.builders import rest_catalog
from tests.builders.table_folders import short

pytestmark = pytest.mark.engines

SALES = Path(__file__).parents[1] / "unit" / "usage" / "warehouse" / "sales"
TABLES = {
    f"sales.{name}": max((SALES / name / "metadata").glob("*.json")) for name in ("orders", "parts")
}
VARIABLE = "PYICEBERG_CATALOG__DEFAULT__TOKEN"


@pytest.fixture(autouse=True)
def client(
    monkeypatch: pytest.MonkeyPatch, cache: Cache, installed: Callable[[str], Installation]
) -> None:
    installed(rest_listing.LIBRARY)
    monkeypatch.setattr(Cache, "default", lambda **_: cache)


def test_a_rest_catalog_is_listed_with_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = {"namespace": ["sales"], "name": "lost"}
    known = dict(rest_catalog.answers(TABLES))
    known["/v1/namespaces/sales/tables"]["identifiers"].append(lost)
    monkeypatch.setenv(VARIABLE, "open sesame")
    with rest_catalog.serving(known, "open sesame") as address:
        usage = scan.scan(address, ("SALES",), Progress())
    tables = {table.name: table for table in usage.tables}
    assert list(tables) == ["sales.lost", "sales.orders", "sales.parts"]
    assert short(tables["sales.orders"].schema_changes) == [
        "add f2 end unknown",
        "rename f1 f1_new unknown",
    ]
    assert "NoSuchTable" in tables["sales.lost"].unread


def test_a_rest_catalog_that_refuses_a_client_without_a_token_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with (
        rest_catalog.serving(rest_catalog.answers(TABLES), "open sesame") as address,
        pytest.raises(EnvironmentProblem, match="cannot be listed: UnauthorizedError"),
    ):
        scan.scan(address, (), Progress())
