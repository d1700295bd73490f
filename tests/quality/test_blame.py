"""The figures on whom planted defects are blamed can fail, and say where."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.responsible import Responsible
from tests.quality import own_mistakes
from tests.quality.defects import DEFECTS
from tests.quality.own_mistakes import OWN
from tests.quality.parties import (
    MAPPED,
    WRITER,
    Blamed,
    Mapped,
    blamed,
    figures,
    mapped,
    verdict_of,
)

SEEDS = range(8)


def test_only_the_right_party_alone_is_right() -> None:
    assert blamed({Responsible.WRITER}, Responsible.WRITER) is Blamed.RIGHT
    assert blamed(set(), Responsible.WRITER) is Blamed.INVISIBLE
    assert blamed({Responsible.WRITER, None}, Responsible.WRITER) is Blamed.NOBODY
    assert blamed({Responsible.WRITER, Responsible.UNSURE}, Responsible.WRITER) is Blamed.UNSURE
    assert blamed({Responsible.READER, Responsible.UNSURE}, Responsible.READER) is Blamed.WRONG
    for found in (
        {Responsible.READER},
        {Responsible.READER, Responsible.WRITER},
        {Responsible.MODEL},
        {Responsible.READER, None},
    ):
        assert blamed(found, Responsible.WRITER) is Blamed.WRONG


def test_a_defect_that_is_another_partys_than_its_name_says_is_a_miss_with_its_seed() -> None:
    reader = DEFECTS["columns by position"]
    right, none = figures(reader, SEEDS)
    assert right[Blamed.RIGHT] > 0
    assert none == []
    wrong, misses = figures(replace(reader, name=f"{WRITER}it was none"), SEEDS)
    assert wrong[Blamed.WRONG] == len(misses) > 0
    assert misses[0].endswith("blamed on reader, not on the writer")


@pytest.mark.parametrize("name", MAPPED)
def test_a_planted_way_of_reading_is_named_or_among_those_that_fit(name: str) -> None:
    counts, misses = figures(DEFECTS[name], SEEDS)
    assert misses == []
    assert counts[Mapped.NAMED] + counts[Mapped.SEVERAL] > 0
    assert counts[Mapped.NONE] == counts[Mapped.OTHER] == 0


def test_a_way_that_is_not_claimed_does_not_count_as_named() -> None:
    by_name = DEFECTS["columns by name"]
    seed = next(s for s in SEEDS if figures(by_name, [s])[0][Mapped.NAMED])
    verdict = verdict_of(by_name, seed)
    assert verdict is not None
    assert mapped(by_name, replace(verdict, scant=True)) is Mapped.LITTLE


def test_another_way_than_the_planted_one_is_a_miss() -> None:
    seed = next(s for s in SEEDS if figures(DEFECTS["columns by name"], [s])[0][Mapped.NAMED])
    verdict = verdict_of(DEFECTS["columns by name"], seed)
    assert mapped(DEFECTS["columns by name"], verdict) is Mapped.NAMED
    assert mapped(DEFECTS["columns by position"], verdict) is Mapped.OTHER


@pytest.mark.parametrize("name", OWN)
def test_nobody_is_blamed_for_a_mistake_of_our_own(name: str) -> None:
    counts, misses = own_mistakes.figures(name, SEEDS)
    assert (counts["nobody"], misses) == (len(SEEDS), [])


def test_blame_for_a_mistake_of_our_own_is_a_miss_with_its_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = "own: a rule of conversion, one engine asked"
    ask, _, kind = OWN[name]
    monkeypatch.setattr(own_mistakes, "OWN", {name: (ask, Responsible.WRITER, kind)})
    counts, misses = own_mistakes.figures(name, [3])
    assert (counts["somebody"], misses) == (1, [f"{name}, seed 3: somebody is blamed"])
