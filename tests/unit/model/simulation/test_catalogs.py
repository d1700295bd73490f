"""Which schemas of other steps a reader is tried with."""

from __future__ import annotations

from harness.model.simulation.catalog import CATALOGS, other_catalogs
from harness.model.simulation.strategies import ColumnMapping
from tests.builders.table_story import history


def test_later_schemas_are_tried_where_a_view_goes_back() -> None:
    truths = history("insert 1; drop f2; insert 2; add f3").history
    assert other_catalogs(truths[:2], truths[2:], ColumnMapping.ID) == (4, 2)
    assert other_catalogs(truths, (), ColumnMapping.ID) == (2, 0)


def test_a_schema_that_was_there_and_comes_again_is_tried_as_both() -> None:
    truths = history("add f3; insert 1; drop f3").history
    assert other_catalogs(truths[:3], truths[3:], ColumnMapping.NAME) == (3, 0)
    assert other_catalogs(truths, (), ColumnMapping.NAME) == (1,)


def test_the_order_of_columns_makes_another_schema_by_position_alone() -> None:
    truths = history("insert 1; move f1 after f2").history
    assert other_catalogs(truths[:2], truths[2:], ColumnMapping.ID) == ()
    assert other_catalogs(truths[:2], truths[2:], ColumnMapping.POSITION) == (2,)


def test_so_many_are_tried_on_either_side_and_no_more() -> None:
    before = [f"add c{at}" for at in range(CATALOGS + 3)]
    after = [f"add d{at}" for at in range(CATALOGS + 3)]
    truths = history("; ".join((*before, "insert 1", *after))).history
    middle = len(before) + 2
    found = other_catalogs(truths[:middle], truths[middle:], ColumnMapping.ID)
    assert sum(number < middle for number in found) == CATALOGS
    assert sum(number >= middle for number in found) == CATALOGS
