from __future__ import annotations

from dataclasses import replace

import pytest

from harness.plan import Writer
from harness.plan.handover import handovers
from harness.scenario.operations.api import Operation, ServiceMode
from harness.scenario.operations.columns import AddColumn, RenameColumn
from harness.scenario.operations.row_writes import Insert, Touch, Update
from harness.scenario.operations.services import Cluster, Compact
from tests.builders.scenarios import TEXT, scenario_of
from tests.unit.plan.test_axes import planned

WAITS, CLUSTERING_WAITS = Compact(ServiceMode.SCHEDULE), Cluster(ServiceMode.SCHEDULE)
UPDATE = Update((1,), ("f1",))
ADD, RENAME = AddColumn("f2", TEXT), RenameColumn("f1", "g")


@pytest.mark.parametrize(
    ("operations", "steps"),
    [
        ((Insert((1,)), Touch(), ADD, Touch(), RENAME, Touch(), Compact()), [3, 6]),
        ((Insert((1,)), RENAME, Touch()), [2, 3]),
        ((Insert((1,)), UPDATE, RENAME), [3]),
        ((Insert((1,)), UPDATE, WAITS, Touch(), Compact()), [4]),
        ((Insert((1,)), UPDATE, WAITS, RENAME, Touch()), [4, 5]),
        ((Insert((1,)), Insert((2,)), CLUSTERING_WAITS, RENAME, Cluster()), [4, 5]),
        ((Insert((1,)), Insert((2,)), UPDATE, Touch(), Compact()), [4]),
        ((Insert((1,)), Touch(), Compact()), [2]),
        # Before the first rows there is nothing to take over.
        ((ADD, Insert((1,)), Touch()), [3]),
        ((ADD, Insert((1,))), []),
    ],
)
def test_the_newer_writer_goes_on_where_it_meets_what_the_older_one_left(
    operations: tuple[Operation, ...], steps: list[int]
) -> None:
    assert [
        writer_sequence.at for writer_sequence in handovers(scenario_of(*operations), "a", "b")
    ] == steps


def test_the_writers_can_be_those_of_a_profile() -> None:
    scenario = scenario_of(Insert((1,)), RENAME, Touch())
    old = Writer("a", {"table_version": "6"}, axes={"rewrites": ("none",)})
    writer_sequences = handovers(scenario, old, "b")
    writers = tuple(writer_sequence.writer for writer_sequence in writer_sequences)
    other = replace(scenario, name="family/other")
    ids = [variant.id for variant in planned(scenario, other, writers=writers).variants]
    assert ids == [
        f"family/name[cow,rewrites=none,table_version=6]@{name}"
        for name in map(str, writer_sequences)
    ]
    assert ids[0].endswith("@a,step2:b")
