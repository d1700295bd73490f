"""The conformance kit, as a person would start it: by processes, and in containers where a Docker
daemon answers. By night it is one version of each engine; `make conformance` checks every version.
"""

import json
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.artifacts.cache import Cache
from harness.conformance import kit
from harness.conformance.results import CheckOutcome
from harness.core.progress import Progress
from harness.core.runtime_names import CONTAINER, in_runtime
from harness.engines.polars.engine import ENGINE
from harness.read import reader_servers
from harness.read.reader_servers import ReadContext
from harness.scenario.cells import parse_reader
from tests.engines.container_owners import owners_of

pytestmark = [pytest.mark.engines, pytest.mark.alone]

ENGINES = ("trino-476", "spark-3.5.8-hudi-1.0.2", "hive-3.1.3")
"""All are asked about tables of each of their formats by other tests, too."""
LIBRARIES = (
    *("polars-2.1.0", "pyiceberg-0.12.0", "deltalake-1.6.6", "deltalake-1.6.6{interface=arrow}"),
    *("duckdb-1.5.5", "duckdb-2.0.1", "datafusion-55.0.0", "daft-0.7.26", "chdb-4.4.0"),
)
MORE = (
    *("trino-368", "trino-483", "prestosql-350", "prestodb-0.283", "spark-4.1.4", "spark-4.3.0"),
    *("hive-3.1.3{path=mapreduce}", "hive-2.3.10"),
    *("hive-3.1.3-hudi-0.11.1", "hive-4.0.1"),
    *("hive-3.1.3-tez-0.9.2{path=tez}", "hive-4.0.1-tez-0.10.4{path=tez}"),
    "datafusion-54.1.0-hudi-0.5.0",
)
"""Those that are put together otherwise; the last one has no image."""
BY_DAY = (ENGINES[0], LIBRARIES[0])
"""One stands for the servers, one for the libraries that run in a process of Python."""
AT_NIGHT = tuple(
    pytest.param(name, marks=pytest.mark.nightly)
    for name in (*ENGINES, *LIBRARIES, *MORE)
    if name not in BY_DAY
)
REPLACED = ("spark", "hive", "datafusion", *LIBRARIES)
"""Where a question takes too long another server is asked from then on."""


def verified(name: str, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "harness", "engines", "verify", name, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        output, _ = process.communicate()
    end: dict[str, Any] = json.loads(output.splitlines()[-1])
    (result,) = end["readers"]
    assert names(result, "failed") | names(result, "unknown") == set(), result["results"]
    assert process.returncode == end["status"] == 0
    if name.endswith(CONTAINER):
        assert owners_of(process.pid) == set()
    return dict(result)


def names(result: dict[str, Any], outcome: str) -> set[str]:
    return {name for name, check in result["results"].items() if check["outcome"] == outcome}


def check(result: dict[str, Any], name: str, *not_applicable: str) -> None:
    ended = {"cancel"} if name.startswith(REPLACED) else set()
    assert names(result, "not applicable") == {*ended, *not_applicable}
    assert list(result["results"]) == list(kit.ASSERTS)
    assert result["start_s"] > 0
    assert result["peak_mb"] > 100


@pytest.mark.parametrize("name", [*BY_DAY, *AT_NIGHT])
def test_an_engine_as_a_process_does_what_every_reader_must(name: str, tmp_path: Path) -> None:
    before = psutil.Process().children(recursive=True)
    check(verified(name, tmp_path), name, "container")
    assert [e for e in psutil.Process().children(recursive=True) if e not in before] == []


@pytest.mark.docker
@pytest.mark.usefixtures("docker")
@pytest.mark.parametrize("name", [*ENGINES, "prestosql-350"])
def test_an_engine_in_a_container_does_what_every_reader_must(name: str, tmp_path: Path) -> None:
    result = verified(in_runtime(name, CONTAINER), tmp_path)
    check(result, name)
    assert "sha256:" in result["fidelity"]


PLANTED = """
def to_arrow(frame, right=import_module("polars").DataFrame.to_arrow):
    table = right(frame)
    if table.num_columns > 1:
        names = table.column_names
        PLANTED
    return table
import_module("polars").DataFrame.to_arrow = to_arrow
"""
SWAPPED = """
        swapped = [{'d': 'inf', 'inf': 'd'}.get(name, name) for name in names]
        table = table.select(swapped).rename_columns(names)"""
AS_TEXT = "table = table.set_column(names.index('l'), 'l', table['l'].cast('string'))"
DEFECTS = {
    "two columns are swapped": (SWAPPED, "types", "d: -inf instead of 0.1; inf: 0.1 instead of"),
    "numbers are texts": (AS_TEXT, "types", "l: type string instead of long"),
    "rows are invented": ("table = table.take([0, 0, 1])", "types", "3 rows, 2 of them with"),
    "the row of NULLs is dropped": ("table = table.slice(0, 1)", "nulls", "0 begin with NULL"),
    "it hangs": ("__import__('time').sleep(3600)", "types", "no answer within 3 s"),
}


FIRST, *OTHERS = DEFECTS
"""By day one goes through a real library; the checks have simulated readers with each fault."""


@pytest.mark.parametrize(
    "defect", [FIRST, *(pytest.param(name, marks=pytest.mark.nightly) for name in OTHERS)]
)
def test_a_library_that_reads_wrongly_fails(
    defect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, failing, seen = DEFECTS[defect]
    answers = tmp_path / "answers.py"
    answers.write_text(ENGINE.answers.read_text() + PLANTED.replace("PLANTED", code))
    bad = replace(ENGINE, answers=answers)
    monkeypatch.setattr(reader_servers, "load_engine", lambda _: bad)
    monkeypatch.setattr(kit, "ReadContext", partial(ReadContext, timeout_s=3.0))
    reader, cache = parse_reader("polars-2.1.0"), Cache.default(offline=False)
    result = kit.verify(reader, cache, tmp_path, Progress()).results[failing]
    assert result.outcome is CheckOutcome.FAILED
    # Where the process was ended nothing more is asked of it.
    formats = ("iceberg",) if defect == "it hangs" else ("iceberg", "delta")
    assert [name for name in ("iceberg", "delta") if f"{name}: " in result.seen] == list(formats)
    assert result.seen.count(seen) == len(formats)
