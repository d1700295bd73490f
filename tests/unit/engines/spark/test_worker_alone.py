"""The worker as it runs in an image: five files, the standard library and PySpark, Python 3.8."""

import ast
import sys
from pathlib import Path

import pytest

from harness.artifacts import distributions
from harness.engines.spark import delta_client, iceberg_client, plan_client, worker, write_client
from harness.engines.spark.launch import SparkProgram
from harness.engines.spark.session import Library
from harness.runtime.api import Surroundings

MODULES = (worker, write_client, iceberg_client, delta_client, plan_client)
SOURCES = [Path(str(module.__file__)).read_text(encoding="utf-8") for module in MODULES]
each_file = pytest.mark.parametrize("source", SOURCES, ids=["worker", *Library])
NEWER = {"removeprefix", "removesuffix", "pairwise", "batched", "cache", "zoneinfo", "tomllib"}
"""Names of the standard library since Python 3.9 that somebody may reach for."""


@each_file
def test_it_is_written_in_python_3_8(source: str) -> None:
    ast.parse(source, feature_version=(3, 8))
    names = {
        node.attr if isinstance(node, ast.Attribute) else node.id
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute | ast.Name)
    }
    assert names & NEWER == set()


@each_file
def test_it_imports_nothing_but_the_standard_library_and_pyspark(source: str) -> None:
    conf: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            conf |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            conf.add((node.module or "").partition(".")[0])
    assert conf - set(sys.stdlib_module_names) <= {"pyspark", "py4j"}


def test_what_it_imports_by_name_is_copied_beside_it(tmp_path: Path) -> None:
    around = Surroundings("h", 1, "thrift://h:2", tmp_path, tmp_path / "conf", "", None, ())
    files = SparkProgram(distributions.load("spark-3.5.8-hudi-0.15.0")).files(around)
    assert [files["worker.py"], *(files[f"{name}.py"] for name in Library)] == SOURCES
