"""The figures on whom planted defects are blamed can fail, and say where."""

from __future__ import annotations

from dataclasses import replace

from harness.record import Party
from tests.quality.defects import DEFECTS
from tests.quality.parties import WRITER, Blamed, blamed, figures

SEEDS = range(8)


def test_only_the_right_party_alone_is_right() -> None:
    assert blamed({Party.WRITER}, Party.WRITER) is Blamed.RIGHT
    assert blamed(set(), Party.WRITER) is Blamed.INVISIBLE
    assert blamed({Party.WRITER, None}, Party.WRITER) is Blamed.NOBODY
    for found in (
        {Party.READER},
        {Party.READER, Party.WRITER},
        {Party.MODEL},
        {Party.READER, None},
    ):
        assert blamed(found, Party.WRITER) is Blamed.WRONG


def test_a_defect_that_is_another_partys_than_its_name_says_is_a_miss_with_its_seed() -> None:
    reader = DEFECTS["columns by position"]
    right, none = figures(reader, SEEDS)
    assert right[Blamed.RIGHT] > 0
    assert none == []
    wrong, misses = figures(replace(reader, name=f"{WRITER}it was none"), SEEDS)
    assert wrong[Blamed.WRONG] == len(misses) > 0
    assert misses[0].endswith("blamed on reader, not on the writer")
