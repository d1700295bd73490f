"""Random Delta tables by delta-rs: their rows by their files are those that it reads itself."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.audit import table_rows
from harness.audit.comparison import row_text
from harness.audit.projection import full_type
from harness.core.progress import Progress
from harness.engines.arrow_values import canonical, canonical_type
from harness.formats.delta import read_plan
from harness.formats.files import table_folder
from tests.builders import random_delta_tables

pytestmark = pytest.mark.engines

LEAST = 2
"""Versions that a table has on average at least."""


@pytest.mark.parametrize(
    ("first", "last"),
    [(0, 20), pytest.param(20, 200, marks=pytest.mark.nightly)],
    ids=["by day", "nightly"],
)
def test_each_version_has_the_columns_and_rows_that_delta_rs_reads(
    first: int, last: int, cache: Cache, progress: Progress, tmp_path: Path
) -> None:
    home = fetch.ensure(distributions.load("deltalake-1.6.6"), cache, progress).home
    script = str(random_delta_tables.__file__)
    command = [sys.executable, "-I", "-S", script, str(home), str(tmp_path), str(first), str(last)]
    subprocess.run(command, check=True)
    compared = 0
    for answer in sorted(tmp_path.glob("*/*.arrow")):
        with pa.memory_map(str(answer)) as file:
            read = pa.ipc.open_file(file).read_all()
        folder = table_folder.at(str(answer.parent / "table"))
        plan = read_plan.plan(folder, int(answer.stem))
        types = {p.name: canonical_type(full_type(p, plan.arrow_type)) for p in plan.columns}
        assert types == {field.name: canonical_type(field.type) for field in read.schema}, answer
        columns = ([canonical(value) for value in read.column(name)] for name in types)
        expected = sorted(map(row_text, zip(*columns, strict=True)))
        assert sorted(map(row_text, table_rows.read(plan).rows)) == expected, answer
        compared += 1
    assert compared > LEAST * (last - first)
