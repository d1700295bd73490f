"""What is allowed instead of a name that nothing has."""

from __future__ import annotations

import pytest

from harness import formats
from harness.core.problems import one_of
from harness.scenario.operations import registry


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("mor", "'hudi-mor'"),
        ("COW", "'hudi-cow'"),
        ("parquet", "'hive-parquet'"),
        ("hudi", "'hudi-cow' or 'hudi-mor'"),
        ("iceburg", "'iceberg'"),
    ],
)
def test_a_part_of_a_name_is_taken_for_what_people_shorten(given: str, meant: str) -> None:
    assert one_of(given, formats.names()).startswith(f"did you mean {meant}? allowed: ")


@pytest.mark.parametrize("given", ["", "sqlite", "-"])
def test_nothing_is_guessed_where_nothing_is_near(given: str) -> None:
    assert one_of(given, formats.names()).startswith("allowed: ")


def test_a_part_of_many_names_is_no_guess() -> None:
    assert one_of("rename", registry()).startswith("did you mean 'rename_column'? ")
    assert "did you mean" not in one_of("x", [f"x-{number}" for number in range(4)])
