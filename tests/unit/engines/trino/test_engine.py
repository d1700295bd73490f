from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from harness.artifacts import distributions
from harness.artifacts.distribution import Distribution
from harness.artifacts.fetch import Installation
from harness.core.errors import EnvironmentProblem
from harness.engines.api import Question, ReaderSettings
from harness.engines.presto import engine as presto
from harness.engines.trino import engine as trino
from harness.engines.trino.connector_catalogs import (
    cannot,
    catalog,
    catalog_values,
    connectors,
    needed,
)
from harness.engines.trino.server import command_line, first_questions
from harness.formats import facts
from harness.model.query import Query, not_null
from harness.runtime import template

TRINO = distributions.load("trino-476")
OLD_TRINO = distributions.load("trino-368")
PRESTO = distributions.load("prestosql-350")
PRESTODB = distributions.load("prestodb-0.283")
FAMILY = (TRINO, OLD_TRINO, PRESTO, PRESTODB)


def sql(query: Query, settings: ReaderSettings, of: str = "hudi-cow") -> str:
    (sql,) = trino.ENGINE.statements(TRINO, settings, Question("d", "t_ro", facts(of), query))
    return sql


@pytest.mark.parametrize(
    ("of", "settings", "catalog"),
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
        (
            "hive-orc",
            {"connector": "hive", "orc.use-column-names": "false"},
            "hive_orc_by_position",
        ),
    ],
)
def test_the_catalog_follows_from_format_and_setting(
    of: str, settings: ReaderSettings, catalog: str
) -> None:
    assert sql(Query(), settings, of) == f'select * from "{catalog}"."d"."t_ro"'


def test_paths_are_quoted_part_by_part() -> None:
    query = Query(columns=("id", 'a"b.c'), where=not_null("a.b"))
    expected = 'select "id", "a""b"."c" from "hudi"."d"."t_ro" where "a"."b" is not null'
    assert sql(query, {}) == expected


def test_a_count_selects_nothing_else() -> None:
    expected = 'select count(*) from "hudi"."d"."t_ro" where "f1" is not null'
    assert sql(Query(columns=("f1",), where=not_null("f1"), count=True), {}) == expected


def test_presto_is_asked_in_the_same_words() -> None:
    question = Question("d", "t", facts("hudi-cow"), Query())
    asked = presto.ENGINE.statements(PRESTODB, {}, question)
    assert asked == trino.ENGINE.statements(TRINO, {}, question)


def readers() -> list[ReaderSettings]:
    """Every combination of settings that a reader of the family can have."""
    allowed = [[(name, each) for each in ("", *of)] for name, of in trino.ENGINE.settings.items()]
    return [{name: each for name, each in pairs if each} for pairs in product(*allowed)]


@pytest.mark.parametrize("distribution", FAMILY, ids=lambda each: each.name)
def test_a_question_that_can_be_asked_finds_its_catalog(distribution: Distribution) -> None:
    catalogs = connectors(distribution)
    asked = set()
    shapes = ("hudi-cow", "hive-parquet", "hive-orc", "iceberg", "delta")
    for of, settings in product(shapes, readers()):
        if not cannot(distribution, settings, facts(of)):
            asked.add(catalog(facts(of), settings))
    assert asked == set(catalogs)


@pytest.mark.parametrize("distribution", FAMILY, ids=lambda each: each.name)
def test_no_two_catalogs_of_a_kind_of_table_are_alike(distribution: Distribution) -> None:
    found = catalog_values(distribution, "thrift://h:1")
    for kind in distribution.options("connectors"):
        own = [each for name, each in found.items() if name.split("_")[0] == kind]
        texts = {template.render("trino", "catalog.properties", each) for each in own}
        assert len(texts) == len(own)


@pytest.mark.parametrize(
    ("distribution", "settings", "of", "why"),
    [
        (PRESTODB, {"connector": "hudi"}, "hudi-mor", ""),
        (PRESTODB, {"connector": "hive", "use-column-names": "true"}, "hudi-mor", ""),
        (PRESTODB, {"connector": "hive"}, "hive-parquet", ""),
        (PRESTODB, {}, "iceberg", ""),
        (PRESTODB, {"use-column-names": "true"}, "iceberg", ""),
        (PRESTODB, {"metadata-table": "on"}, "hudi-cow", ""),
        (
            PRESTODB,
            {"connector": "hive", "metadata-table": "on"},
            "hudi-cow",
            "the hive connector of prestodb-0.283 has no setting metadata-table",
        ),
        (
            TRINO,
            {"metadata-table": "on"},
            "hudi-cow",
            "the hudi connector of trino-476 has no setting metadata-table",
        ),
        (PRESTODB, {"orc.use-column-names": "true"}, "hive-orc", ""),
        (TRINO, {"use-column-names": "false"}, "hudi-cow", ""),
        (
            PRESTODB,
            {"connector": "hudi", "use-column-names": "true"},
            "hudi-cow",
            "the hudi connector of prestodb-0.283 has no setting use-column-names",
        ),
        (PRESTODB, {"connector": "hudi"}, "hive-parquet", "connector=hudi does not read hive"),
        (PRESTODB, {"connector": "hive"}, "iceberg", "connector=hive does not read iceberg"),
        (PRESTO, {}, "iceberg", "prestosql-350 has no connector for iceberg tables"),
        (TRINO, {"connector": "hive"}, "hudi-cow", "trino-476 has one connector for Hudi tables"),
        (
            PRESTO,
            {"use-column-names": "true"},
            "hive-orc",
            "use-column-names says nothing of hive-orc tables",
        ),
        (
            PRESTO,
            {"orc.use-column-names": "true"},
            "hive-parquet",
            "orc.use-column-names says nothing of hive-parquet tables",
        ),
        (
            TRINO,
            {"use-column-names": "true"},
            "iceberg",
            "the iceberg connector of trino-476 has no setting use-column-names",
        ),
    ],
)
def test_a_question_that_cannot_be_asked_is_known_beforehand(
    distribution: Distribution, settings: ReaderSettings, of: str, why: str
) -> None:
    found = cannot(distribution, settings, facts(of))
    assert found.startswith(why)
    assert bool(found) == bool(why)


