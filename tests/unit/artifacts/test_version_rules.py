import pytest

from harness.artifacts import distributions, version_rules
from harness.core.errors import ScenarioProblem, UsageProblem

OF_TRINO = [
    # version, Java, connector of Hudi tables, whether a bundle is added, file locations
    ("351", "11", "hive-hadoop2", True, False),
    ("359", "11", "hive", True, False),
    ("389", "11", "hive", True, False),
    ("390", "17", "hive", True, False),
    ("398", "17", "hudi", False, False),
    ("436", "25", "hudi", False, False),
    ("458", "25", "hudi", False, True),
    ("479", "25", "hudi", False, True),
]


@pytest.mark.parametrize("expected", OF_TRINO, ids=lambda row: str(row[0]))
def test_each_version_of_trino_is_set_up_by_its_rules(
    expected: tuple[str, str, str, bool, bool],
) -> None:
    version, java, connector, bundle, hadoop = expected
    distribution = distributions.load(f"trino-{version}@container")
    facts = distribution.version, distribution.jre, distribution.runtime
    assert facts == (version, java, "container")
    assert distribution.options("connectors")["hudi"] == connector
    assert connector in distribution.texts("plugins")
    added = [artifact.into for artifact in distribution.artifacts if "/" in artifact.into]
    assert added == ([f"plugin/{connector}"] if bundle else [])
    assert (distribution.fidelity == "stock") is not bundle
    assert (distribution.options("hudi_catalog").get("fs.hadoop.enabled") == "true") is hadoop
    assert ("iceberg" in distribution.texts_if_any("snapshot_in_name")) is (int(version) < 386)


OF_PRESTODB = [
    # version, the Hudi that it brings, whether its Thrift port is on loopback
    ("0.275", "0.11.0", False),
    ("0.283", "0.12.1", True),
    ("0.287", "0.14.0", True),
    ("0.296", "0.14.0", False),
]


@pytest.mark.parametrize("expected", OF_PRESTODB, ids=lambda row: str(row[0]))
def test_each_version_of_prestodb_is_set_up_by_its_rules(expected: tuple[str, str, bool]) -> None:
    version, hudi, loopback = expected
    distribution = distributions.load(f"prestodb-{version}@container")
    facts = distribution.version, distribution.engine, distribution.jre, distribution.text("hudi")
    assert facts == (version, "presto", "11", hudi)
    assert (distribution.listens == "loopback") is bool(distribution.patches) is loopback
    assert (distribution.fidelity == "stock") is not loopback


@pytest.mark.parametrize(("version", "precision"), [("330", None), ("342", "MICROSECONDS")])
def test_prestosql_has_a_precision_of_timestamps_from_342_on(
    version: str, precision: str | None
) -> None:
    distribution = distributions.load(f"prestosql-{version}@container")
    for catalog in ("hive_catalog", "hudi_catalog"):
        assert distribution.options(catalog).get("hive.timestamp-precision") == precision
    assert ("hive.timestamp-precision" in distribution.defaults) is (precision is not None)


def test_trino_has_a_module_of_java_from_479_and_no_archive_from_477_on() -> None:
    option = "--add-modules=jdk.incubator.vector"
    for version in ("476", "478", "479", "483"):
        options = distributions.load(f"trino-{version}@container").java_options
        assert (option in options) is (int(version) >= 479)
    assert version_rules.downloads("trino-476")
    assert version_rules.downloads("trino-477") == {}


@pytest.mark.parametrize(
    ("name", "reads", "makes"),
    [
        ("spark-3.5.8-hudi-0.15.0", 6, ("6",)),
        ("spark-3.5.8-hudi-1.0.1", 8, ("6", "8")),
        ("spark-3.5.8-hudi-1.2.1", 9, ("6", "8", "9")),
    ],
)
def test_what_hudi_in_spark_knows_follows_from_its_version(
    name: str, reads: int, makes: tuple[str, ...]
) -> None:
    distribution = distributions.load(f"{name}@container")
    assert [read.up_to for read in distribution.reads.values()] == [reads]
    assert distribution.texts("table_versions") == makes
    assert distribution.text("hudi") == name.rpartition("-")[2]
    assert distribution.text("pyspark") == distribution.version == "3.5.8"


