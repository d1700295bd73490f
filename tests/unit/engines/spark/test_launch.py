"""Which Java a Spark is started with."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.artifacts import distributions
from harness.artifacts.fetch import Installation
from harness.engines.spark.launch import SparkProgram
from harness.runtime.api import Surroundings

MODULE = "--add-modules=jdk.incubator.vector"
ARGUMENTS = ["-Xmx1g", MODULE, "a b", "", "$x", "'", "--add-modules=java.sql"]


def started(name: str, folder: Path) -> Path:
    """Return the JAVA_HOME of a Spark's scripts, made as for a start."""
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
        ("spark-4.0.1", [each for each in ARGUMENTS if each != MODULE]),
    ],
)
def test_java_is_not_given_what_it_does_not_know(
    name: str, given: list[str], tmp_path: Path
) -> None:
    java = started(name, tmp_path) / "bin" / "java"
    told = subprocess.run([java, *ARGUMENTS], capture_output=True, text=True, check=True).stdout
    assert told == "".join(f"{each}\n" for each in given)
