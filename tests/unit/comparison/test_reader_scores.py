from __future__ import annotations

from harness.comparison.cell_pairs import pairs
from harness.comparison.correspondence import Correspondence
from harness.comparison.reader_scores import reader_scores
from harness.core.records import VerdictKind
from tests.unit.comparison.sides import OTHER, READER, VARIANT, run, verdict

RIGHT, WRONG = VerdictKind.CORRECT, VerdictKind.WRONG


def test_each_reader_has_the_counts_of_both_sides() -> None:
    old = run(verdict(RIGHT, step=1, reader="trino-368"), verdict(RIGHT, reader="trino-368"))
    new = run(verdict(RIGHT, step=1), verdict(WRONG))
    (found,) = reader_scores(pairs(old, new, Correspondence(readers={READER: "trino-368"})))
    assert (found.old, found.new) == ("trino-368", READER)
    assert (found.before[RIGHT], found.before[WRONG]) == (2, 0)
    assert (found.after[RIGHT], found.after[WRONG]) == (1, 1)
    assert set(found.after) == set(VerdictKind)


def test_a_cell_beside_several_counts_once() -> None:
    alike = Correspondence(variants={OTHER.id: VARIANT.id})
    found = reader_scores(
        pairs(run(verdict(RIGHT)), run(verdict(RIGHT), verdict(WRONG, variant=OTHER)), alike)
    )
    assert [(sum(each.before.values()), sum(each.after.values())) for each in found] == [(1, 2)]


def test_a_reader_of_one_side_alone_has_a_line() -> None:
    found = reader_scores(pairs(run(verdict(RIGHT, reader="hive-3.1.3")), run(verdict(RIGHT))))
    assert [(each.old, each.new) for each in found] == [("", READER), ("hive-3.1.3", "")]
