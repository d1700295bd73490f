"""The conformance kit on one version of each engine, as a person would start it: by processes, and
in containers where a Docker daemon answers. `make conformance` checks every version.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.conformance import kit
from harness.core.runtime_names import CONTAINER, in_runtime
from tests.engines.container_owners import owners_of

pytestmark = [pytest.mark.engines, pytest.mark.alone]

ENGINES = ("trino-476", "prestosql-350", "spark-3.5.8-hudi-1.0.2", "hive-3.1.3")
MORE = (
    *("trino-483", "hive-2.3.10", "hive-3.1.3-hudi-0.11.1", "hive-4.0.1"),
    *("hive-3.1.3-tez-0.9.2{path=tez}", "hive-4.0.1-tez-0.10.4{path=tez}"),
    "datafusion-54.1.0-hudi-0.5.0",
)
"""Those that are put together otherwise; the last one has no image."""
AT_NIGHT = tuple(pytest.param(each, marks=pytest.mark.nightly) for each in MORE)
REPLACED = ("spark", "hive", "datafusion")
"""Where a question takes too long another server is asked from then on."""


def verified(name: str, folder: Path) -> dict[str, Any]:
    """Check a reader; give what a program is told of it at the end."""
    command = [sys.executable, "-m", "harness", "engines", "verify", name, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        said, _ = process.communicate()
    end: dict[str, Any] = json.loads(said.splitlines()[-1])
    (found,) = end["readers"]
    assert names(found, "failed") | names(found, "unknown") == set(), found["results"]
    assert process.returncode == end["status"] == 0
    if name.endswith(CONTAINER):
        assert owners_of(process.pid) == set()
    return dict(found)


def names(found: dict[str, Any], outcome: str) -> set[str]:
    """Return the checks that came out so."""
    return {name for name, result in found["results"].items() if result["outcome"] == outcome}


def check(found: dict[str, Any], name: str, *not_applicable: str) -> None:
    """Check that every check was made but those that do not apply."""
    ended = {"cancel"} if name.startswith(REPLACED) else set()
    assert names(found, "not applicable") == {*ended, *not_applicable}
    assert list(found["results"]) == list(kit.ASSERTS)
    assert found["start_s"] > 0
    assert found["peak_mb"] > 100


@pytest.mark.parametrize("name", [*ENGINES, *AT_NIGHT])
def test_an_engine_as_a_process_does_what_every_reader_must(name: str, tmp_path: Path) -> None:
    before = psutil.Process().children(recursive=True)
    check(verified(name, tmp_path), name, "container")
    assert [e for e in psutil.Process().children(recursive=True) if e not in before] == []


@pytest.mark.docker
@pytest.mark.usefixtures("docker")
@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_in_a_container_does_what_every_reader_must(name: str, tmp_path: Path) -> None:
    found = verified(in_runtime(name, CONTAINER), tmp_path)
    check(found, name)
    assert "sha256:" in found["fidelity"]
