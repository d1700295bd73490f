from itertools import product
from pathlib import Path

import pytest

from harness.artifacts import distributions
from harness.artifacts.distribution import Distribution
from harness.artifacts.fetch import Installation
from harness.engines.api import Question, ReaderSettings
from harness.engines.trino import engine as trino
from harness.engines.trino.engine import (
    ENGINE,
    catalog_name,
    catalog_values,
    command_line,
    connectors,
    first_questions,
    needed_catalogs,
)
from harness.formats import facts
from harness.model.query import Query
from harness.runtime import template

TRINO = distributions.load("trino-476")
TRINO_483 = distributions.load("trino-483")
OLD_TRINO = distributions.load("trino-368")
PRESTO = distributions.load("prestosql-350")
PRESTODB = distributions.load("prestodb-0.283")
FAMILY = (TRINO, OLD_TRINO, PRESTO, PRESTODB)


def sql(query: Query, settings: ReaderSettings, format_name: str = "hudi-cow") -> str:
    (sql,) = trino.ENGINE.statements(
        TRINO, settings, Question("d", "t_ro", facts(format_name), query)
    )
    return sql


@pytest.mark.parametrize(
    ("format_name", "settings", "catalog"),
    [
        ("hudi-cow", {}, "hudi"),
        ("hudi-mor", {"use-column-names": "true"}, "hudi_by_name"),
        ("hudi-mor", {"use-column-names": "false"}, "hudi_by_position"),
        ("hive-parquet", {}, "hive"),
        ("hive-parquet", {"use-column-names": "false"}, "hive_by_position"),
        ("hudi-mor", {"connector": "hive"}, "hive"),
        ("hudi-cow", {"connector": "hudi"}, "hudi"),
        ("hudi-cow", {"connector": "hudi", "metadata-table": "on"}, "hudi_metadata_on"),
        ("iceberg", {"use-column-names": "true"}, "iceberg_by_name"),
        ("hudi-cow", {"connector": "hive", "use-column-names": "true"}, "hive_by_name"),
        ("hive-parquet", {"connector": "hive"}, "hive"),
        ("iceberg", {}, "iceberg"),
        ("hive-orc", {}, "hive"),
        ("hive-orc", {"orc.use-column-names": "true"}, "hive_orc_by_name"),
        ("hive-orc", {"orc.use-column-names": "false"}, "hive_orc_by_position"),
    ],
)
def test_the_catalog_follows_from_format_and_setting(
    format_name: str, settings: ReaderSettings, catalog: str
) -> None:
    assert sql(Query(), settings, format_name) == f'select * from "{catalog}"."d"."t_ro"'


def readers() -> list[ReaderSettings]:
    allowed = [
        [(name, value) for value in ("", *allowed_values)]
        for name, allowed_values in trino.ENGINE.settings.items()
    ]
    return [{name: pair for name, pair in pairs if pair} for pairs in product(*allowed)]


@pytest.mark.parametrize("distribution", FAMILY, ids=lambda of_family: of_family.name)
def test_a_question_that_can_be_asked_finds_its_catalog(distribution: Distribution) -> None:
    catalogs = connectors(distribution)
    asked = set()
    shapes = ("hudi-cow", "hive-parquet", "hive-orc", "iceberg", "delta")
    for format_name, settings in product(shapes, readers()):
        if not ENGINE.cannot(distribution, settings, facts(format_name)):
            asked.add(catalog_name(facts(format_name), settings))
    assert asked == set(catalogs)


@pytest.mark.parametrize("distribution", FAMILY, ids=lambda of_family: of_family.name)
def test_no_two_catalogs_of_a_kind_of_table_are_alike(distribution: Distribution) -> None:
    catalogs = catalog_values(distribution, "thrift://h:1")
    for kind in distribution.options("connectors"):
        same_kind = [catalog for name, catalog in catalogs.items() if name.split("_")[0] == kind]
        texts = {template.render("trino", "catalog.properties", catalog) for catalog in same_kind}
        assert len(texts) == len(same_kind)


