"""What the judge may say of a value that fits two explanations, and what is no excuse."""

from __future__ import annotations

import datetime

import pytest

from harness.core.records import FindingKind
from harness.model.canonical import Value
from tests.builders.table_story import history
from tests.builders.traced_answer import Line, Seen
from tests.quality import survey
from tests.quality.defects import DEFECTS
from tests.quality.oracle import Oracle, Wrong
from tests.quality.survey import Excuse

EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001


@pytest.mark.parametrize(("step", "excused"), [(1, True), (3, False)])
def test_a_value_by_chance_is_stale_only_where_its_cell_held_it_at_an_older_step(
    step: int, *, excused: bool
) -> None:
    story = history("insert 1; upsert 1; upsert 1")
    column = story.truth.schema.find("f1")
    ((key, row),) = story.history[step].rows.items()
    found = row.values[column.id]
    line = Line(str(key), 2, "", (found,), (None,))
    place = Wrong((str(key), "f1"), frozenset({FindingKind.UNEXPLAINED}), found, column, None, line)
    oracle = Oracle(Seen(story, (), (line,), "as_of(2)"))
    assert Excuse(oracle, {}, {}).holds(place, FindingKind.STALE) is excused


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        # A column that became NULL in a later step and was dropped: its NULL of now, or lost.
        ("as of a step: values of now under the columns of then", 57),
        # A microsecond before 1970: -1 in another type.
        ("as of a step: columns by position", 213),
        # An entry that the map of that step did not have in this column either.
        ("log files ignored, by name", 93),
        # A part of a text that may be its own, cut.
        ("as of a step: columns by position", 191),
    ],
)
def test_what_fits_two_explanations_may_be_told_as_either(name: str, seed: int) -> None:
    assert survey.judge(DEFECTS[name], seed).result is survey.Result.UNDECIDABLE


@pytest.mark.parametrize(
    ("found", "few"),
    [
        (EPOCH - datetime.timedelta(microseconds=1), True),
        (EPOCH + datetime.timedelta(milliseconds=1), True),
        (EPOCH + datetime.timedelta(milliseconds=2), False),
        (EPOCH.date() - datetime.timedelta(days=1), True),
        (EPOCH.date() + datetime.timedelta(days=2), False),
        (7, False),
    ],
)
def test_the_first_moments_and_days_of_1970_are_few_numbers_in_another_type(
    found: Value, *, few: bool
) -> None:
    assert survey.near_epoch(found) is few
