"""The catalog's lists of the columns of partitions, which a change of the table leaves as they are.

Who goes by them shows what they give: that is the doing of who left them so. Everything else that
such a reader shows is its own, and so is the same answer of who does not go by them.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest

from harness.core.records import (
    FindingKind,
    ListedColumns,
    PartitionColumns,
    Responsible,
    StateRecord,
    VerdictKind,
)
from harness.judge.recorded_variant import RecordedVariant
from harness.model.canonical import Value
from harness.model.file_facts import FileFact
from harness.model.query import Comparison, Condition, Query
from harness.model.simulation.column_resolution import META
from tests.builders.judged_story import answer_of, blamed, case_of, verdict_on, with_last
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import Story, history

COLUMNS: Final = "id string, ts long, f1 string, f2 string, p string"
READER, LISTS = Responsible.READER, Responsible.COLUMNS
HIVE, OTHER = "hive-3.1.3{path=fetch}", "trino-476"
NULL: Final = FindingKind.LOST_VALUE
BEFORE: Final = (("id", "string"), ("ts", "long"), ("f1", "string"), ("f2", "string"))


def table(change: str = "add f3 after ts") -> Story:
    """Two partitions of which the first alone has a list of before."""
    return history(f"insert 1; {change}; insert 2", COLUMNS, partition_by=("p",))


def recorded(
    story: Story, listed: ListedColumns | None = BEFORE, entry: str = "snapshot"
) -> RecordedVariant:
    """Return the records with the list of the first row's partition; None: records before lists."""
    case = case_of(story)
    states = tuple(replace(state, files=_in_folders(state)) for state in case.states)
    if listed is None:
        return replace(case, states=states)
    now = [(f.name, str(f.type)) for f in story.truth.schema.fields if f.name != "p"]
    lists = (PartitionColumns((entry,), tuple(now), ((listed, ("p1",)),)),) if listed else ()
    return with_last(replace(case, states=states), replace(states[-1], partition_columns=lists))


def _in_folders(state: StateRecord) -> tuple[FileFact, ...]:
    """Have each file in a folder, after the value of its partition: `p1/g1-p1_20240001.base`."""
    folder = (file.path.partition("-")[2].partition("_")[0] for file in state.files)
    return tuple(
        replace(file, path=f"{at}/{file.path}")
        for at, file in zip(folder, state.files, strict=True)
    )


def shown(story: Story, key: str, **instead: Value) -> Reply:
    """Return the right answer with other values in a row."""
    reply = story.read()
    by_name = [dict(zip(reply.names, row, strict=True)) for row in reply.rows]
    rows = [row | instead if row["id"] == key else row for row in by_name]
    return replace(reply, rows=tuple(tuple(row.values()) for row in rows))


def blamed_kinds(
    case: RecordedVariant, reply: Reply, reader: str = HIVE, query: Query | None = None
) -> set[tuple[FindingKind, Responsible | None]]:
    verdict = verdict_on(case, answer_of(reply, query), reader=reader)
    assert verdict.verdict is VerdictKind.WRONG
    return blamed(verdict)


@pytest.mark.parametrize(
    ("listed", "reader", "responsible"),
    [
        (BEFORE, HIVE, LISTS),
        (BEFORE, OTHER, READER),
        ((), HIVE, READER),
        (None, HIVE, None),
        (None, OTHER, READER),
    ],
)
def test_what_stands_beyond_the_list_of_a_partition_is_lost_by_who_left_it_so(
    listed: ListedColumns | None, reader: str, responsible: Responsible | None
) -> None:
    story = table()
    reply = shown(story, "1", f2=None)
    assert blamed_kinds(recorded(story, listed), reply, reader) == {(NULL, responsible)}


@pytest.mark.parametrize("listed", [BEFORE, None])
@pytest.mark.parametrize(
    ("key", "instead"), [("1", {"f1": None}), ("2", {"f2": None}), ("1", {"f1": None, "f2": "x"})]
)
def test_what_the_list_does_not_give_is_the_readers(
    listed: ListedColumns | None, key: str, instead: Mapping[str, Value]
) -> None:
    story = table()
    responsible = {
        who for _, who in blamed_kinds(recorded(story, listed), shown(story, key, **instead))
    }
    assert responsible == {READER}


def test_who_is_responsible_is_said_of_each_place() -> None:
    story = table()
    reply = shown(story, "1", f1=None, f2=None)
    assert blamed_kinds(recorded(story), reply) == {(NULL, LISTS), (NULL, READER)}


def test_the_list_of_another_entry_counts_for_nothing() -> None:
    story = table()
    case = recorded(story, entry="t_ro")
    assert blamed_kinds(case, shown(story, "1", f2=None)) == {(NULL, READER)}


def test_that_nothing_is_known_of_the_list_is_no_reason_where_the_columns_never_changed() -> None:
    story = history("insert 1; upsert 1", COLUMNS, partition_by=("p",))
    assert blamed_kinds(recorded(story, None), shown(story, "1", f2=None)) == {(NULL, READER)}


def test_nobody_is_named_where_a_rename_explains_it_as_well() -> None:
    story = history(
        "insert 1; add f3 after ts; rename f2 g; insert 2", COLUMNS, partition_by=("p",)
    )
    case = recorded(story)
    assert blamed_kinds(case, shown(story, "1", g=None)) == {(FindingKind.MISSING_RENAME, None)}
    assert blamed_kinds(case, shown(story, "2", g=None)) == {(NULL, READER)}


def test_hudis_columns_that_the_table_lists_and_a_partition_does_not_hide_as_many() -> None:
    story = table("add f3")
    case = recorded(story, BEFORE)
    (lists,) = case.states[-1].partition_columns or ()
    lists = replace(lists, table=(*((name, "string") for name in list(META)[:2]), *lists.table))
    case = with_last(case, replace(case.states[-1], partition_columns=(lists,)))
    assert blamed_kinds(case, shown(story, "1", f1=None, f2=None)) == {(NULL, LISTS)}
    assert blamed_kinds(case, shown(story, "1", ts=None)) == {(NULL, READER)}


def test_nobody_is_named_for_a_value_that_passes_through_another_type() -> None:
    story = table()
    listed = (*BEFORE[:2], ("f3", "string"), ("f1", "int"), ("f2", "string"))
    case = recorded(story, listed)
    for value in (None, "7"):
        assert {who for _, who in blamed_kinds(case, shown(story, "1", f1=value))} == {None}
    assert blamed_kinds(case, shown(story, "1", f2=None)) == {(NULL, READER)}


NULLS: Final = Condition("f2", Comparison.NULL)


@pytest.mark.parametrize(
    ("listed", "count", "responsible"),
    [(BEFORE, 1, LISTS), (BEFORE, 2, READER), ((), 1, READER), (None, 1, None), (None, 2, READER)],
)
def test_a_count_is_the_lists_where_they_give_just_that_number(
    listed: ListedColumns | None, count: int, responsible: Responsible | None
) -> None:
    story = table()
    query = Query(where=NULLS, count=True)
    reply = replace(story.read(), columns=story.read().columns[:1], rows=((count,),))
    reply = replace(reply, columns=(replace(reply.columns[0], name=query.label, type="bigint"),))
    case = recorded(story, listed)
    assert {who for _, who in blamed_kinds(case, reply, query=query)} == {responsible}
