from __future__ import annotations

from dataclasses import replace

from harness.comparison.cell_pairs import Correspondence, VerdictChange, cell_pairs
from harness.core.records import OutcomeKind, VerdictKind
from harness.plan import controls
from harness.run.load_run import WRITE
from tests.builders.verdicts import OTHER, VARIANT, WRITER, run, state, verdict

RIGHT, WRONG = VerdictKind.CORRECT, VerdictKind.WRONG


def test_cells_of_the_same_name_are_a_pair() -> None:
    (found,) = cell_pairs(run(verdict(RIGHT)), run(verdict(WRONG)))
    assert found.change is VerdictChange.REGRESSED
    assert (found.old, found.new) == (verdict(RIGHT), verdict(WRONG))


def test_another_reader_corresponds_when_that_is_said() -> None:
    old, new = run(verdict(RIGHT, reader="trino-368")), run(verdict(RIGHT))
    assert [cell_pair.change for cell_pair in cell_pairs(old, new)] == [
        VerdictChange.NEW,
        VerdictChange.GONE,
    ]
    names = Correspondence(readers={"trino-476": "trino-368"})
    assert [cell_pair.change for cell_pair in cell_pairs(old, new, names)] == [
        VerdictChange.RIGHT_AS_BEFORE
    ]


def test_several_variants_are_held_against_one_of_the_old_side() -> None:
    old = run(verdict(RIGHT))
    new = run(verdict(WRONG), verdict(RIGHT, variant=OTHER))
    names = Correspondence(variants={OTHER.id: VARIANT.id})
    found = cell_pairs(old, new, names)
    assert [pair.change for pair in found] == [
        VerdictChange.REGRESSED,
        VerdictChange.RIGHT_AS_BEFORE,
    ]


def test_every_cell_of_either_side_is_in_one_pair() -> None:
    old = run(verdict(RIGHT, step=1), verdict(RIGHT, step=2))
    new = run(verdict(RIGHT, step=2), verdict(RIGHT, step=3))
    found = cell_pairs(old, new)
    assert [pair.either.step for pair in found] == [2, 3, 1]


def test_a_step_that_the_new_writer_refuses_is_a_pair_and_one_that_both_apply_is_none() -> None:
    refused = verdict(VerdictKind.REFUSED, reader=WRITER, view=WRITE)
    refused = replace(refused, query="step")
    old = run(states=[state(1), state(2)])
    new = run(refused, states=[state(1), state(2, OutcomeKind.REFUSED)])
    (found,) = cell_pairs(old, new)
    assert found.change is VerdictChange.REGRESSED_LOUDLY
    assert found.is_step
    assert cell_pairs(old, old) == ()


def test_a_planned_cell_that_was_never_judged_is_unknown() -> None:
    silent = run(verdict(RIGHT))
    silent = replace(silent, recorded={})
    assert [cell_pair.change for cell_pair in cell_pairs(run(verdict(RIGHT)), silent)] == [
        VerdictChange.UNKNOWN
    ]


def test_the_control_of_a_reader_that_one_side_alone_has_is_no_pair() -> None:
    control = replace(verdict(RIGHT, variant=OTHER), scenario=controls.SCENARIO)
    with_control, without = run(verdict(RIGHT), control), run(verdict(RIGHT))
    for old, new in ((without, with_control), (with_control, without)):
        assert [cell_pair.either.scenario for cell_pair in cell_pairs(old, new)] == [
            verdict(RIGHT).scenario
        ]
    assert len(cell_pairs(with_control, with_control)) == 2
