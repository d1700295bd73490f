from __future__ import annotations

import struct

import pytest

from harness.core.records import (
    Answer,
    FindingKind,
    Origin,
    Part,
    Refusal,
    Verdict,
    Witness,
)
from harness.core.refusals import OTHER_TYPE
from harness.model.simulation.strategies import ColumnMapping
from harness.model.simulation.value_conversions import cut
from tests.builders.judged_story import COUNTED, READER, answer_of, case_of, verdict_on
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import Story, history

COLUMNS = "id string, a string, b string, c string, d string, e string, f string"
TOLD = history("insert 1,2; insert 3", COLUMNS)
META_NAMES = (
    "_hoodie_commit_time",
    "_hoodie_commit_seqno",
    "_hoodie_record_key",
    "_hoodie_partition_path",
    "_hoodie_file_name",
)


def read(story: Story = TOLD, **how: object) -> Reply:
    return story.read("position", meta_counts=True, **how)


def judged(story: Story, answer: Answer, *, bare: bool = True, reader: str = READER) -> Verdict:
    return verdict_on(case_of(story, bare=bare), answer, reader=reader)


def places(verdict: Verdict) -> dict[tuple[str, str], Witness]:
    return {
        (witness.key, witness.column): witness for one in verdict.findings for witness in one.places
    }


def test_each_value_is_misaligned_and_says_whose_it_is() -> None:
    verdict = judged(TOLD, answer_of(read()))
    assert {finding.kind for finding in verdict.findings} == {FindingKind.MISALIGNED}
    assert verdict.reproduces == (ColumnMapping.COUNTED,) == (COUNTED,)
    found = places(verdict)
    assert {key for key, _ in found} == {"1", "2", "3"}
    whose = [found["2", name].origin for name in ("id", "a", "b", "c", "d")]
    assert whose == [Origin(-at, n, 1, "2") for at, n in enumerate(META_NAMES, start=1)]
    assert found["2", "e"].origin == Origin(1, "id", 1, "2")
    assert (found["3", "b"].actual, found["3", "b"].origin) == (
        "3",
        Origin(-3, META_NAMES[2], 2, "3"),
    )
    assert found["3", "d"].file == found["3", "d"].actual


def test_nothing_is_claimed_where_the_catalog_lists_the_meta_columns() -> None:
    verdict = judged(TOLD, answer_of(read()), bare=False)
    assert verdict.reproduces == ()
    assert FindingKind.UNEXPLAINED in {finding.kind for finding in verdict.findings}


def part(reply: Reply, *names: str) -> Part:
    at = [reply.names.index(name) for name in names]
    rows = tuple(tuple(row[index] for index in at) for row in reply.rows)
    return Part(names[-1], "select", tuple(reply.columns[index] for index in at), rows)


def test_columns_asked_alone_are_told_as_well() -> None:
    reply = read()
    parts = (part(reply, "id"), part(reply, "id", "b"), part(reply, "id", "e"))
    verdict = judged(TOLD, Answer("", "select", refusal=Refusal("Error", "no"), parts=parts))
    cells = {at: each.origin and each.origin.field_id for at, each in places(verdict).items()}
    assert {cells["1", "id"], cells["1", "b"], cells["1", "e"]} == {-1, -3, 1}


def test_a_refusal_for_a_type_that_only_counting_meets_says_so() -> None:
    story = history("insert 1,2", "id string, a long, b string")
    refused = Answer(
        "", "select", refusal=Refusal("GENERIC_INTERNAL_ERROR", "io.trino.spi.type.BigintType")
    )
    assert judged(story, refused).because == f"read {COUNTED}: {OTHER_TYPE}"
    assert judged(story, refused, bare=False).because == OTHER_TYPE


NUMBERS = "id string, ts long, a date, b int, c float, d long"


def stored(story: Story, name: str, *values: object) -> Answer:
    keys = tuple(column for column in story.read().columns if column.name in {"id", name})
    rows = tuple((str(key), value) for key, value in enumerate(values, start=1))
    alone = Part(name, "select", keys, rows)
    return Answer("", "select", refusal=Refusal("Error", "no"), parts=(alone,))


def called(verdict: Verdict, column: str) -> FindingKind:
    (kind,) = {one.kind for one in verdict.findings for p in one.places if p.column == column}
    return kind


def test_a_value_that_is_shown_as_it_is_stored_tells_whose_it_is() -> None:
    story = history("insert 1,2; move c after d", NUMBERS)
    bits = [struct.unpack("<i", struct.pack("<f", story.truth.rows[k].values[5]))[0] for k in "12"]
    verdict = judged(story, stored(story, "d", *bits), bare=False)
    assert called(verdict, "d") == FindingKind.MISALIGNED
    assert places(verdict)["2", "d"].origin == Origin(5, "c", 1, "2")


PRESTODB = "prestodb-0.283{connector=hive}"
EARLY = "row id=1 ts=1 a=1969-12-31T23:59:59.123456 b=1960-01-01T00:00:00.000001; move a after b"


@pytest.mark.parametrize(
    ("by", "kind", "whose"),
    [("position", FindingKind.MISALIGNED, "b"), ("name", FindingKind.ALTERED_VALUE, None)],
)
def test_what_is_cut_otherwise_than_is_declared_tells_by_the_way_whose_it_is(
    by: str, kind: FindingKind, whose: str | None
) -> None:
    story = history(EARLY, "id string, ts long, a timestamp, b timestamp")
    reply = story.read(by)
    shown = Reply(reply.columns, tuple(tuple(map(cut, row)) for row in reply.rows))
    verdict = judged(story, answer_of(shown), bare=False, reader=PRESTODB)
    assert f"by {by}, timestamps in milliseconds" in verdict.reproduces
    assert called(verdict, "a") == kind
    origin = places(verdict)["1", "a"].origin
    assert (origin and origin.name) == whose
