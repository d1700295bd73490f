"""What a library of Python keeps between questions is no data and no metadata of a table."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from harness.engines import python_worker
from harness.read.questions import load_engine
from tests.engines.everyone import Installed

pytestmark = pytest.mark.engines

SCRIPT: Final = """
import base64, json, os, sys
packages, answers, family, folder = sys.argv[1:]
sys.path[:0] = [packages, answers]
import pyarrow as pa, pyarrow.parquet as pq
import answers

def write(name, value):
    file = os.path.join(folder, "data.parquet")
    pq.write_table(pa.table({name: pa.array([value], pa.int64())}), file)
    os.utime(file, (1, 1))
    field = {"name": name, "type": "long", "nullable": True, "metadata": {}}
    schema = json.dumps({"type": "struct", "fields": [field]})
    entries = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": {"id": "t", "format": {"provider": "parquet", "options": {}},
         "schemaString": schema, "partitionColumns": [], "configuration": {}}},
        {"add": {"path": "data.parquet", "partitionValues": {}, "size": os.stat(file).st_size,
         "modificationTime": 1, "dataChange": True}},
    ]
    if family == "delta":
        log = os.path.join(folder, "_delta_log", "0" * 20 + ".json")
        os.makedirs(os.path.dirname(log), exist_ok=True)
        with open(log, "w") as lines:
            lines.writelines(json.dumps(entry) + chr(10) for entry in entries)
        os.utime(log, (1, 1))

def shown(name, value):
    write(name, value)
    arrow = [base64.b64encode(pa.schema(fields).serialize().to_pybytes()).decode()
             for fields in ([(name, pa.int64())], [])]
    table = {"database": "d", "family": family, "source": folder, "location": folder + "/",
             "version": None, "snapshot": None, "keys": {}}
    if "schema" in (answers.__doc__ or ""):  # DataFusion
        table |= {"name": '"d"."t"', "schema": arrow[0], "keys": arrow[1]}
    else:
        table |= {"name": "t"}
    question = {"statement": 'select * from "d"."t"', "conf": {}, "tables": [table]}
    return answers.ask(question).to_pylist()

print(json.dumps([shown("a", 1), shown("a", 2), shown("b", 2), shown("a", 3)]))
"""
"""Writes a file, asks, and writes another one of the same name, size and time in its place."""


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("duckdb-1.5.5", "hive"),
        ("duckdb-1.5.5", "delta"),
        ("duckdb-2.0.1", "hive"),
        ("datafusion-55.0.0", "hive"),
        ("deltalake-1.6.6", "delta"),
    ],
)
def test_a_file_that_changes_between_two_questions_is_seen(
    name: str, family: str, installed: Installed, tmp_path: Path
) -> None:
    answers = Path(load_engine(name).answers).parent  # type: ignore[attr-defined]
    packages = str(installed(name).home)
    command = [sys.executable, "-I", "-S", "-c", SCRIPT, packages, str(answers), family]
    run = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == [[{"a": 1}], [{"a": 2}], [{"b": 2}], [{"a": 3}]]


MANIFESTS: Final = """
import sys
sys.path[:0] = sys.argv[1:]
from types import SimpleNamespace
from pyiceberg.manifest import _manifest_cache
import python_worker
_manifest_cache.get_or_cache(SimpleNamespace(manifest_path="x"))
before = len(_manifest_cache)
python_worker.answer({"expression": "1", "tables": []})
print(before, len(_manifest_cache))
"""


def test_pyiceberg_keeps_no_manifest(installed: Installed) -> None:
    name = "pyiceberg-0.12.0"
    answers = Path(load_engine(name).answers).parent  # type: ignore[attr-defined]
    folders = map(str, (installed(name).home, answers, Path(python_worker.__file__).parent))
    command = [sys.executable, "-I", "-S", "-c", MANIFESTS, *folders]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.stdout.split() == ["1", "0"], run.stderr
