from collections.abc import Iterable
from typing import Final

import pytest

from harness.model.canonical import Value, text_of
from harness.model.simulation.reader import Simulation
from harness.model.simulation.strategies import ColumnMapping, Logs, ReadStrategy
from tests.builders.random_story import Plot, story_of_seed
from tests.builders.simulated_disk import instant_of
from tests.quality import judged_defects
from tests.quality.defects import DEFECTS
from tests.quality.judged_defects import Result

STRUCT: Final = "struct<a: string, b: int>"
BOOLEANS: Final = Plot(
    "id long, ts long, f1 boolean, f2 boolean, f3 boolean, f4 boolean",
    "insert 1..7; insert 8..10; add n2 array<string> after f2; move f2 after f4; compact; "
    "insert 11; touch all; drop f3; rename f2 f3; rename f1 n4; insert 12..15",
    mor=True,
)
ARRAYS: Final = Plot(
    "id string, ts long, f1 array<string>, f2 array<string>",
    "insert 1..6; merge update 5,6,1 delete 4 insert 7,8,9; delete 7; touch some; touch all; "
    "move f1 after f2; drop f2; update 8 set f1; upsert 3,1,8; "
    "merge update 6,8 delete 2 insert 10,11,12,13; rename f1 f2",
    mor=True,
)
SMALL: Final = Plot(
    "id string, ts long, f1 tinyint, f2 tinyint, f3 tinyint",
    "insert 1,2; insert 3..8; add n2 array<string> after f1; move f2 after f1; "
    "move f2 after n2; move n2 after f1; update 6,1,3 set f3; update 2,4,1 set f3; "
    "move f3 after f1",
)
SMALL_BESIDE_DECIMALS: Final = Plot(
    "id string, ts long, f1 decimal(12, 2), f2 tinyint, f3 map<string, long>",
    "insert 1..5; add n2 long after f1; move f3 after f1; insert 6..12; insert 13..18; "
    "move f2 after n2; update 6,14,16 set f2; type f1 decimal(14, 2); rename n2 n3; compact; "
    "touch some; insert 19..21",
)
SMALL_AT_THE_END: Final = Plot(
    "id string, ts long, f1 timestamp, f2 map<string, long>, f3 int, f4 tinyint",
    "insert 1..4; touch none; update 2 set f2; update 2,1,3 set f2; insert 5..11; drop f3; "
    "upsert 6,7,2; move f4 after f2",
    mor=True,
)
STRUCTS: Final = Plot(
    f"id long, ts long, f1 {STRUCT}, f2 {STRUCT}, f3 {STRUCT}, f4 {STRUCT}",
    "insert 1; insert 2..5; add n2 date first; insert 6..11; upsert 4,5,1",
)
STRUCTS_RENAMED: Final = Plot(
    f"id long, ts long, f1 {STRUCT}, f2 {STRUCT}, f3 {STRUCT}, f4 {STRUCT}",
    "insert 1..4; move f3 after f1; add n2 map<string, long> first; touch some; rename f2 n3; "
    "rename f1 f2; insert 5..10",
)
STRUCTS_IN_PARTITIONS: Final = Plot(
    f"id long, ts long, f1 {STRUCT}, f2 {STRUCT}, f3 {STRUCT}, p string",
    "insert 1..6; insert 7..10; add n2 array<string> first; insert 11..15; rename f3.b n3; "
    "move f1 after f2; insert 16; insert 17..22; update 20,1,17 set n2; upsert 8",
    partition_by=("p",),
)
BOOLEANS_TWICE: Final = Plot(
    "id string, ts long, f1 boolean, f2 timestamp, f3 timestamp_ntz, f4 array<string>",
    "insert 1..6; touch all; drop f4; add f4 long first; merge update 1,4 delete 5 insert 7..13; "
    "merge update 13,4,2 delete 7 insert 14..20; insert 21,22,23; "
    "merge update 15 delete 9 insert 24; move f3 after f1; drop f3; touch none; touch all",
)
"""In two versions of a row a boolean is the same, and a column was added between them."""
ONE_ROW: Final = Plot(
    "id string, ts long, f1 map<string, long>, f2 map<string, long>, f3 map<string, long>, p int",
    "insert 1,2; upsert 1; rename f3 n2; move n2 after f2; compact; upsert 1,2; rename f1 n3; "
    "update 2,1 set n2; delete 2; upsert 1",
    mor=True,
    partition_by=("p",),
)
"""The key of the only row that is left is the text of its partition."""


@pytest.mark.parametrize(
    ("name", "plot", "seed"),
    [
        ("columns by position", BOOLEANS, 285),
        ("log files ignored, by name", ARRAYS, 14),
        ("table of an earlier step, rows and schema", ARRAYS, 14),
        ("by position, five too far right", SMALL, 40),
        ("by position, five too far right", SMALL_BESIDE_DECIMALS, 92),
        ("by position, five too far right", SMALL_AT_THE_END, 171),
        ("by position, meta columns counted", STRUCTS, 191),
        ("by position, meta columns counted", STRUCTS_RENAMED, 220),
        ("by position, meta columns counted", STRUCTS_IN_PARTITIONS, 289),
        ("writer: compaction writes older values", BOOLEANS_TWICE, 33),
        ("labels of two columns swapped", ONE_ROW, 93),
    ],
)
def test_a_history_in_which_it_once_had_a_wrong_name(name: str, plot: Plot, seed: int) -> None:
    seen = DEFECTS[name].read(plot, seed)
    assert seen is not None
    assert judged_defects.judge_defect(seen).result in {Result.RIGHT, Result.UNDECIDABLE}


MAPPINGS = [
    ("id", ColumnMapping.ID),
    ("name", ColumnMapping.NAME),
    ("position", ColumnMapping.POSITION),
]


def texts(rows: Iterable[tuple[Value, ...]]) -> list[tuple[str, ...]]:
    return sorted(tuple(map(text_of, row)) for row in rows)


@pytest.mark.parametrize("seed", range(40))
def test_predicted_answers_are_those_of_a_simulated_reader(seed: int) -> None:
    one = story_of_seed(seed)
    files = [file.fact() for file in one.disk.files]
    steps = {instant_of(step): step for step in range(len(one.history))}
    for by, mapping in MAPPINGS:
        for logs in ("merged", "ignored"):
            kind = Logs.MERGED if logs == "merged" else Logs.IGNORED
            predicted = Simulation(one.history, files, steps).rows(ReadStrategy(mapping, kind))
            assert texts([row.values for row in predicted]) == texts(one.read(by, logs=logs).rows)
