"""Adding one thing is adding one file: toys of each kind, each a file outside of the harness."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import engines
from harness.artifacts.distribution import Distribution
from harness.engines.format_facts import FormatFacts
from harness.plan import distribution_support
from tests.toys.package import install

ROOT = Path(__file__).parent.parent
TOYS = ROOT / "tests" / "toys"
FORMAT = {"formats": {"toy": "toy_format:FORMAT"}}
ALL = FORMAT | {
    "operations": {"stock": "toy_operation:Stock"},
    "engines": {"toy": "toy_engine:ENGINE"},
    "distributions": {"toy-1": "toy_engine:LOCK"},
    "reports": {"toy": "toy_report"},
}


def python(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python where a package is installed, in the root of the repository."""
    path = os.pathsep.join((str(installed), str(TOYS)))
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
        capture_output=True,
        text=True,
    )


def test_a_toy_of_each_kind_is_one_file_and_goes_through_all_verbs(tmp_path: Path) -> None:
    install(tmp_path, ALL)
    done = python(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{TOYS}/check_toys.py")
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


def test_a_format_that_nothing_reads_is_refused_by_its_name_and_what_is_read(
    tmp_path: Path,
) -> None:
    install(tmp_path, FORMAT)
    (tmp_path / "story.yaml").write_text(
        "table: {columns: {id: int}, key: id}\nsteps: [insert: [1]]\n"
    )
    (tmp_path / "profiles.yaml").write_text(
        "mine:\n  scenarios: ['*']\n  formats: [toy]\n"
        "  writers: [spark-3.5.8-hudi-0.15.0]\n  readers: [trino-476, spark-3.5.8, hive-3.1.3]\n"
    )
    done = python(tmp_path, "-m", "harness", "plan", str(tmp_path), "--profile", "mine")
    assert done.returncode == 2
    assert (
        "no distribution reads tables of format 'toy', which are toy tables; "
        "there are distributions that read delta, hive, hudi, iceberg tables"
    ) in " ".join(done.stderr.split())


@pytest.mark.parametrize("reader", list(distribution_support.readers()), ids=lambda d: d.name)
def test_no_reader_takes_the_tables_of_an_unknown_format_for_those_of_another(
    reader: Distribution,
) -> None:
    unknown = FormatFacts("hudi-next", "next")
    why = engines.load(reader.engine).cannot(reader, {}, unknown)
    assert why.startswith(f"{reader.name} has no ")
    assert why.endswith(" for next tables")
