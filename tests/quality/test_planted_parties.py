"""A planted writer is called the writer or nobody for sure, a planted reader always the reader."""

from __future__ import annotations

import pytest

from harness.core.responsible import Responsible
from tests.quality.defects import DEFECTS
from tests.quality.parties import WRITER, parties, right_of

SEEDS = range(8)
WRITERS = [name for name in DEFECTS if name.startswith(WRITER)]
READERS = [name for name in DEFECTS if not name.startswith(WRITER)]


@pytest.mark.parametrize("name", WRITERS)
def test_what_a_writer_did_is_never_called_the_readers_doing(name: str) -> None:
    found = {seed: parties(DEFECTS[name], seed) for seed in SEEDS}
    allowed = {Responsible.WRITER, Responsible.UNSURE}
    assert {seed: each for seed, each in found.items() if each - allowed} == {}
    assert any(Responsible.WRITER in each for each in found.values())


@pytest.mark.parametrize("name", READERS)
def test_what_a_reader_did_is_never_called_the_writers_doing(name: str) -> None:
    found = {seed: parties(DEFECTS[name], seed) for seed in SEEDS}
    assert {seed: each for seed, each in found.items() if each - {right_of(DEFECTS[name])}} == {}