def test_a_catalog_by_position_says_so_in_the_words_of_its_connector() -> None:
    values = catalog_values(TRINO, "thrift://127.0.0.1:9083")
    text = template.render("trino", "catalog.properties", values["hudi_by_position"])
    assert text.splitlines() == [
        "connector.name=hudi",
        "hive.metastore.uri=thrift://127.0.0.1:9083",
        "fs.hadoop.enabled=true",
        "hudi.parquet.use-column-names=false",
    ]


@pytest.mark.parametrize("distribution", FAMILY, ids=lambda each: each.name)
def test_orc_files_have_catalogs_like_those_of_hive_but_for_their_own_property(
    distribution: Distribution,
) -> None:
    found = catalog_values(distribution, "thrift://h:1")
    (plain,) = (each["properties"] for name, each in found.items() if name == "hive")
    assert isinstance(plain, dict)
    for name, value in (("hive_orc_by_name", "true"), ("hive_orc_by_position", "false")):
        properties = {**plain, "hive.orc.use-column-names": value}
        assert found[name] == {**found["hive"], "properties": properties}


def test_the_default_catalog_leaves_the_mapping_of_columns_to_the_engine() -> None:
    for distribution in FAMILY:
        for kind in distribution.options("connectors"):
            values = catalog_values(distribution, "thrift://127.0.0.1:9083")[kind]
            assert "column-names" not in template.render("trino", "catalog.properties", values)


def test_prestodbs_own_properties_stand_in_catalogs_of_their_own() -> None:
    found = catalog_values(PRESTODB, "")
    assert found["iceberg_by_name"]["properties"] == {"hive.parquet.use-column-names": "true"}
    assert found["hudi_metadata_on"]["properties"] == {"hudi.metadata-table-enabled": "true"}
    assert found["hudi_metadata_off"]["properties"] == {"hudi.metadata-table-enabled": "false"}
    assert found["hudi"]["properties"] == found["iceberg"]["properties"] == {}


def test_hudi_tables_are_read_by_the_hive_connector_where_there_is_no_other() -> None:
    values = catalog_values(PRESTO, "")["hudi_by_name"]
    assert values["connector"] == "hive-hadoop2"
    assert values["properties"] == {
        "hive.timestamp-precision": "MICROSECONDS",
        "hive.parquet.use-column-names": "true",
    }


def test_the_server_listens_on_the_address_it_is_told() -> None:
    values = {"address": "127.0.0.1", "port": 1, "plugins": "p", "catalogs": "c", "properties": {}}
    text = template.render("trino", "config.properties", values)
    assert "node.bind-ip=127.0.0.1" in text.splitlines()
    assert "http-server.http.port=1" in text.splitlines()


def test_patched_classes_come_before_the_servers_own() -> None:
    def class_path(distribution: Distribution) -> str:
        installation = Installation(distribution, Path("java"), Path("home"), ())
        words = command_line(installation, Path("run"), Path("run/config.properties"))
        return words[words.index("-cp") + 1]

    assert class_path(PRESTODB) == "home/patches:home/lib/*"
    assert class_path(TRINO) == "home/lib/*"


def test_options_of_a_start_are_javas_and_not_the_servers() -> None:
    installation = Installation(TRINO, Path("java"), Path("home"), ())
    words = command_line(installation, Path("run"), Path("c"), ["-Xshare:auto"])
    assert words.index("-Xshare:auto") < words.index("-cp") < words.index(TRINO.text("main"))


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
    assert tuple(needed(there, frozenset(asked))) == ("hive", "hudi_by_name", "hudi_by_position")
    assert tuple(needed(there, frozenset({(facts("iceberg"), ())}))) == ("hive", "iceberg")
    assert needed(there, None) == there


def test_prestodb_opens_no_jmx_port() -> None:
    """The first option says that JMX is open already, the one after it keeps it from being so."""
    options = PRESTODB.java_options
    port = options.index("-Dcom.sun.management.jmxremote.port=1")
    assert options.index("-XX:-ManagementServer") > port


def test_a_distribution_without_a_server_tree_is_told_to_people() -> None:
    installation = Installation(TRINO, Path("java"), None, ())
    with pytest.raises(EnvironmentProblem, match="trino-476 has no server archive"):
        command_line(installation, Path("run"), Path("run/config.properties"))


def test_the_digest_of_the_ask_code_covers_the_templates(monkeypatch: pytest.MonkeyPatch) -> None:
    before = trino.ENGINE.ask_code()
    monkeypatch.setattr(template, "sources", lambda _: (("config.properties.j2", "other"),))
    assert trino.ENGINE.ask_code() != before