@pytest.mark.parametrize(
    ("distribution", "settings", "format_name", "why"),
    [
        (PRESTODB, {"connector": "hudi"}, "hudi-mor", ""),
        (PRESTODB, {"connector": "hive", "use-column-names": "true"}, "hudi-mor", ""),
        (PRESTODB, {"connector": "hive"}, "hive-parquet", ""),
        (PRESTODB, {}, "iceberg", ""),
        (PRESTODB, {"use-column-names": "true"}, "iceberg", ""),
        (PRESTODB, {"metadata-table": "on"}, "hudi-cow", ""),
        (PRESTODB, {"connector": "hive", "metadata-table": "on"}, "hudi-cow", "the hive connector"),
        (TRINO, {"metadata-table": "on"}, "hudi-cow", "the hudi connector of trino"),
        (PRESTODB, {"orc.use-column-names": "true"}, "hive-orc", ""),
        (TRINO, {"use-column-names": "false"}, "hudi-cow", ""),
        (PRESTODB, {"connector": "hudi"}, "hive-parquet", "connector=hudi does not read hive"),
        (
            TRINO_483,
            {},
            "delta",
            "trino-483 has no connector for delta tables; the official image has it: trino-483@con",
        ),
        (distributions.load("trino-483@container"), {}, "delta", ""),
        (PRESTO, {}, "iceberg", "prestosql-350 has no connector for iceberg tables"),
        (TRINO, {"connector": "hive"}, "hudi-cow", "trino-476 has one connector for Hudi tables"),
        (PRESTO, {"use-column-names": "true"}, "hive-orc", "use-column-names says nothing of"),
        (PRESTO, {"orc.use-column-names": "true"}, "hive-parquet", "orc.use-column-names says"),
    ],
)
def test_a_question_that_cannot_be_asked_is_known_beforehand(
    distribution: Distribution, settings: ReaderSettings, format_name: str, why: str
) -> None:
    result = ENGINE.cannot(distribution, settings, facts(format_name))
    assert result.startswith(why)
    assert bool(result) == bool(why)


@pytest.mark.parametrize("distribution", FAMILY, ids=lambda of_family: of_family.name)
def test_orc_files_have_catalogs_like_those_of_hive_but_for_their_own_property(
    distribution: Distribution,
) -> None:
    catalogs = catalog_values(distribution, "thrift://h:1")
    (plain,) = (catalog["properties"] for name, catalog in catalogs.items() if name == "hive")
    assert isinstance(plain, dict)
    for name, value in (("hive_orc_by_name", "true"), ("hive_orc_by_position", "false")):
        properties = {**plain, "hive.orc.use-column-names": value}
        assert catalogs[name] == {**catalogs["hive"], "properties": properties}


def test_patched_classes_come_before_the_servers_own() -> None:
    def class_path(distribution: Distribution) -> str:
        installation = Installation(distribution, Path("java"), Path("home"), ())
        words = command_line(installation, Path("run"), Path("run/config.properties"))
        return words[words.index("-cp") + 1]

    assert class_path(PRESTODB) == "home/patches:home/lib/*"
    assert class_path(TRINO) == "home/lib/*"


def test_a_new_server_is_asked_through_each_of_its_catalogs() -> None:
    assert first_questions(["hive", "hudi_by_name"], "t") == [
        'show schemas from "hive"',
        'show schemas from "hudi_by_name"',
        'select id from "hive"."harness_ready"."t"',
    ]


def test_a_server_has_the_catalogs_that_are_asked_and_one_to_be_tried_by() -> None:
    by_name, by_position = (("use-column-names", "true"),), (("use-column-names", "false"),)
    cow, mor = facts("hudi-cow"), facts("hudi-mor")
    asked = {(cow, by_name), (mor, by_name), (mor, by_position)}
    there = catalog_values(TRINO, "")
    assert tuple(needed_catalogs(there, frozenset(asked))) == (
        "hive",
        "hudi_by_name",
        "hudi_by_position",
    )
    assert tuple(needed_catalogs(there, frozenset({(facts("iceberg"), ())}))) == ("hive", "iceberg")
    assert needed_catalogs(there, None) == there


def test_prestodb_opens_no_jmx_port() -> None:
    """The first option says that JMX is open already, the one after it keeps it from being so."""
    options = PRESTODB.java_options
    port = options.index("-Dcom.sun.management.jmxremote.port=1")
    assert options.index("-XX:-ManagementServer") > port
