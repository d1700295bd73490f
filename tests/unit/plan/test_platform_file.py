"""What a platform file may say, and what becomes of it."""

from pathlib import Path

import pytest

from harness.artifacts import distributions
from harness.cli import plan_options
from harness.core.errors import ScenarioProblem, UsageProblem
from harness.plan import platform_file

ENGINE = """\
engines:
  production-trino:
    like: trino-476
    address: https://trino.example
    token: {file: secrets/token}
    catalogs: {iceberg: lake}
"""


def registered(folder: Path, text: str) -> tuple[str, ...]:
    file = folder / "platform.yaml"
    file.write_text(text, encoding="utf-8")
    return platform_file.register_file(file)


def test_its_engines_are_readers(tmp_path: Path) -> None:
    assert registered(tmp_path, ENGINE) == ("production-trino@endpoint",)
    reader = plan_options.existing_reader("production-trino@endpoint")
    of = distributions.load(reader.distribution)
    assert (of.engine, of.version, of.overlaid) == (
        "trino",
        "476",
        "with what runs at https://trino.example",
    )
    assert of.endpoint is not None
    assert of.endpoint.token is not None
    assert of.endpoint.token.file == tmp_path / "secrets/token"


def test_they_are_not_started(tmp_path: Path) -> None:
    registered(tmp_path, ENGINE)
    with pytest.raises(UsageProblem, match="asked as production-trino@endpoint"):
        plan_options.existing_reader("production-trino")


def test_a_reader_that_no_file_names_is_refused() -> None:
    with pytest.raises(UsageProblem, match="no platform file has an engine 'trino-476'"):
        plan_options.existing_reader("trino-476@endpoint")


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        ("trino-476", "trino-9999", 2, "there is no 'trino-9999'"),
        ("trino-476", "duckdb-1.5.5", 2, "only trino, presto, hive are asked where they run"),
        ("trino-476", "spark-4.1.4", 2, "a Spark is asked by its master, in readers.yaml"),
        ("https://trino.example", "sc://spark.example:15002", 2, "none by Spark Connect"),
        (
            "production-trino",
            "production",
            2,
            "must have its product in it, such as trino-production",
        ),
        ("production-trino", "trino-483", 2, "a distribution that is shipped is called so"),
        ("iceberg", "paimon", 2, "there are no paimon tables"),
        ("https://trino.example", "trino.example", 2, "allowed: https://host:port"),
        ("https://", "https://me:word@", 2, "its address is 'https://trino.example'"),
        ("{file: secrets/token}", "word", 5, "token: no secret stands here"),
        ("https:", "http:", 2, "secrets are sent to https addresses"),
        ("{file: secrets/token}", "{}", 5, "the name of a variable, or file"),
        ("catalogs", "catalog", 6, "catalog"),
        ("    catalogs: {iceberg: lake}\n", "", 2, "catalogs: name the one in which"),
        ("https://trino.example", "hive2://hive.example;ssl=true", 2, "no address of trino"),
        ("{iceberg: lake}", "{iceberg: lake}\n    sasl: false", 2, "is said of a HiveServer2"),
    ],
)
def test_what_is_wrong_is_said_by_its_line(
    tmp_path: Path, old: str, new: str, line: int, why: str
) -> None:
    with pytest.raises(ScenarioProblem, match=why) as refused:
        registered(tmp_path, ENGINE.replace(old, new))
    assert f"platform.yaml:{line}:" in str(refused.value)


HIVE = """\
engines:
  production-hive:
    like: hive-3.1.3
    address: hive2://hive.example;ssl=true
    password: {env: HIVE_PASSWORD}
"""


def test_a_hiveserver2_is_a_reader(tmp_path: Path) -> None:
    assert registered(tmp_path, HIVE) == ("production-hive@endpoint",)
    of = distributions.load("production-hive@endpoint").endpoint
    assert of is not None
    assert (of.host_and_port, of.is_encrypted) == (("hive.example", 10000), True)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("hive2://hive.example;ssl=true", "https://hive.example", "no address of hive"),
        (";ssl=true", "", "those with ;ssl=true alone"),
        ("password", "token", "takes no token"),
        ("    password", "    catalogs: {hive: hive}\n    password", "hive has no catalogs"),
        ("    password", "    sasl: false\n    password", "takes no password"),
    ],
)
def test_what_is_wrong_with_it_is_said(tmp_path: Path, old: str, new: str, why: str) -> None:
    with pytest.raises(ScenarioProblem, match=why):
        registered(tmp_path, HIVE.replace(old, new))
