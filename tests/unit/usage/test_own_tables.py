"""Where a run may put tables of its own, and what is outside of that."""

from pathlib import Path

import pytest

from harness.artifacts import distributions
from harness.cli import plan_options
from harness.core.errors import ScenarioProblem, UsageProblem
from harness.formats import facts
from harness.plan import distribution_support, platform_file
from harness.scenario.cells import parse_reader
from harness.usage import own_tables
from harness.usage.own_tables import OwnTables

PLATFORM = """\
engines:
  production-trino:
    like: trino-476
    address: https://trino.example
    catalogs: {iceberg: lake, hive: hive}
catalogs:
  theirs: {address: "thrift://metastore:9083"}
  lake: {address: "https://catalog.example/api"}
  files: {address: "s3://lake/tests"}
own_tables: {prefix: harness_, catalog: theirs, folder: "s3://lake/tests"}
"""
READER = "production-trino@endpoint"


def registered(folder: Path, text: str = PLATFORM) -> None:
    file = folder / "platform.yaml"
    file.write_text(text, encoding="utf-8")
    platform_file.register_file(file)


def test_each_run_has_a_prefix_of_its_own_below_that_of_the_file(tmp_path: Path) -> None:
    registered(tmp_path)
    first = own_tables.current()
    registered(tmp_path)
    second = own_tables.current()
    assert first.begin != second.begin
    for space in (first, second):
        assert space.begin.startswith("harness_")
        assert space.address == "thrift://metastore:9083"
        assert space.root == f"s3://lake/tests/{space.begin}tables"
    reader = distributions.load(READER)
    assert own_tables.database(reader, "s_1") == f"{second.begin}s_1"
    assert own_tables.database(distributions.load("trino-476"), "s_1") == "s_1"


@pytest.mark.parametrize(
    "planted", ["sales", "harness_sales", "harness_", "x.{0}s_1", "{0}", "{0}s-1"]
)
def test_what_is_outside_of_it_is_stopped(planted: str) -> None:
    space = OwnTables("harness_", "theirs", "/lake").space("thrift://metastore:9083")
    space.check(f"{space.begin}s_1")
    with pytest.raises(UsageProblem, match="nothing is sent there but about harness_"):
        space.check(planted.format(space.begin))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("catalog: theirs", "catalog: nowhere", "name one of catalogs that is a metastore"),
        ("catalog: theirs", "catalog: files", "name one of catalogs that is a metastore"),
        ("prefix: harness_", "prefix: h", "prefix"),
        ("prefix: harness_", "prefix: a-b", "prefix"),
        ('folder: "s3://lake/tests"', "folder: tests", "folder"),
        ('folder: "s3://lake/tests"', "folder: /", "folder"),
    ],
)
def test_what_is_wrong_is_said_by_its_line(tmp_path: Path, old: str, new: str, why: str) -> None:
    with pytest.raises(ScenarioProblem, match=why) as refused:
        registered(tmp_path, PLATFORM.replace(old, new))
    assert "platform.yaml:10:" in str(refused.value)


def test_without_it_a_run_is_told_what_is_missing(tmp_path: Path) -> None:
    registered(tmp_path, PLATFORM.partition("own_tables")[0])
    reader = plan_options.existing_reader(READER)  # an audit needs no tables of its own
    with pytest.raises(UsageProblem, match="in own_tables where they may lie"):
        own_tables.check(distributions.load(reader.distribution))


@pytest.mark.parametrize(
    ("catalog", "left_out"),
    [("theirs", {"hive-acid"}), ("lake", {"hive-acid", "hive-parquet"})],
)
def test_formats_that_a_catalog_cannot_have_are_left_out(
    tmp_path: Path, catalog: str, left_out: set[str]
) -> None:
    registered(tmp_path, PLATFORM.replace("catalog: theirs", f"catalog: {catalog}"))
    names = ("hive-acid", "hive-parquet", "iceberg")
    assert facts("hive-acid").transactional
    reader = parse_reader(READER)
    assert {name for name in names if distribution_support.cannot(reader, name)} == left_out
