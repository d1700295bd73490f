"""A REST catalog, on loopback, is listed; it is told what it must be, and nobody else is."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.cli.app import main
from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.core.progress import Progress
from harness.runtime.metastore_objects import CatalogEntry
from harness.usage import rest_listing, scan
from harness.usage.named_catalog import CATALOGS
from harness.usage.rest_listing import VARIABLES, NotToldError
from harness.usage.usage_file import Usage
from tests.builders import rest_catalog
from tests.builders.table_folders import short

SALES = Path(__file__).with_name("warehouse") / "sales"
TABLES = {
    f"sales.{name}": max((SALES / name / "metadata").glob("*.json")) for name in ("orders", "parts")
}
CANARY = "canary-3f9a1c"
Runs = Callable[..., tuple[int, str]]


@pytest.fixture(autouse=True)
def _nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("TOKEN", "CREDENTIAL", "WAREHOUSE"):
        monkeypatch.delenv(f"{VARIABLES}{name}", raising=False)
    yield
    CATALOGS.clear()


def scanned(address: str, *patterns: str) -> Usage:
    return scan.scan(address, patterns, Progress())


def known() -> dict[str, object]:
    return dict(rest_catalog.answers(TABLES))


def test_its_tables_are_scanned_and_what_it_refuses_is_reported() -> None:
    answers = known()
    views = {"identifiers": [{"namespace": ["sales"], "name": "v"}]}
    tables = {
        "identifiers": [{"namespace": ["sales"], "name": n} for n in ("orders", "lost", "odd")]
    }
    answers |= {
        "/v1/namespaces": {"namespaces": [["sales"], ["hidden"]]},
        "/v1/namespaces/sales/tables": tables,
        "/v1/namespaces/sales/views": views,
        "/v1/namespaces/sales/tables/odd": {"metadata": None},
    }
    with rest_catalog.serving(answers) as address:
        usage = scanned(address)
    lost, odd, orders, view = usage.tables
    assert short(orders.schema_changes) == ["add f2 end unknown", "rename f1 f1_new unknown"]
    assert (orders.format, orders.table_version, view.format) == ("iceberg", "2", "view")
    why = "404 Not Found: NoSuchTableException: no /v1/namespaces/{}"
    assert lost.unread == why.format("sales/tables/lost")
    assert odd.unread
    assert usage.unlisted == {"hidden": why.format("hidden/tables")}
    assert usage.metastore == address


def test_all_pages_and_namespaces_inside_of_others_are_listed() -> None:
    parts = {"identifiers": [{"namespace": ["sales", "eu"], "name": "parts"}]}
    orders = {"identifiers": [{"namespace": ["sales"], "name": "orders"}], "next-page-token": "2"}
    loaded = known()["/v1/namespaces/sales/tables/parts"]
    inside = "/v1/a|b/namespaces"
    answers = {
        "/v1/config": {"defaults": {"prefix": "other"}, "overrides": {"prefix": "a|b"}},
        inside: {"namespaces": [["sales"]]},
        f"{inside}?parent=sales": {"namespaces": [["sales", "eu"]]},
        f"{inside}?parent=sales\x1feu": {"namespaces": [["sales"]]},
        f"{inside}/sales/tables": orders,
        f"{inside}/sales/tables?pageToken=2": {"identifiers": []},
        f"{inside}/sales\x1feu/tables": parts,
        f"{inside}/sales/views": {"identifiers": None},
        f"{inside}/sales/tables/orders": loaded,
        f"{inside}/sales\x1feu/tables/parts": loaded,
    }
    with rest_catalog.serving(answers) as address:
        usage = scanned(address)
    assert [table.name for table in usage.tables] == ["sales.eu.parts", "sales.orders"]
    assert not any(table.unread for table in usage.tables)
    assert not usage.unlisted


def test_no_login_of_an_address_gets_into_the_file() -> None:
    with rest_catalog.serving(known()) as address:
        usage = scanned(address.replace("//", "//me:secret@"))
    assert usage.metastore == address


def test_a_pattern_that_nothing_fits_is_wrong_use() -> None:
    with (
        rest_catalog.serving(known()) as address,
        pytest.raises(UsageProblem, match=r"like x\*; the catalog has 1 namespaces"),
    ):
        scanned(address, "x*")


def test_what_is_no_catalog_is_said() -> None:
    with (
        rest_catalog.serving({"/v1/config": "hello"}) as address,
        pytest.raises(EnvironmentProblem, match="cannot be listed: 200 OK; docs/usage"),
    ):
        scanned(address)
    with pytest.raises(EnvironmentProblem, match=r"REST catalog at http://127\.0\.0\.1:1 does not"):
        scanned("http://127.0.0.1:1")


def test_without_a_name_it_is_told_what_variables_say(monkeypatch: pytest.MonkeyPatch) -> None:
    with rest_catalog.serving(known(), "open sesame") as address:
        with pytest.raises(EnvironmentProblem, match="401 Unauthorized: NotAuthorized"):
            scanned(address)
        monkeypatch.setenv(f"{VARIABLES}TOKEN", "open sesame")
        assert len(scanned(address, "SALES").tables) == 2


def test_tables_of_a_run_are_put_into_namespaces_of_their_own_and_taken_out_again() -> None:
    answers: dict[str, Any] = {
        "/v1/config": {"defaults": {}, "overrides": {}},
        "/v1/namespaces": {"namespaces": [["sales"]]},
        "/v1/namespaces/sales/tables": {"identifiers": [{"namespace": ["sales"], "name": "t"}]},
    }
    parameters = {"metadata_location": "{location}/metadata/v1.json"}
    entry = CatalogEntry("t", {"tableName": "t", "parameters": parameters})
    with rest_catalog.serving(answers) as address, rest_listing.opened(address, "") as catalog:
        catalog.put("own_s_1", [entry], "s3://lake/own")
        assert catalog.databases() == ("sales", "own_s_1")
        (put,) = answers["/v1/namespaces/own_s_1/tables"]["identifiers"]
        assert (put["name"], put["at"]) == ("t", "s3://lake/own/metadata/v1.json")
        catalog.drop("own_s_1")
        assert catalog.databases() == ("sales",)
        assert answers["/v1/namespaces/own_s_1/tables"]["identifiers"] == []
    with (
        rest_catalog.serving(answers) as address,
        pytest.raises(NotToldError, match="409 Conflict"),
        rest_listing.opened(address, "") as catalog,
    ):
        catalog.put("sales", [entry], "s3://lake/own")


@pytest.mark.parametrize("forgets", [0, 1, 2])
def test_a_catalog_that_registers_older_columns_is_told_the_current_ones(forgets: int) -> None:
    file = TABLES["sales.orders"]
    written = json.loads(file.read_text(encoding="utf-8"))
    schemas, now = written["schemas"], written["current-schema-id"]
    (current,) = [schema for schema in schemas if schema["schema-id"] == now]
    older = [schema for schema in schemas if schema["schema-id"] != now]
    known = [older[0], *([current] if forgets < 2 else [])]
    shown = {**written, "schemas": known, "current-schema-id": older[0]["schema-id"]}
    answers: dict[str, Any] = {
        "/v1/config": {"defaults": {}, "overrides": {}},
        "/v1/namespaces": {"namespaces": []},
        "/v1/namespaces/own_s_1/register": {"metadata": shown if forgets else written},
    }
    pointer = {"metadata_location": f"{{location}}/metadata/{file.name}"}
    entry = CatalogEntry("t", {"tableName": "t", "parameters": pointer})
    with rest_catalog.serving(answers) as address, rest_listing.opened(address, "") as catalog:
        catalog.put("own_s_1", [entry], str(SALES / "orders"))
    commit = answers.get("/v1/namespaces/own_s_1/tables/t", {"updates": []})
    updates = [(update["action"], update.get("schema-id")) for update in commit["updates"]]
    assert (
        updates
        == [
            [],
            [("set-current-schema", now)],
            [("add-schema", None), ("set-current-schema", -1)],
        ][forgets]
    )
    if forgets == 2:
        assert commit["updates"][0]["schema"]["fields"] == current["fields"]


@pytest.fixture
def command_of(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Iterator[Runs]:
    """Return what runs a command about a catalog `lake`; none of it, nor a file, has a canary."""
    monkeypatch.chdir(tmp_path)
    for variable in ("TOLD", f"{VARIABLES}TOKEN"):
        monkeypatch.setenv(variable, f"{CANARY}-of-{variable}")

    def run(address: str, keys: str, *command: str) -> tuple[int, str]:
        text = f"catalogs:\n  lake: {{address: '{address}', {keys}}}\n"
        Path("platform.yaml").write_text(text, encoding="utf-8")
        status, shown = main([*command, "--platform", "platform.yaml"]), capsys.readouterr()
        assert CANARY not in shown.out + shown.err
        return status, shown.out + shown.err

    yield run
    assert not [
        file
        for file in tmp_path.rglob("*")
        if file.is_file() and CANARY.encode() in file.read_bytes()
    ]


COMMANDS = pytest.mark.parametrize(
    "command",
    [("doctor",), ("scan", "lake"), ("audit", "lake:sales.orders", "--reader", "duckdb-1.5.5")],
)


@pytest.mark.parametrize("command", [("doctor",), ("scan", "lake")])
def test_a_named_catalog_is_told_its_token(command_of: Runs, command: tuple[str, ...]) -> None:
    answers = known()
    answers["/v1/config?warehouse=w"] = answers.pop("/v1/config")
    with rest_catalog.serving(answers, f"{CANARY}-of-TOLD") as address:
        status, shown = command_of(address, "warehouse: w, token: {env: TOLD}", *command)
    assert status == 0
    assert "1 database, 2 tables" in shown or "2 tables (2 iceberg)" in shown


@COMMANDS
@pytest.mark.parametrize("key", ["token: {env: TOLD}", "credential: {env: TOLD}", "scope: all"])
def test_what_it_says_of_a_secret_that_it_refuses_is_not_shown(
    command_of: Runs, command: tuple[str, ...], key: str
) -> None:
    with rest_catalog.serving(known(), "another", "another:one") as address:
        status, shown = command_of(address, key, *command)
    assert status == 3
    assert "401 Unauthorized: " in shown
    assert ("who is Bearer …" in shown) is key.startswith("token")
    assert ("who is None" in shown) is key.startswith("scope")  # the variables are another's


@COMMANDS
def test_a_token_that_a_client_gets_is_hidden_as_well(
    command_of: Runs, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("TOLD", f"me:{CANARY}")
    with rest_catalog.serving({}, f"{CANARY}-made", f"me:{CANARY}") as address:
        oauth = f"oauth2_server_uri: '{address}{rest_catalog.OAUTH}', scope: {rest_catalog.SCOPE}"
        status, shown = command_of(address, f"credential: {{env: TOLD}}, {oauth}", *command)
    assert status == 3
    assert "404 Not Found: NoSuchTableException: no /v1/config for Bearer …" in shown


def test_a_client_gets_the_token_that_it_sends(
    command_of: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOLD", f"me:{CANARY}")
    with rest_catalog.serving(known(), f"{CANARY}-made", f"me:{CANARY}") as address:
        oauth = f"oauth2_server_uri: '{address}{rest_catalog.OAUTH}', scope: {rest_catalog.SCOPE}"
        status, shown = command_of(address, f"credential: {{env: TOLD}}, {oauth}", "scan", "lake")
    assert (status, "2 tables (2 iceberg)" in shown) == (0, True)
