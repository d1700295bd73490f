"""Answers are kept by what gave them; a metastore that is not the usual one is part of it."""

from __future__ import annotations

from harness import engines
from harness.artifacts import distributions
from harness.core.metastore_choice import USUAL, MetastoreChoice
from harness.read.read_states import reader_digest
from harness.runtime import provide
from harness.scenario.cells import parse_reader

READER = parse_reader("trino-476{use-column-names=false}")


def test_the_usual_one_is_no_part_of_it() -> None:
    found = distributions.load(READER.distribution)
    parts = [provide.digest(found), engines.load("trino").ask_code(), list(READER.settings)]
    assert reader_digest(READER, USUAL) == distributions.digest_of(parts)


def test_each_other_one_and_each_upgrade_has_its_own() -> None:
    new, old = "hive-metastore-4.0.1", "hive-metastore-2.3.10"
    others = [
        *(MetastoreChoice(new), MetastoreChoice(old)),
        *(MetastoreChoice(new, old), MetastoreChoice(upgraded_from=old), USUAL),
    ]
    assert len({reader_digest(READER, each) for each in others}) == len(others)
