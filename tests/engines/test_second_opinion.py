"""Each shipped scenario in each of its formats, written, and read by a library that is not ours."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.run import load_run, plan_record
from tests.builders.model_errors import PLANTED, Plant
from tools import second_opinion

pytestmark = [pytest.mark.engines, pytest.mark.nightly, pytest.mark.alone]

LEAST: Final[Mapping[str, float]] = {
    "iceberg": 0.9, "delta": 0.9, "hudi-cow": 0.6, "hudi-mor": 0.6, "hive-parquet": 0.8,
    "hive-orc": 0.8,
}  # fmt: skip
"""Of the states of a format, the share that must have a second opinion."""


@pytest.fixture(scope="module")
def folder(cache: Cache, progress: Progress, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("second_opinion")
    planned = second_opinion.shipped(second_opinion.READERS)
    second_opinion.write(planned, made, cache, progress)
    second_opinion.save(second_opinion.ask(load_run.recorded(made), cache), made)
    return made


@pytest.fixture(autouse=True)
def evaluated_anew() -> Iterator[None]:
    plan_record._scenario.cache_clear()
    yield
    plan_record._scenario.cache_clear()


def test_most_states_have_a_second_opinion_and_every_difference_is_explained(folder: Path) -> None:
    states, every = second_opinion.compared([folder])
    assert list(second_opinion.unexplained(every)) == []
    for format_name, least in LEAST.items():
        there = [
            one
            for one in every
            if one.has_opinion and one.variant.format == format_name and one.opinion.past is None
        ]
        assert len(there) >= least * states[format_name], format_name


@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)
def test_an_error_of_the_model_is_noticed(
    plant: Plant, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert second_opinion.disagrees(folder)
