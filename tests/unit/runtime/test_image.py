from dataclasses import replace
from pathlib import Path

import pytest

from harness.artifacts import distributions
from harness.artifacts.distribution import Distribution
from harness.artifacts.fetch import Installation
from harness.core.errors import UsageProblem
from harness.runtime import image, image_choice
from harness.runtime.api import Surroundings
from harness.runtime.image import contract
from harness.runtime.metastore import MetastoreProgram


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("trino-476", "trinodb/trino:476"),
        ("hive-3.1.3", "apache/hive:3.1.3"),
        ("hive-metastore-3.1.3", "apache/hive:3.1.3"),
        ("spark-3.5.8-hudi-1.0.2", "apache/spark:3.5.8-python3"),
        ("prestodb-0.283", "prestodb/presto:0.283"),
    ],
)
def test_the_official_image_follows_from_the_version(name: str, reference: str) -> None:
    distribution = distributions.load(name)
    assert contract(distribution).reference(distribution) == reference


def test_what_only_an_image_needs_is_rendered() -> None:
    for distribution in filter(image.official, map(distributions.load, distributions.names())):
        given = settings(distribution)
        assert set(given.files) == set(contract(distribution).files)
        if distribution.engine == "hive":
            assert f"-Xmx{distribution.heap_mb}m" in given.environment["SERVICE_OPTS"].split()
        if "jvm.config" in given.files:
            assert f"-Xmx{distribution.heap_mb}m" in given.files["jvm.config"].splitlines()


def settings(distribution: Distribution) -> image.ContainerSettings:
    made = contract(distribution)
    around = made.surroundings("", Path("/work"))
    return made.settings(Bare(distribution), around)


class Bare(MetastoreProgram):
    def files(self, around: Surroundings) -> dict[str, str]:
        return {}

    def environment(self, around: Surroundings) -> dict[str, str]:
        return {}


def test_the_image_of_a_metastore_has_the_sql_of_its_own_schema(tmp_path: Path) -> None:
    for name, number in (("hive-metastore-2.3.10", 5), ("hive-metastore-4.0.1", 1)):
        installed = replace(installation(tmp_path / name), distribution=distributions.load(name))
        made = image_choice.recipe(installed.distribution, installed, "sha256:base")
        assert made.reference.startswith("lake-table-harness/hive-metastore:")
        lines = made.texts["schema.sql"].splitlines()
        assert len(lines) == number
        assert all(line.startswith("run '/opt/hive/scripts/metastore/") for line in lines)


def test_an_engine_without_an_image_is_reported_to_people() -> None:
    assert image.official(distributions.load("hive-schematool-3.1.3")) == ""
    distribution = replace(distributions.load("trino-476"), name="toy-1", engine="toy")
    with pytest.raises(UsageProblem, match="no image is known of toy; run it as a process"):
        image.contract(distribution)


def installation(folder: Path, jar: bytes = b"1") -> Installation:
    for name in ("jre/bin", "home"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "bundle.jar").write_bytes(jar)
    java, front = folder / "jre/bin/java", ("front", folder / "bundle.jar")
    return Installation(distributions.load("trino-476"), java, folder / "home", (front,))


def test_the_name_of_an_image_tells_what_is_in_it(tmp_path: Path) -> None:
    installed = installation(tmp_path / "one")
    first = image_choice.recipe(installed.distribution, installed, "sha256:base")
    assert first.reference.startswith("lake-table-harness/trino:476-")
    assert image_choice.recipe(installed.distribution, installed, "sha256:base") == first
    assert image_choice.recipe(installed.distribution, installed, "sha256:other") != first
    elsewhere = installation(tmp_path / "two")
    assert image_choice.recipe(installed.distribution, elsewhere, "sha256:base") != first


def test_a_bundle_makes_an_image_of_its_own(tmp_path: Path) -> None:
    spark = "apache/spark:3.5.8-python3"
    (jar,) = installation(tmp_path).jars("front")
    made = image_choice.with_jars(spark, "sha256:1", {"/opt/front": [jar], "/plugin": [jar]})
    assert made.reference.startswith("lake-table-harness/spark-3.5.8-python3:")
    assert made.texts["Dockerfile"].splitlines() == [
        f"FROM {spark}",
        "COPY added/0 /opt/front",
        "COPY added/1 /plugin",
    ]
    assert [name for name, _ in made.parts] == ["added/0/bundle.jar", "added/1/bundle.jar"]
    other = image_choice.with_jars(spark, "sha256:2", {"/opt/front": [jar], "/plugin": [jar]})
    assert other.reference != made.reference


@pytest.mark.parametrize(
    "name", ["hive-metastore-3.1.3", "hive-3.1.3", "prestosql-350", "spark-3.5.8", "trino-476"]
)
def test_a_dockerfile_copies_what_the_contract_lists(name: str) -> None:
    distribution = distributions.load(name)
    known = contract(distribution)
    texts = image_choice.scripts(known.built_like or distribution.engine)
    copied = {
        part.rstrip("*")
        for line in texts["Dockerfile"].splitlines()
        if line.startswith("COPY ")
        for part in line.split()[1:-1]
        if not part.startswith("--")
    }
    made = {"schema.sql"} if "schema" in known.holds else set()
    assert copied == {*known.holds, *made, *(name for name in texts if name != "Dockerfile")}


def test_users_have_a_name_in_containers_unless_they_are_root() -> None:
    assert image.user_files(0, 0) == {}
    names = image.user_files(1000, 100)
    assert "harness:x:1000:100:" in names["/etc/passwd"]
    assert "harness:x:100:" in names["/etc/group"]
