"""Defects of public trackers that a write brings about: which version of Hudi has which."""

from dataclasses import replace

import pytest

from harness.core.records import OutcomeKind
from harness.scenario.definition import Scenario
from tests.engines.hudi_writers import NEW, NEWEST, OLD, Write, both_formats, every_writer
from tests.engines.planned_run import shipped

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

MERGED = 3
"""The step of `bugs/partial_merge` that sets the key and one column of a row."""
DROPPED = 3
"""The step of `bugs/add_after_drop` that drops a column; a rename and a new one follow."""


def bug(name: str, **settings: str) -> Scenario:
    (result,) = shipped(f"bugs/{name}")
    only = {setting: (value,) for setting, value in settings.items()}
    return replace(result, settings={**result.settings, **only})


@pytest.mark.parametrize(
    ("writer", "refused"), [(OLD, ()), (NEW, ()), (NEWEST, (2, 4, 6))], ids=[OLD, NEW, NEWEST]
)
@both_formats
def test_a_drop_that_is_refused_can_stand_in_the_way_of_later_writes(
    name: str, writer: str, refused: tuple[int, ...], write: Write
) -> None:
    records = write(bug("refused_drop"), name, writer).records
    kinds = [record.outcome.kind for record in records]
    assert tuple(at for at, kind in enumerate(kinds) if kind is not OutcomeKind.APPLIED) == refused


@pytest.mark.parametrize("writer", [NEW, NEWEST])
@pytest.mark.parametrize("index", ["global_simple", "global_bloom"])
def test_a_merge_of_one_column_loses_the_others_under_a_global_index(
    writer: str, index: str, write: Write
) -> None:
    result = write(bug("partial_merge", index=index), "hudi-mor", writer)
    record = result.records[MERGED]
    assert record.outcome.kind is OutcomeKind.APPLIED
    rows = [(value.columns, row) for value in record.values for row in value.rows]
    merged = [dict(zip(columns, row, strict=True)) for columns, row in rows]
    (row,) = (row_ for row_ in merged if row_["id"] == 2 and row_["ts"] == 203002)
    assert (row["f1"], row["f3"], row["p"]) == (None, None, None)


@pytest.mark.parametrize("writer", [NEW, NEWEST])
def test_a_merge_of_one_column_writes_that_column_alone_under_another_index(
    writer: str, write: Write
) -> None:
    result = write(bug("partial_merge", index="simple"), "hudi-mor", writer)
    record = result.records[MERGED]
    assert record.outcome.kind is OutcomeKind.APPLIED
    assert any(file.partial for file in record.files)
    assert not any(value.unread for value in record.values)


@every_writer
@both_formats
def test_the_history_of_a_schema_gives_an_id_again(name: str, writer: str, write: Write) -> None:
    records = write(bug("add_after_drop"), name, writer).records
    assert {record.outcome.kind for record in records} == {OutcomeKind.APPLIED}
    histories = [record.schema_history for record in records[DROPPED : DROPPED + 3]]
    assert [set(history.former_names) for history in histories if history] == [
        set(),
        {("g", "f1")},
        {("g", "f1"), ("f3", "f2")},
    ]
