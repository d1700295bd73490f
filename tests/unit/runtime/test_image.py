import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from harness import engines
from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.artifacts.fetch import Installation
from harness.core.errors import UsageProblem
from harness.core.progress import Progress
from harness.engines.spark.launch import session_conf
from harness.run import compose_stack
from harness.run.compose_stack import Service, StackFolder
from harness.runtime import image, image_choice, metastore
from harness.runtime.api import Surroundings
from harness.runtime.image import contract
from harness.runtime.image_choice import ContainerImage
from harness.runtime.metastore import MetastoreProgram

SPARK = contract(distributions.load("spark-3.5.8"))


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


@dataclass(frozen=True)
class Bare:
    distribution: Distribution

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


FOLDER = StackFolder(Path("/a/stack"), 1000, 1000, (Path("/cache/states"),))
NAMES = ("spark-3.5.8-hudi-1.0.2", "hive-3.1.3", "trino-476", "prestosql-350", "prestodb-0.283")


def service(name: str, called: str = "") -> Service:
    distribution = distributions.load(f"{name}@container")
    contract = image.contract(distribution)
    official = contract.reference(distribution)
    made = ContainerImage(official, "sha256:1", contract, official)
    if distribution.engine == "metastore":
        return Service(called or compose_stack.METASTORE, made, MetastoreProgram(distribution))
    configuration = engines.load(distribution.engine).configuration(distribution)
    return Service(called or name.partition("-")[0], made, configuration)


STACK = tuple(service(name) for name in (metastore.DISTRIBUTION, *NAMES))


@cache
def files(folder: StackFolder = FOLDER) -> dict[str, str]:
    return compose_stack.files(STACK, folder)


@cache
def read(folder: StackFolder = FOLDER) -> dict[str, Any]:
    stack: dict[str, Any] = YAML(typ="safe", pure=True).load(files(folder)[compose_stack.FILE])
    return stack


def services(folder: StackFolder = FOLDER) -> dict[str, dict[str, Any]]:
    return dict(read(folder)["services"])


def test_the_file_holds_what_was_meant_and_is_of_a_version_that_both_kinds_read() -> None:
    assert read() == compose_stack.document(STACK, FOLDER)
    assert read()["version"] == "2.4"
    assert list(services()) == ["metastore", "spark", "hive", "trino", "prestosql", "prestodb"]


def test_every_port_is_on_loopback_and_is_one_services_alone() -> None:
    ports = [port for entry in services().values() for port in entry.get("ports", ())]
    assert ports == [
        *("127.0.0.1:9083:9083", "127.0.0.1:10000:10000", "127.0.0.1:8080:8080"),
        *("127.0.0.1:8081:8080", "127.0.0.1:8082:8080"),
    ]


@pytest.mark.parametrize("stack_service", STACK, ids=lambda stack_service: stack_service.name)
def test_a_service_has_the_limits_files_and_variables_of_a_run(stack_service: Service) -> None:
    written = services()[stack_service.name]
    most = stack_service.configuration.distribution.heap_mb + 1024
    assert written["mem_limit"] == written["memswap_limit"] == f"{most}m"
    assert written["user"] == "1000:1000"
    assert not {"privileged", "cap_add", "network_mode", "pid"} & set(written)
    contract = stack_service.image.contract
    uri = "" if stack_service.name == compose_stack.METASTORE else "thrift://metastore:9083"
    around = contract.surroundings(uri, FOLDER.work)
    given = contract.settings(stack_service.configuration, around)
    inside = {one["target"]: files().get(one["source"][2:]) for one in written["volumes"]}
    for name, text in given.files.items():
        assert inside[f"{contract.configuration}/{name}"] == text
    assert written["environment"] == dict(given.environment)
    assert written["image"] == stack_service.image.reference


def test_tables_have_one_path_inside_and_outside_and_those_of_the_cache_are_read_only() -> None:
    for entry in services().values():
        binds = {one["source"]: one for one in entry["volumes"]}
        assert binds[str(FOLDER.warehouse)]["target"] == str(FOLDER.warehouse)
        assert not binds[str(FOLDER.warehouse)]["read_only"]
        assert binds["/cache/states"]["target"] == "/cache/states"
        assert binds["/cache/states"]["read_only"]
        assert all(one["type"] == "bind" for one in entry["volumes"])
    assert str(FOLDER.warehouse) in files()["compose/metastore/hive-site.xml"]


def test_all_wait_for_the_metastore_and_every_server_has_a_check() -> None:
    all_services = services()
    assert "depends_on" not in all_services.pop("metastore")
    for name, entry in all_services.items():
        assert entry["depends_on"] == {"metastore": {"condition": "service_healthy"}}
        assert ("healthcheck" in entry) == (name != "spark")


def test_the_metastore_has_a_name_that_java_takes_for_that_of_a_host() -> None:
    host = f"{services()['metastore']['container_name']}.{read()['networks']['default']['name']}"
    assert re.fullmatch(r"[a-z][a-z-]*[a-z]\.[a-z][a-z-]*[a-z]", host)


def test_spark_waits_for_people_with_the_configuration_of_the_worker() -> None:
    spark = next(stack_service for stack_service in STACK if stack_service.name == "spark")
    written = services()["spark"]
    assert written["command"] == ["sleep", "infinity"]
    assert "ports" not in written
    text = files()["compose/spark/spark-defaults.conf"]
    settings = dict(line.split(" ", 1) for line in text.splitlines())
    contract = spark.image.contract
    around = contract.surroundings("thrift://metastore:9083", FOLDER.work)
    distribution = spark.configuration.distribution
    assert session_conf(distribution, around).items() <= settings.items()
    assert settings["spark.driver.extraClassPath"] == "/opt/front/*"


def test_nothing_secret_and_no_variable_of_compose_stands_in_a_stack() -> None:
    odd = files(replace(FOLDER, read_only=(Path("/a/$HOME"),)))
    assert not any(word in text for text in odd.values() for word in ("TOKEN", "password"))
    assert "/a/$$HOME" in odd[compose_stack.FILE]


def test_users_have_a_name_in_containers_unless_they_are_root() -> None:
    targets = {one["target"] for one in services()["hive"]["volumes"]}
    assert {"/etc/passwd", "/etc/group"} <= targets
    assert ":1000:1000:" in files()["compose/names/etc/passwd"]
    root = services(replace(FOLDER, user=0, group=0))["hive"]["volumes"]
    assert not any(one["target"].startswith("/etc/") for one in root)


def test_two_versions_of_a_product_are_called_by_their_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def chosen(distribution: Distribution, *_: object) -> ContainerImage:
        return service(distribution.name.partition("@")[0]).image

    monkeypatch.setattr(image_choice, "choose", chosen)
    asked = ["trino-476@container", "trino-368", "trino-476", "hive-3.1.3"]
    stack = compose_stack.services(asked, Cache(tmp_path), Progress())
    assert [entry.name for entry in stack] == ["metastore", "trino-476", "trino-368", "hive"]
    file = compose_stack.write(asked, tmp_path / "stack", Cache(tmp_path), Progress())
    assert (tmp_path / "stack" / "compose" / "work" / "warehouse").is_dir()
    assert file.is_file()


@pytest.mark.skipif(not shutil.which("docker-compose"), reason="there is no docker-compose")
def test_docker_compose_takes_the_file(tmp_path: Path) -> None:
    for name, text in files(replace(FOLDER, folder=tmp_path)).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = ["docker-compose", "-f", str(tmp_path / compose_stack.FILE), "config", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
