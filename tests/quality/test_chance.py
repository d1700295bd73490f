from __future__ import annotations

from collections.abc import Iterable

import pytest

from harness.model.canonical import Value, text_of
from harness.model.simulation.reader import Simulation
from harness.model.simulation.strategies import ColumnMapping, Logs, ReadStrategy
from tests.builders.random_story import story_of_seed
from tests.builders.simulated_disk import instant_of

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
