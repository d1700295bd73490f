"""The moment of a query about the past, looked up in made-up timelines."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from harness.artifacts import distributions
from harness.cli.reproduce.script import script
from harness.engines import time_travel
from harness.formats import facts
from harness.model.commit import AS_OF, INCREMENTAL
from tests.builders.table_story import history
from tests.unit.cli.reproduce.simulation import candidate_of
from tests.unit.cli.reproduce.test_files import seen_of, target
from tests.unit.tools.test_by_hand import TEXT
from tools.measure.by_hand_script import parse

SPARK_1: Final = "spark-3.5.8-hudi-1.0.2"
SPARK_12: Final = "spark-3.5.8-hudi-1.2.0"
ICEBERG: Final = "spark-3.5.8-iceberg-1.10.1"
QUERY: Final = "select * from `reproducer`.`t`;"
OLD: Final = (
    "20240101000000001.deltacommit",
    "20240101000000002.commit.requested",
    "20240101000000003.rollback",
    "20240101000000004.replacecommit",
    "20240101000000005.commit",
    "hoodie.properties",
)
"""Of table versions up to 6."""
NEW: Final = (
    "20240101000000001_20240101000000002.deltacommit",
    "20240101000000003_20240101000000010.commit",  # a compaction that was scheduled early
    "20240101000000005_20240101000000007.deltacommit",
    "20240101000000008.deltacommit.inflight",
    "20240101000000009_20240101000000011.clean",
    "20240101000000011_20240101000000999.deltacommit",
)
"""Of version 8 and up."""


@pytest.fixture
def tool() -> ModuleType:
    return importlib.import_module("tools.measure.by_hand_moment")


def old(folder: Path) -> Path:
    return timeline(folder / ".hoodie", OLD, folder)


def new(folder: Path) -> Path:
    return timeline(folder / ".hoodie" / "timeline", NEW, folder)


def timeline(place: Path, names: tuple[str, ...], folder: Path) -> Path:
    place.mkdir(parents=True)
    for name in names:
        (place / name).touch()
    return folder


def iceberg(folder: Path) -> Path:
    (folder / "metadata").mkdir(parents=True)
    for number, ids in enumerate([(), (77,), (77, 55), (77, 55, 66)]):
        metadata = {
            "snapshots": [
                {"snapshot-id": each, "sequence-number": at} for at, each in enumerate(ids)
            ][::-1],
            "snapshot-log": [{"snapshot-id": each} for each in ids],
        }
        path = folder / "metadata" / f"{number:05}-{'0' * 36}.metadata.json"
        path.write_text(json.dumps(metadata))
    return folder


TABLES: Final[Mapping[str, Callable[[Path], Path]]] = {
    "2": iceberg,
    "6": old,
    "8": new,
    "9": new,
}
"""By table version."""


def query(tool: ModuleType, told: str, *, number: object = 2, sql: str = "as of 'MOMENT'") -> Any:  # noqa: ANN401
    past_of = (
        f"-- MOMENT: {told}, in the table that you wrote.\n"
        f"--   The write of step 3 is number {number} of those completed, by the last time …\n"
        f"set hoodie.t.consume.start.timestamp=MOMENT;\n{QUERY[:-1]} {sql};"
    )
    return parse("one", TEXT.replace(QUERY, past_of)).query


@pytest.mark.parametrize(
    ("reader", "of", "view", "version", "number", "moment"),
    [
        (SPARK_12, "hudi-mor", AS_OF, "6", 1, "20240101000000001"),
        (SPARK_1, "hudi-mor", INCREMENTAL, "6", 2, "20240101000000004"),
        (SPARK_12, "hudi-cow", INCREMENTAL, "6", 3, "20240101000000005"),
        ("hive-3.1.3", "hudi-cow", INCREMENTAL, "8", 1, "20240101000000001"),
        (SPARK_12, "hudi-mor", AS_OF, "8", 2, "20240101000000005"),
        (SPARK_12, "hudi-mor", AS_OF, "9", 3, "20240101000000003"),
        (SPARK_12, "hudi-mor", INCREMENTAL, "8", 2, "20240101000000007"),
        (SPARK_1, "hudi-mor", INCREMENTAL, "8", 2, "20240101000000010"),
        (SPARK_1, "hudi-mor", INCREMENTAL, "8", 4, "20240101000001000"),
        (ICEBERG, "iceberg", AS_OF, "2", 2, "55"),
        (ICEBERG, "iceberg", AS_OF, "2", 3, "66"),
    ],
)
def test_what_a_script_says_is_looked_up_in_the_table(
    tool: ModuleType, tmp_path: Path, reader: str, of: str, view: str, version: str,
    number: int, moment: str,
) -> None:  # fmt: skip
    told = time_travel.in_words(distributions.load(reader), facts(of), view, version, 3)
    asked = query(tool, told, number=number)
    found = tool.filled(asked, TABLES[version](tmp_path))
    assert found.statements[-2:] == (
        f"set hoodie.t.consume.start.timestamp={moment};",
        f"{QUERY[:-1]} as of '{moment}';",
    )
    assert found.seen == asked.seen
    assert [each for each in found.lines if "-- MOMENT:" in each]


@pytest.mark.parametrize("number", [0, 4, "?"])
@pytest.mark.parametrize("table", [old, iceberg, lambda folder: folder])
def test_a_write_that_the_table_does_not_have_is_not_found(
    tool: ModuleType, tmp_path: Path, number: object, table: Callable[[Path], Path]
) -> None:
    asked = query(tool, "when the write of step 3 was requested", number=number)
    with pytest.raises(tool.NoMomentError):
        tool.filled(asked, table(tmp_path))


def test_a_moment_in_words_that_nobody_knows_is_not_found(tool: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(tool.NoMomentError, match="no words for a moment: when it was step 3"):
        tool.filled(query(tool, "when it was step 3"), old(tmp_path))


def test_metadata_that_cannot_be_read_tells_no_moment(tool: ModuleType, tmp_path: Path) -> None:
    place = iceberg(tmp_path) / "metadata"
    (place / f"00003-{'1' * 36}.metadata.json").write_text("{}")
    with pytest.raises(tool.NoMomentError, match="which metadata is the newest is not clear"):
        tool.filled(query(tool, "the id of the snapshot that step 3 made"), tmp_path)


@pytest.mark.parametrize(
    ("of", "reader", "sql", "table", "moment"),
    [
        ("hudi-cow", SPARK_12, "timestamp as of '1'", new, "20240101000000005"),
        ("iceberg", ICEBERG, "version as of 1", iceberg, "55"),
    ],
)
def test_a_script_that_is_written_says_all_that_it_takes(
    tool: ModuleType, tmp_path: Path, of: str, reader: str, sql: str,
    table: Callable[[Path], Path], moment: str,
) -> None:  # fmt: skip
    made = candidate_of(history("insert 1,2; move f1 after f2"), AS_OF)
    seen = seen_of(made, reader, AS_OF, f"select * from `s_{{0}}`.`t` {sql}")
    text = script(replace(made.variant, format=of), target(reader), seen)
    asked = parse("one", text).query
    assert asked
    assert "MOMENT" in asked.statements[-1]
    found = tool.filled(asked, table(tmp_path)).statements[-1]
    assert found == f"select * from `reproducer`.`t` {sql.replace('1', moment)};"


def test_a_query_about_now_is_put_as_it_stands(tool: ModuleType, tmp_path: Path) -> None:
    now = parse("one", TEXT).query
    assert tool.filled(now, tmp_path / "nowhere") is now
