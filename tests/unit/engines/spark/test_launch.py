"""Which Java a Spark is started with."""

import struct
import subprocess
import zipfile
from pathlib import Path

import pytest

from harness.artifacts import distributions
from harness.artifacts.fetch import Installation
from harness.engines.spark.launch import SparkProgram, session_conf, unread_properties
from harness.runtime.api import Surroundings

MODULE = "--add-modules=jdk.incubator.vector"
ARGUMENTS = ["-Xmx1g", MODULE, "a b", "", "$x", "'", "--add-modules=java.sql"]


def started(name: str, folder: Path) -> Path:
    java = folder / "a jre" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text('#!/bin/sh\nprintf "%s\\\\n" "$@"\n', encoding="utf-8")
    java.chmod(0o755)
    distribution = distributions.load(f"{name}@container")
    installation = Installation(distribution, java, folder / "home", ())
    around = Surroundings("h", 1, "thrift://h:2", folder, folder / "conf", "", installation, ())
    program = SparkProgram(distribution)
    program.command(installation, around)
    return Path(program.environment(around)["JAVA_HOME"])


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("spark-3.5.8", ARGUMENTS),
        ("spark-4.0.1", [argument for argument in ARGUMENTS if argument != MODULE]),
    ],
)
def test_java_is_not_given_what_it_does_not_know(
    name: str, given: list[str], tmp_path: Path
) -> None:
    java = started(name, tmp_path) / "bin" / "java"
    printed = subprocess.run([java, *ARGUMENTS], capture_output=True, text=True, check=True).stdout
    assert printed == "".join(f"{text}\n" for text in given)


def jar(path: Path, *constants: str) -> Path:
    """Make a jar with a class of these constants, as far as anybody looks at it."""
    texts = (struct.pack(">BH", 1, len(constant)) + constant.encode() for constant in constants)
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("org/Some.class", b"\xca\xfe\xba\xbe" + b"".join(texts))
        made.writestr("notes.txt", b"\x01\x00\x0ahoodie.no.")
    return path


@pytest.fixture
def class_path(tmp_path: Path) -> tuple[Path, ...]:
    jar(tmp_path / "jars" / "spark-sql.jar", "spark.sql.ansi.enabled", "spark.sql.catalog.")
    jar(tmp_path / "jars" / "other.jar", "spark.sql.other")
    bundle = ("hoodie.metadata.enable", "hoodie.avro.schema", "spark.sql.of.bundle", "hoodie.")
    return (jar(tmp_path / "bundle.jar", *bundle), tmp_path / "jars")


def test_what_no_class_of_spark_or_of_the_bundle_names_is_read_by_nobody(
    class_path: tuple[Path, ...],
) -> None:
    wrong = ("spark.sql.ansi.enable", "spark.sql.other", "hoodie.metadata.enabled", "hoodie.no.way")
    right = ("hoodie.metadata.enable", "spark.sql.ansi.enabled")
    assert unread_properties((*wrong, *right), class_path) == wrong
    assert unread_properties(("hoodie.metadata.enable",), class_path[1:]) == (
        "hoodie.metadata.enable",
    )


def test_spark_listens_on_loopback_alone_and_in_utc(tmp_path: Path) -> None:
    distribution = distributions.load("spark-3.5.8")
    installation = Installation(distribution, tmp_path / "java", tmp_path, ())
    around = Surroundings("h", 1, "thrift://h:2", tmp_path, tmp_path, "", installation, ())
    conf = session_conf(distribution, around)
    assert (conf["spark.driver.bindAddress"], conf["spark.ui.enabled"]) == ("127.0.0.1", "false")
    assert conf["spark.sql.session.timeZone"] == "UTC"
