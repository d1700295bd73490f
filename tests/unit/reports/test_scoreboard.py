from __future__ import annotations

from dataclasses import replace

from harness.core.records import VerdictKind
from harness.reports.reader_answers import scoreboard
from harness.run.causes import by_default
from tests.builders import recorded_run


def test_readers_by_default_come_first_and_every_cell_is_counted_once() -> None:
    run = recorded_run.run_of("quick_start")
    scores = scoreboard(run)
    assert [score.by_default for score in scores] == [True] * 4 + [False] * 4
    assert sum(sum(score.counts.values()) for score in scores) == len(run.verdicts)
    trino = next(score for score in scores if score.reader == "trino-476{use-column-names=true}")
    assert trino.counts == {
        VerdictKind.CORRECT: 108,
        VerdictKind.WRONG: 64,
        VerdictKind.REFUSED: 12,
        VerdictKind.UNSUPPORTED: 0,
        VerdictKind.UNKNOWN: 0,
    }


def test_what_the_harness_sets_for_all_is_said_beside_the_defaults() -> None:
    scores = {score.reader: score for score in scoreboard(recorded_run.run_of("quick_start"))}
    fetch = scores["hive-3.1.3{path=fetch}"]
    assert (fetch.by_default, fetch.ours) == (
        True,
        "vectorized=off, input-format=plain, statistics=off",
    )
    assert scores["trino-476{use-column-names=true}"].ours == ""


def test_no_reader_is_said_to_have_defaults_that_are_not_known() -> None:
    run = recorded_run.run_of("quick_start")
    readers = tuple(replace(reader, unlike=None) for reader in run.info.readers)
    old = replace(run, info=replace(run.info, readers=readers))
    assert not any(score.by_default for score in scoreboard(old))
    assert not by_default(old, "nobody")
