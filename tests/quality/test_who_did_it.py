"""Tables written file by file, by sound writers and by others, and what readers show of them.

What the format's own replay takes for a part of the table is the writer's doing, for every reader
alike; what a reader makes of files that are sound is the reader's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import pytest

from harness.core.records import FindingKind, OutcomeKind, Responsible, Verdict, VerdictKind
from harness.judge.recorded_variant import RecordedVariant
from harness.model.canonical import Value
from tests.builders.iceberg_folder import GONE, Entry
from tests.builders.judged_story import answer_of, blamed, judged, verdict_on
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import history
from tests.builders.written_table import (
    Action,
    WrittenTable,
    added,
    delta_commit,
    delta_data,
    hive_delta,
    hive_ids,
    hudi_base,
    hudi_done,
    hudi_forgotten,
    hudi_log_file,
    hudi_replaced,
    hudi_taken_back,
    iceberg_commit,
    iceberg_data,
    iceberg_deletes,
    iceberg_values,
    iceberg_vector,
    removed,
    vector,
)

WRONG, RIGHT = VerdictKind.WRONG, VerdictKind.CORRECT
COLUMNS: Final = "id string, f1 string, f2 string"
WRITER, READER, UNSURE = Responsible.WRITER, Responsible.READER, Responsible.UNSURE
GHOST, LOST, STALE = FindingKind.GHOST_ROW, FindingKind.LOST_ROW, FindingKind.STALE
NULL = FindingKind.LOST_VALUE
Values = Mapping[str, Mapping[str, Value]]
Blame = tuple[FindingKind, Responsible | None]


@dataclass(frozen=True)
class Case:
    """A table, and what readers show of it in the end."""

    name: str
    format: str
    story: str
    steps: Sequence[Sequence[Action]]
    """What the writer does in each, the creation first."""
    shown: Sequence[tuple[str, Values, set[Blame]]]
    """The rows of an answer, the values it shows instead, and its findings with who is blamed."""
    refused: frozenset[int] = field(default=frozenset())
    """The steps that the writer answered with an error."""


def verdicts_on(case: Case, folder: Path) -> list[Verdict]:
    """Return the findings on each answer by itself."""
    recorded, replies = answered(case, folder)
    return [verdict_on(recorded, answer_of(reply)) for reply in replies]


def answered(case: Case, folder: Path) -> tuple[RecordedVariant, list[Reply]]:
    table = WrittenTable(folder, history(case.story, COLUMNS), case.format)
    for at, actions in enumerate(case.steps):
        table.after(actions, OutcomeKind.REFUSED if at in case.refused else OutcomeKind.APPLIED)
    table.step -= 1
    return table.recorded(), [table.shown(texts, **instead) for texts, instead, _ in case.shown]


def right(texts: str) -> tuple[str, Values, set[Blame]]:
    return texts, {}, set()


def wrong(
    texts: str, *blame: Blame, **instead: Mapping[str, Value]
) -> tuple[str, Values, set[Blame]]:
    return texts, instead, set(blame)


DONE: Final = hudi_done()
INFLIGHT: Final = hudi_done("deltacommit.inflight")


Head = tuple[str, str, str, list[Sequence[Action]]]


def hudi(name: str, story: str, *steps: Sequence[Action]) -> Head:
    return name, "hudi-mor", story, [(), *steps]


HUDI: Final = [
    Case(
        *hudi(
            "a delete block is there, and a reader does not see it",
            "insert 1,2; delete 2",
            [hudi_base("g", "1 2"), DONE],
            [hudi_log_file("g", gone="2"), DONE],
        ),
        [right("1"), wrong("1 2@1", (GHOST, READER))],
    ),
    Case(
        *hudi(
            "a delete block that the commit should have is not there",
            "insert 1,2; delete 2",
            [hudi_base("g", "1 2"), DONE],
            [DONE],
        ),
        [wrong("1 2@1", (GHOST, WRITER))],
    ),
    Case(
        *hudi(
            "a log file is written to a file group that was replaced before",
            "insert 1; overwrite 2; insert 3",
            [hudi_base("g", "1"), DONE],
            [hudi_base("h", "2"), hudi_replaced({"": ["g"]})],
            [hudi_log_file("g", "3"), DONE],
        ),
        [wrong("2", (LOST, WRITER)), wrong("1@1 2 3", (GHOST, READER))],
    ),
    Case(
        *hudi(
            "a replacement does not name the file group that it replaces",
            "insert 1; overwrite 2",
            [hudi_base("g", "1"), DONE],
            [hudi_base("h", "2"), hudi_replaced({"": []})],
        ),
        [wrong("1@1 2", (GHOST, WRITER)), wrong("", (LOST, READER))],
    ),
    Case(
        *hudi(
            "a replacement names a file group of one partition, and the other has one of that id",
            "insert 1,2; insert 3; delete 1",
            [hudi_base("0", "1", folder="a/"), hudi_base("0", "2", folder="b/"), DONE],
            [hudi_log_file("0", "3", folder="b/"), DONE],
            [hudi_replaced({"a": ["0"]})],
        ),
        [right("2 3"), wrong("", (LOST, READER)), wrong("1@1 2 3", (GHOST, READER))],
    ),
    Case(
        *hudi(
            "a block of the columns that were set is all that there is of a deleted row",
            "insert 1,2; delete 2; upsert 2",
            [hudi_base("g", "1 2"), DONE],
            [hudi_log_file("g", gone="2"), DONE],
            [hudi_log_file("g", "2", columns="f1"), DONE],
        ),
        [
            wrong("1@1 2", (STALE, WRITER), k2={"f2": "f3s1r2"}),
            wrong("1@1 2", (NULL, WRITER), k2={"f2": None}),
            wrong("1@1 2@1", (STALE, READER), (STALE, WRITER)),
            wrong("1@1", (LOST, READER)),
        ],
    ),
    Case(
        *hudi(
            "a reader does not complete what a block of the columns that were set leaves out",
            "insert 1,2; update 2 set f1",
            [hudi_base("g", "1 2"), DONE],
            [hudi_log_file("g", "2", columns="f1"), DONE],
        ),
        [
            right("1 2"),
            wrong("1 2", (NULL, READER), k2={"f2": None}),
            wrong("1 2@1", (STALE, READER)),
        ],
    ),
    Case(
        *hudi(
            "an instant that is not completed is shown",
            "insert 1; fail 2",
            [hudi_base("g", "1"), DONE],
            [hudi_base("h", "2"), INFLIGHT],
        ),
        [right("1"), wrong("1 2", (GHOST, READER))],
    ),
    *(
        Case(
            *hudi(
                f"values of a write that {ended} are shown{', completed later' if late else ''}",
                "insert 1; " + write + " 1; insert 3",
                [hudi_base("g", "1"), DONE],
                [hudi_log_file("g", "1"), INFLIGHT],
                [hudi_base("i", "3"), DONE, *late],
            ),
            shown,
            frozenset({2} - {2 * (write == "fail")}),
        )
        for ended, write in (("failed", "fail"), ("was refused", "upsert"))
        for late, shown in (
            ((), [right("1@1 3"), wrong("1@2 3", (STALE, READER))]),
            ((hudi_done(step=2),), [wrong("1@2 3", (STALE, WRITER)), right("1@1 3")]),
        )
    ),
    Case(
        *hudi(
            "a block takes back what the log has of a write that failed and is archived",
            "insert 1; fail 2; insert 3",
            [hudi_base("g", "1"), DONE],
            [hudi_log_file("g", "2"), hudi_taken_back("g", 2)],
            [hudi_base("h", "3"), DONE, hudi_forgotten(1)],
        ),
        [right("1 3"), wrong("1 2@2 3", (GHOST, READER))],
    ),
    Case(
        *hudi(
            "a block takes back what the log has of a write that was completed",
            "insert 1; insert 2; insert 3",
            [hudi_base("g", "1"), DONE],
            [hudi_log_file("g", "2"), DONE],
            [hudi_taken_back("g", 2), hudi_base("h", "3"), DONE],
        ),
        [wrong("1 3", (LOST, WRITER)), wrong("1 2", (LOST, READER))],
    ),
    Case(
        *hudi(
            "a write that failed is on the timeline as completed",
            "insert 1; fail 2; insert 3",
            [hudi_base("g", "1"), DONE],
            [hudi_base("h", "2"), INFLIGHT],
            [hudi_base("i", "3"), DONE, hudi_done(step=2)],
        ),
        [wrong("1 2@2 3", (GHOST, WRITER)), wrong("1", (LOST, READER))],
    ),
    Case(
        *hudi(
            "a write that was refused is on the timeline as completed",
            "insert 1; insert 2; insert 3",
            [hudi_base("g", "1"), DONE],
            [hudi_base("h", "2"), INFLIGHT],
            [hudi_base("i", "3"), DONE, hudi_done(step=2)],
        ),
        [wrong("1 2 3", (GHOST, WRITER)), wrong("1 2", (GHOST, WRITER), (LOST, READER))],
        frozenset({2}),
    ),
]


def delta(name: str, story: str, *steps: Sequence[Action]) -> Head:
    return name, "delta", story, [[delta_commit()], *steps]


DELTA: Final = [
    Case(
        *delta(
            "a deletion vector is there, and a reader does not see it",
            "insert 1,2; delete 2",
            [delta_data("a", "1 2"), delta_commit(added("a"))],
            [delta_commit(removed("a"), added("a", vector(1)))],
        ),
        [right("1"), wrong("1 2@1", (GHOST, READER)), wrong("", (LOST, READER))],
    ),
    Case(
        *delta(
            "a file is removed without its deletion vector, and stays",
            "insert 1,2; delete 2; truncate",
            [delta_data("a", "1 2"), delta_commit(added("a"))],
            [delta_commit(removed("a"), added("a", vector(1)))],
            [delta_commit(removed("a"))],
        ),
        [wrong("1@1", (GHOST, WRITER)), wrong("1@1 2@1", (GHOST, WRITER), (GHOST, READER))],
    ),
    Case(
        *delta(
            "a file that was rewritten is not removed",
            "insert 1,2; delete 2",
            [delta_data("a", "1 2"), delta_commit(added("a"))],
            [delta_data("b", "1"), delta_commit(added("b"))],
        ),
        [wrong("1 1 2@1", (FindingKind.DUPLICATE, WRITER), (GHOST, WRITER)), right("1")],
    ),
    Case(
        *delta(
            "a file that a reader takes away is live",
            "insert 1,2; delete 2; insert 3",
            [delta_data("a", "1 2"), delta_commit(added("a"))],
            [delta_data("b", "1"), delta_commit(removed("a"), added("b"))],
            [delta_data("c", "3"), delta_commit(added("c"))],
        ),
        [right("1 3"), wrong("3", (LOST, READER)), wrong("1 2@1 3", (GHOST, READER))],
    ),
    Case(
        *delta(
            "a commit does not name its file",
            "insert 1; insert 2",
            [delta_data("a", "1"), delta_commit(added("a"))],
            [delta_data("b", "2"), delta_commit()],
        ),
        [wrong("1", (LOST, WRITER)), wrong("2", (LOST, READER))],
    ),
    Case(
        *delta(
            "a deletion vector has another row",
            "insert 1,2; delete 2",
            [delta_data("a", "1 2"), delta_commit(added("a"))],
            [delta_commit(removed("a"), added("a", vector(0)))],
        ),
        [wrong("2@1", (LOST, WRITER), (GHOST, WRITER)), right("1")],
    ),
    Case(
        *delta(
            "a file is there that no commit names",
            "insert 1; fail 2",
            [delta_data("a", "1"), delta_commit(added("a"))],
            [delta_data("b", "2")],
        ),
        [right("1"), wrong("1 2", (GHOST, READER))],
    ),
    Case(
        *delta(
            "the commit of a write that was killed is there",
            "insert 1; fail 2; insert 3",
            [delta_data("a", "1"), delta_commit(added("a"))],
            [delta_data("b", "2")],
            [delta_data("c", "3"), delta_commit(added("b")), delta_commit(added("c"))],
        ),
        [wrong("1 2@2 3", (GHOST, WRITER)), right("1 3")],
    ),
    Case(
        *delta(
            "the file of a write that was refused is named by no commit",
            "insert 1; insert 2; insert 3",
            [delta_data("a", "1"), delta_commit(added("a"))],
            [delta_data("b", "2")],
            [delta_data("c", "3"), delta_commit(added("c"))],
        ),
        [right("1 3"), wrong("1 2 3", (GHOST, READER))],
        frozenset({2}),
    ),
]


def iceberg(name: str, story: str, *steps: Sequence[Action]) -> Head:
    return name, "iceberg", story, [(), *steps]


ONE, TWO = "data/one", "data/two"
INSERTED: Final = (iceberg_data("one", "1 2"), iceberg_commit(Entry(ONE, partition=1)))
POSITIONS, VALUES = 1, 2
DELETED: Final = (
    iceberg_deletes("d", (ONE, 1)),
    iceberg_commit(Entry("data/d", POSITIONS, partition=1)),
)
ICEBERG: Final = [
    Case(
        *iceberg(
            "a delete file applies, and a reader does not see it",
            "insert 1,2; delete 2",
            INSERTED,
            [
                iceberg_deletes("d", (ONE, 1)),
                iceberg_commit(Entry("data/d", POSITIONS, partition=1)),
            ],
        ),
        [
            right("1"),
            wrong("1 2@1", (GHOST, READER)),
            wrong("2@1", (LOST, READER), (GHOST, READER)),
        ],
    ),
    Case(
        *iceberg(
            "a delete file is of another partition than the rows that it deletes",
            "insert 1,2; delete 2",
            INSERTED,
            [
                iceberg_deletes("d", (ONE, 1)),
                iceberg_commit(Entry("data/d", POSITIONS, partition=2)),
            ],
        ),
        [
            wrong("1 2@1", (GHOST, WRITER)),
            right("1"),
            wrong("2@1", (LOST, READER), (GHOST, WRITER)),
        ],
    ),
    Case(
        *iceberg(
            "a delete file is said to be about another data file than its rows",
            "insert 1,2; delete 2",
            INSERTED,
            [
                iceberg_deletes("d", (ONE, 1)),
                iceberg_commit(Entry("data/d", POSITIONS, partition=1, only=TWO)),
            ],
        ),
        [wrong("1 2@1", (GHOST, WRITER))],
    ),
    Case(
        *iceberg(
            "a delete file is of another spec than the rows that it deletes",
            "insert 1,2; delete 2",
            INSERTED,
            [
                iceberg_deletes("d", (ONE, 1)),
                iceberg_commit(Entry("data/d", POSITIONS, partition=1), spec=1),
            ],
        ),
        [wrong("1 2@1", (GHOST, WRITER))],
    ),
    Case(
        *iceberg(
            "deletes by value have the sequence number of the rows that they should delete",
            "insert 1,2; delete 2",
            INSERTED,
            [
                iceberg_values("d", "2"),
                iceberg_commit(Entry("data/d", VALUES, partition=1, sequence=1)),
            ],
        ),
        [wrong("1 2@1", (GHOST, WRITER)), right("1")],
    ),
    Case(
        *iceberg(
            "deletes by value apply to older rows alone, and a reader takes a newer one away",
            "insert 1,2; delete 2; upsert 2",
            INSERTED,
            [iceberg_values("d", "2"), iceberg_commit(Entry("data/d", VALUES, partition=1))],
            [iceberg_data("two", "2"), iceberg_commit(Entry(TWO, partition=1))],
        ),
        [right("1@1 2"), wrong("1@1", (LOST, READER)), wrong("1@1 2@1", (STALE, READER))],
    ),
    Case(
        *iceberg(
            "a deletion vector lacks what a delete file of before had of its rows",
            "insert 1,2,3; delete 2; delete 3",
            [iceberg_data("one", "1 2 3"), iceberg_commit(Entry(ONE, partition=1))],
            [
                iceberg_deletes("d", (ONE, 1)),
                iceberg_commit(Entry("data/d", POSITIONS, partition=1)),
            ],
            [
                iceberg_vector("v", 2),
                iceberg_commit(Entry("data/v", POSITIONS, partition=1, vector_of=ONE)),
            ],
        ),
        [wrong("1@1 2@1", (GHOST, WRITER)), wrong("1@1 3@1", (GHOST, READER))],
    ),
    Case(
        *iceberg(
            "a deletion vector has all, and a reader goes by the delete file of before",
            "insert 1,2,3; delete 2; delete 3",
            [iceberg_data("one", "1 2 3"), iceberg_commit(Entry(ONE, partition=1))],
            [
                iceberg_deletes("d", (ONE, 1)),
                iceberg_commit(Entry("data/d", POSITIONS, partition=1)),
            ],
            [
                iceberg_vector("v", 1, 2),
                iceberg_commit(Entry("data/v", POSITIONS, partition=1, vector_of=ONE)),
            ],
        ),
        [right("1@1"), wrong("1@1 3@1", (GHOST, READER))],
    ),
    Case(
        *iceberg(
            "a manifest says that a file is no longer there, and its rows were not deleted",
            "insert 1,2; insert 3",
            INSERTED,
            [
                iceberg_data("two", "3"),
                iceberg_commit(
                    Entry(TWO, partition=1),
                    Entry(ONE, partition=1, status=GONE, snapshot=2, sequence=1),
                    forget=True,
                ),
            ],
        ),
        [wrong("3", (LOST, WRITER)), wrong("", (LOST, WRITER), (LOST, READER))],
    ),
    Case(
        *iceberg(
            "a file is there that no manifest names",
            "insert 1,2; fail 3",
            INSERTED,
            [iceberg_data("two", "3")],
        ),
        [right("1 2"), wrong("1 2 3", (GHOST, READER))],
    ),
    Case(
        *iceberg(
            "a snapshot that waits is not the current one",
            "insert 1,2; begin insert 3",
            INSERTED,
            [iceberg_data("two", "3"), iceberg_commit(Entry(TWO, partition=1), staged=True)],
        ),
        [right("1 2"), wrong("1 2 3", (GHOST, READER))],
    ),
    Case(
        *iceberg(
            "the snapshot of a write that was killed is in what the current one has",
            "insert 1,2; fail 3; insert 4",
            INSERTED,
            [iceberg_data("two", "3")],
            [
                iceberg_data("three", "4"),
                iceberg_commit(
                    Entry("data/three", partition=1), Entry(TWO, 0, 1, 3, 3, partition=1)
                ),
            ],
        ),
        [wrong("1@1 2@1 3@2 4", (GHOST, WRITER)), right("1@1 2@1 4")],
    ),
]


def hive(name: str, story: str, *steps: Sequence[Action]) -> Head:
    return name, "hive-acid", story, [(), *steps]


BOTH: Final = (hive_delta("1 2"), hive_ids(1))
SECOND: Final = ((1, 1),)
HIVE: Final = [
    Case(
        *hive(
            "a deletion is committed, and a reader does not see it",
            "insert 1,2; delete 2",
            BOTH,
            [hive_delta(gone=SECOND), hive_ids(2)],
        ),
        [right("1"), wrong("1 2@1", (GHOST, READER))],
    ),
    Case(
        *hive("a write has no deletions", "insert 1,2; delete 2", BOTH, [hive_ids(2)]),
        [wrong("1 2@1", (GHOST, WRITER))],
    ),
    Case(
        *hive(
            "a write that was answered with no error was aborted",
            "insert 1,2; delete 2",
            BOTH,
            [hive_delta(gone=SECOND), hive_ids(2, aborted=[2])],
        ),
        [wrong("1 2@1", (GHOST, WRITER)), right("1")],
    ),
    Case(
        *hive(
            "deletions have a number that the table has not given yet",
            "insert 1,2; delete 2",
            BOTH,
            [hive_delta(gone=SECOND, number=3), hive_ids(2)],
        ),
        [wrong("1 2@1", (GHOST, WRITER))],
    ),
    Case(
        *hive(
            "a deletion is of another row",
            "insert 1,2; delete 2",
            BOTH,
            [hive_delta(gone=[(1, 0)]), hive_ids(2)],
        ),
        [wrong("2@1", (LOST, WRITER), (GHOST, WRITER)), right("1")],
    ),
    Case(
        *hive(
            "a deletion is of a row of another write",
            "insert 1,2; delete 2",
            BOTH,
            [hive_delta(gone=[(2, 1)]), hive_ids(2)],
        ),
        [wrong("1 2@1", (GHOST, WRITER))],
    ),
    *(
        Case(
            *hive(
                f"the rows of a transaction that is {ended} are shown",
                "insert 1,2; fail 3",
                BOTH,
                [hive_delta("3"), ids],
            ),
            [right("1 2"), wrong("1 2 3", (GHOST, READER))],
        )
        for ended, ids in (
            ("aborted", hive_ids(2, aborted=[2])),
            ("open", hive_ids(2, open_=[2])),
            ("of the future", hive_ids(1)),
        )
    ),
    Case(
        *hive(
            "the transaction of a writer that was killed is committed",
            "insert 1,2; fail 3; insert 4",
            BOTH,
            [hive_delta("3"), hive_ids(2, open_=[2])],
            [hive_delta("4"), hive_ids(3)],
        ),
        [wrong("1 2 3@2 4", (GHOST, WRITER)), right("1 2 4")],
    ),
]


EVERY: Final = [*HUDI, *DELTA, *ICEBERG, *HIVE]


@pytest.mark.parametrize("case", EVERY, ids=lambda case: f"{case.format}: {case.name}")
def test_each_is_blamed_for_what_it_did(case: Case, tmp_path: Path) -> None:
    verdicts = verdicts_on(case, tmp_path / "t")
    actual = [(verdict.verdict, blamed(verdict)) for verdict in verdicts]
    due = [(WRONG if findings else RIGHT, findings) for _, _, findings in case.shown]
    assert actual == due, [verdict.because for verdict in verdicts]


def test_who_reads_files_that_were_replaced_is_no_witness_of_rows_that_were_lost_in_them(
    tmp_path: Path,
) -> None:
    case = next(case for case in HUDI if "replaced before" in case.name)
    recorded, (sound, with_replaced) = answered(case, tmp_path / "t")
    without_ghost = replace(with_replaced, rows=sound.rows + with_replaced.rows[-1:])
    actual = [
        [blamed(verdict) for verdict in judged(recorded, replies)]
        for replies in ([sound, with_replaced], [sound, without_ghost])
    ]
    assert actual == [[{(LOST, WRITER)}, {(GHOST, READER)}], [{(LOST, UNSURE)}, set()]]
