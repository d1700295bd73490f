"""What the judge may say of a value that fits two explanations, and what is no excuse."""

from __future__ import annotations

import pytest

from harness.record import FindingKind
from tests.quality.notation import history
from tests.quality.oracle import Oracle, Wrong
from tests.quality.shadow import Line, Seen
from tests.quality.survey import Excuse


@pytest.mark.parametrize(("step", "excused"), [(1, True), (3, False)])
def test_a_value_by_chance_is_stale_only_where_its_cell_held_it_at_an_older_step(
    step: int, *, excused: bool
) -> None:
    told = history("insert 1; upsert 1; upsert 1")
    column = told.truth.schema.find("f1")
    ((key, row),) = told.history[step].rows.items()
    found = row.values[column.id]
    line = Line(str(key), 2, "", (found,), (None,))
    place = Wrong((str(key), "f1"), frozenset({FindingKind.UNEXPLAINED}), found, column, None, line)
    oracle = Oracle(Seen(told, (), (line,), "as_of(2)"))
    assert Excuse(oracle, {}, {}).holds(place, FindingKind.STALE) is excused
