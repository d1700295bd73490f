"""Answers that are kept for later runs: whole, known and steady ones only."""

from __future__ import annotations

from pathlib import Path

from harness.core.records import Answer, Attempt, Column, Part, Refusal
from harness.read.read_states import AnswerCache

GOOD = Answer("a", "q", (Column("id", "varchar", "string"),), (("1",),))


def test_an_answer_is_found_again_but_never_an_unknown_or_flaky_one(tmp_path: Path) -> None:
    kept = AnswerCache(tmp_path)
    kept.store("aa01", GOOD)
    kept.store("aa02", Answer("b", "q", unknown="time-out"))
    tries = (Attempt("connection lost"),)
    kept.store("aa03", Answer("c", "q", GOOD.columns, GOOD.rows, attempts=tries))
    column = Part("f1", "q", unknown="time-out")
    kept.store("aa04", Answer("d", "q", refusal=Refusal("X", "broken"), parts=(column,)))
    found = kept.find("aa01", "other case")
    assert found is not None
    assert (found.case, found.rows, found.reused) == ("other case", (("1",),), True)
    assert [kept.find(f"aa0{number}", "x") for number in (2, 3, 4, 5)] == [None] * 4


def test_an_answer_that_the_disk_did_not_get_whole_is_asked_again(
    tmp_path: Path,
) -> None:
    kept = AnswerCache(tmp_path)
    kept.store("01", GOOD)
    (path,) = tmp_path.glob("01/*.json")
    path.write_bytes(path.read_bytes()[:20])
    assert kept.find("01", "x") is None
    assert not list(tmp_path.glob("parts/*"))