def test_a_newer_version_than_was_looked_at_has_a_notice() -> None:
    assert distributions.load("trino-484@container").notice == (
        "trino 484 is newer than 483, the newest that was run: it is taken to be set up like that "
        "one"
    )
    assert distributions.load("trino-475@container").notice == ""


@pytest.mark.parametrize(
    "name", ["trino-350", "trino-x", "trino", "trino-476-hudi", "hive-3.1.2", "spark-2.4.0", "-1"]
)
def test_other_names_are_unknown_in_any_runtime(name: str) -> None:
    assert not version_rules.knows(name)
    for runtime in ("", "@process", "@container"):
        assert not distributions.exists(name + runtime)
        with pytest.raises(UsageProblem, match=r"unknown \w+ "):
            distributions.load(name + runtime)


def test_without_lock_data_a_version_is_no_process() -> None:
    assert distributions.exists("trino-470@container")
    assert not distributions.exists("trino-470")
    with pytest.raises(
        UsageProblem,
        match="'harness engines add trino 470' writes it, if it exists, and with",
    ):
        distributions.load("trino-470")


def test_lock_data_says_what_rules_do_not_and_has_the_last_word() -> None:
    text = (
        "name: trino-470\nversion: '470'\nrules: trino\nheap_mb: 7\n"
        "settings: {config: {task.info.max-age: 1s, a.b: c}}\n"
    )
    distribution = distributions.parse(text, "own.yaml")
    assert (distribution.heap_mb, distribution.jre, distribution.artifacts) == (7, "25", ())
    assert distribution.options("config") == {
        "query.min-expire-age": "30s",
        "task.info.max-age": "1s",
        "a.b": "c",
    }


@pytest.mark.parametrize(
    ("name", "rules"), [("trino-340", "trino"), ("presto-470", "presto"), ("trino-470", "spark")]
)
def test_rules_that_are_not_about_a_version_are_refused(name: str, rules: str) -> None:
    text = f"name: {name}\nversion: '1'\nrules: {rules}\n"
    with pytest.raises(ScenarioProblem) as problem:
        distributions.parse(text, "own.yaml")
    assert str(problem.value) == (
        f"own.yaml:3: the rules of {rules} are not about '{name}'; there are rules of "
        f"{', '.join(version_rules.products())}"
    )


def test_a_version_whose_image_lacks_its_bundle_needs_lock_data_in_any_runtime() -> None:
    name = "spark-3.5.8-hudi-1.2.1"
    assert not distributions.exists(f"{name}@container")
    assert distributions.exists("spark-3.5.7@container")
    assert distributions.no_lock_data(name) == (
        f"there is no lock data of {name}; did you mean 'spark-3.5.8-hudi-1.2.0'? 'harness engines "
        "add spark 3.5.8 hudi 1.2.1' writes it, if it exists, and no image has the bundle that it "
        "names"
    )


@pytest.mark.parametrize(
    ("name", "jars"),
    [
        ("spark-3.5.9-iceberg-1.11.0", ["iceberg-spark-runtime-3.5_2.12-1.11.0"]),
        ("spark-4.0.1-iceberg-1.12.0", []),
        ("spark-4.1.4-iceberg-1.12.0", ["iceberg-spark-runtime-4.1_2.13-1.12.0"]),
        ("spark-4.2.1-iceberg-1.12.0", []),
        ("spark-4.0.1-delta-4.0.0", ["delta-spark_2.13-4.0.0", "delta-storage-4.0.0"]),
        (
            "spark-4.1.4-delta-4.4.0",
            [
                *("delta-spark_4.1_2.13-4.4.0", "delta-storage-4.4.0", "delta-kernel-api-4.4.0"),
                *("delta-kernel-defaults-4.4.0", "delta-kernel-unitycatalog-4.4.0"),
            ],
        ),
        ("spark-4.3.0-delta-4.4.0", []),
    ],
)
def test_a_spark_gets_the_jars_that_its_library_has_for_it(name: str, jars: list[str]) -> None:
    front = version_rules.downloads(name).get("front", [])
    files = front if isinstance(front, list) else [front]
    named = [file["get"].split(":") for file in files]
    assert [f"{artifact}-{version}" for _, artifact, version, _ in named] == jars
