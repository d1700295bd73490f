"""A mistyped command gets the reason and a next step that is not refused itself."""

import shlex
from pathlib import Path

import pytest

from harness.artifacts.cache import ENVIRONMENT_VARIABLE
from harness.cli import app
from harness.core.runtime_names import OFFLINE
from tests.builders.scenario_texts import MOVED

Capture = pytest.CaptureFixture[str]

ADDED = "  - add_column: {name: later, type: string}\n  - insert: [7]\n"
ERRORS = {
    "upgrade --from trino-476 --to trino-490 my.yaml": (
        "trino-490: there is no lock data of trino-490, and it cannot be added: no rule says which "
        "files this version needs; shipped are trino-368, trino-476"
    ),
    "run my.yaml --writer spark-3.5.8-hudi-0.51.0": "did you mean 'spark-3.5.8-hudi-0.15.0'?",
    "run my.yaml --reader trinno-476": "did you mean 'trino-476'? allowed: trino-368, trino-476",
    "run my.yaml --reader hive-3.1.4": "did you mean 'hive-3.1.3'? allowed: hive-2.3.10",
    "upgrade --from spark-4.1.4 --to spark-4.1.99 my.yaml": (
        "spark-4.1.99: there is no lock data of spark-4.1.99, and it cannot be added: PySpark "
        "4.1.99 is not known; known are 3.1.3, "
    ),
    "run my.yaml --writer spark-3.5.8-icebrg-1.10.1": (
        "there is no 'spark-3.5.8-icebrg-1.10.1'; did you mean 'spark-3.5.8-iceberg-1.10.1'?"
    ),
    "run my.yaml --reader spark-3.5.8-icebrg-1.10.1@container": (
        "is not a reader; did you mean 'spark-3.5.8-iceberg-1.10.1'?"
    ),
    "run my.yaml --reader hive-4.2.1 --format hive-orc": (
        "through hive-metastore-4.0.1 it can: --metastore hive-metastore-4.0.1, or beside it in "
    ),
    "upgrade --from duckdb-1.5.5 --to duckdb-2.0.1 deleted.yaml": (
        "no format that both sides read can have all steps: hive-parquet has no delete"
    ),
    "scan thift://metastore:9083": "there is no 'thift://'; did you mean 'thrift'? allowed: thrift",
    "scan http:/metastore:9083": "did you mean 'http://metastore:9083'?",
    "engines add hive 4.9.9": "docs/locks.md shows how; shipped are hive-2.3.10, hive-3.1.3, ",
    "run my.yaml --reader trino-483 --format delta": (
        "reader trino-483: it cannot be asked about delta tables (trino-483 has no connector for "
        "delta tables; the official image has it: trino-483@container); --format takes hive-"
    ),
    "run my.yaml --reader https://trino.internal:8443": (
        "reader https://trino.internal:8443: this is an address, and the harness starts its "
        "engines itself; name a version, such as trino-483; readers.yaml describes an engine set "
        "up as yours is (docs/engines.md), and harness audit asks one that runs already"
    ),
    "run my.yaml --metastore thrift://mine:9083": (
        "this is an address, and the harness starts its metastores itself; name a version"
    ),
    "run table": "table has no scenario file (*.yaml); it is a table: harness scan looks at",
    "run empty": "empty has no scenario file (*.yaml)\n",
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.yaml").write_text(f"{MOVED}{ADDED}", encoding="utf-8")
    Path("deleted.yaml").write_text(f"{MOVED}  - delete: [1]\n", encoding="utf-8")
    Path("table", "_delta_log").mkdir(parents=True)
    Path("empty").mkdir()


@pytest.mark.parametrize(("command", "text"), ERRORS.items())
def test_an_error_leads_on_and_leaves_no_folder(command: str, text: str, capsys: Capture) -> None:
    assert app.main(shlex.split(command)) == 2
    assert text in capsys.readouterr().err
    assert not Path("runs").exists() or not list(Path("runs").iterdir())


@pytest.mark.parametrize(
    "options",
    ["my.yaml --format delta", "my.yaml --format delta --allow-partial", "--format delta"],
)
def test_an_upgrade_of_which_a_side_reads_none_of_the_formats_is_not_known(
    options: str, capsys: Capture
) -> None:
    command = f"upgrade --from trino-476 --to trino-483 {options}"
    assert app.main(shlex.split(command)) == 3
    assert (
        "Not known: trino-483 has no connector for delta tables; the official image has it: "
        "trino-483@container; --reader takes chdb-"
    ) in capsys.readouterr().err
    assert not Path("runs").exists() or not list(Path("runs").iterdir())


@pytest.mark.parametrize(
    "sides",
    [
        "--from duckdb-1.5.5 --to duckdb-2.0.1",
        "--from datafusion-54.1.0-hudi-0.5.0 --to datafusion-55.0.0",
        "--from spark-3.5.9 --to spark-4.1.4",
        "--from spark-3.5.8-iceberg-1.10.1 --to spark-3.5.9-iceberg-1.12.0",
        "--from hive-3.1.3 --to hive-4.2.1",
        "--from hive-4.0.1 --to hive-4.2.1",
        "--from hive-4.0.1 --to hive-4.2.1 --profile upgrades_files",
    ],
)
def test_an_upgrade_lacks_nothing_but_what_it_fetches(
    sides: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv(OFFLINE, "1")
    assert app.main(shlex.split(f"upgrade {sides} --run")) == 3
    assert "harness: offline, and not in" in capsys.readouterr().err


PROFILE = """
mine:
  about: The shape of questions that YAML takes for no value.
  scenarios: ["*"]
  formats: [hudi-cow]
  writers: [spark-3.5.8-hudi-0.15.0]
  readers: [trino-476]
  queries: [all, {query}]
"""


@pytest.mark.parametrize("query", ["null", "{query: null}", '"null"'])
def test_the_shape_null_needs_no_quotes(query: str, capsys: Capture) -> None:
    Path("profiles.yaml").write_text(PROFILE.replace("{query}", query, 1), encoding="utf-8")
    assert app.main(["plan", "my.yaml", "--profile", "mine", "--checks"]) == 0
    assert "/null" in capsys.readouterr().out


def test_nor_does_it_in_a_scenario(capsys: Capture) -> None:
    Path("my.yaml").write_text(f"{MOVED}{ADDED}queries: [null]\n", encoding="utf-8")
    assert app.main(["plan", "my.yaml", "--profile", "first", "--checks"]) == 0
    assert "/null" in capsys.readouterr().out
