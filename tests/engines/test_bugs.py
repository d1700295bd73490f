"""Defects of public trackers that a write brings about: which version of Hudi has which."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.records import OutcomeKind
from harness.plan import Writer, scenarios_folder
from harness.scenario import load
from harness.scenario.definition import Scenario
from harness.write import write_variants
from harness.write.send_step import WriterFor
from harness.write.state_records import VariantResult
from harness.write.writer_pool import WriteTarget
from tests.engines.test_writers import NEW, NEWEST, OLD, planned

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

MERGED = 3
"""The step of `bugs/partial_merge` that sets the key and one column of a row."""
DROPPED = 3
"""The step of `bugs/add_after_drop` that drops a column; a rename and a new one follow."""


def scenario(name: str, **settings: str) -> Scenario:
    found = load.load(scenarios_folder() / "bugs" / f"{name}.yaml")
    only = {each: (value,) for each, value in settings.items()}
    return replace(found, settings={**found.settings, **only})


def written(
    what: Scenario, name: str, writer: str, writer_for: WriterFor, place: WriteTarget
) -> VariantResult:
    return write_variants.write_variant(planned(what, name, Writer(writer)), place, writer_for)


@pytest.mark.parametrize(
    ("writer", "refused"), [(OLD, ()), (NEW, ()), (NEWEST, (2, 4, 6))], ids=[OLD, NEW, NEWEST]
)
@pytest.mark.parametrize("name", ["hudi-cow", "hudi-mor"])
def test_a_drop_that_is_refused_can_stand_in_the_way_of_later_writes(
    name: str, writer: str, refused: tuple[int, ...], writer_for: WriterFor, place: WriteTarget
) -> None:
    records = written(scenario("refused_drop"), name, writer, writer_for, place).records
    kinds = [each.outcome.kind for each in records]
    assert tuple(at for at, each in enumerate(kinds) if each is not OutcomeKind.APPLIED) == refused


@pytest.mark.parametrize("writer", [NEW, NEWEST])
@pytest.mark.parametrize("index", ["global_simple", "global_bloom"])
def test_a_merge_of_one_column_loses_the_others_under_a_global_index(
    writer: str, index: str, writer_for: WriterFor, place: WriteTarget
) -> None:
    found = written(scenario("partial_merge", index=index), "hudi-mor", writer, writer_for, place)
    record = found.records[MERGED]
    assert record.outcome.kind is OutcomeKind.APPLIED
    rows = [(each.columns, row) for each in record.values for row in each.rows]
    merged = [dict(zip(columns, row, strict=True)) for columns, row in rows]
    (row,) = (each for each in merged if each["id"] == 2 and each["ts"] == 203002)
    assert (row["f1"], row["f3"], row["p"]) == (None, None, None)


@pytest.mark.parametrize("writer", [NEW, NEWEST])
def test_a_merge_of_one_column_writes_that_column_alone_under_another_index(
    writer: str, writer_for: WriterFor, place: WriteTarget
) -> None:
    found = written(
        scenario("partial_merge", index="simple"), "hudi-mor", writer, writer_for, place
    )
    record = found.records[MERGED]
    assert record.outcome.kind is OutcomeKind.APPLIED
    assert any("holds updated columns alone" in each.unread for each in record.values)


@pytest.mark.parametrize("writer", [OLD, NEW, NEWEST])
@pytest.mark.parametrize("name", ["hudi-cow", "hudi-mor"])
def test_the_history_of_a_schema_gives_an_id_again(
    name: str, writer: str, writer_for: WriterFor, place: WriteTarget
) -> None:
    records = written(scenario("add_after_drop"), name, writer, writer_for, place).records
    assert {each.outcome.kind for each in records} == {OutcomeKind.APPLIED}
    kept = [each.schema_history for each in records[DROPPED : DROPPED + 3]]
    assert [set(each.former_names) for each in kept if each] == [
        set(),
        {("g", "f1")},
        {("g", "f1"), ("f3", "f2")},
    ]
