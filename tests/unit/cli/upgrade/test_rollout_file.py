from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli.upgrade import rollout_runs
from harness.core.errors import ScenarioProblem

TEXT = """\
now:
  writer: spark-3.5.8-hudi-0.15.0
  readers: [spark-3.5.8-hudi-0.15.0, "hive-3.1.3{path=fetch}"]
steps:
  - name: writers
    writer: "spark-3.5.8-hudi-1.0.2{table_version=6, auto_upgrade=off}"
  - name: readers
    readers: {spark-3.5.8-hudi-0.15.0: spark-3.5.8-hudi-1.0.2}
  - name: version
    writer: spark-3.5.8-hudi-1.0.2
"""


def read(folder: Path, text: str = TEXT) -> rollout_runs.PlannedRollout:
    file = folder / "steps.yaml"
    file.write_text(text, encoding="utf-8")
    return rollout_runs.read(file)


def test_a_state_has_the_changes_that_were_made_and_the_rest_as_it_was(tmp_path: Path) -> None:
    planned = read(tmp_path)
    after = planned.after({2})
    assert after.writer == planned.now.writer
    assert [str(reader) for reader in after.readers] == [
        "spark-3.5.8-hudi-1.0.2",
        "hive-3.1.3{path=fetch}",
    ]
    assert planned.name({2, 1}) == "readers"
    assert planned.name({3, 1}) == "writers and version alone"


def test_of_two_changes_of_the_same_the_later_counts(tmp_path: Path) -> None:
    writer = read(tmp_path).after({1, 3}).writer
    assert writer
    assert writer.settings == {}
    only = read(tmp_path).after({1}).writer
    assert only
    assert only.settings == {"table_version": "6", "auto_upgrade": "off"}


def test_each_reader_is_held_against_the_one_in_whose_place_it_is(tmp_path: Path) -> None:
    found = read(tmp_path).readers({2})
    assert found["spark-3.5.8-hudi-1.0.2"] == "spark-3.5.8-hudi-0.15.0"
    assert found["hive-3.1.3{path=fetch}"] == "hive-3.1.3{path=fetch}"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("now:\n  writer", "now:\n  scribe", "has no 'scribe'"),
        ("writer: spark-3.5.8-hudi-0.15.0", "writer: trino-476", ":1: now: .*writes nothing"),
        ("{spark-3.5.8-hudi-0.15.0:", "{trino-476:", ":7: readers: .*no reader 'trino-476'"),
        ("    writer: spark-3.5.8-hudi-1.0.2", "    metastore: x", ":9: version: .*metastore 'x'"),
        ("steps:", "changes:", "'steps' is missing"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, old: str, new: str, told: str) -> None:
    with pytest.raises(ScenarioProblem, match=told):
        read(tmp_path, TEXT.replace(old, new, 1))
