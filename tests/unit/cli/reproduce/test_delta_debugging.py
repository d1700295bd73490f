"""The smallest scenario that still shows what a simulated reader does wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from harness.cli.reproduce import delta_debugging
from harness.cli.reproduce.candidate import Candidate, valid
from harness.cli.reproduce.causes import Sign, signs
from harness.cli.reproduce.delta_debugging import (
    Round,
    Search,
    TrialResults,
    search,
    smaller,
    smallest,
)
from harness.cli.reproduce.prediction import cell_of
from harness.scenario.dump import dump
from harness.scenario.load import loads
from harness.scenario.operations import name_of
from tests.builders.judged_story import judged_answer
from tests.builders.random_story import story_of_seed
from tests.builders.simulated_reader import Reader
from tests.builders.table_story import history
from tests.unit.cli.reproduce.simulation import candidate_of, seen_by, showing, told_of

PLANTED = {
    "by position": (Reader("position"), "position"),
    "by name": (Reader("name"), "name"),
    "logs ignored": (Reader("id", logs="ignored"), "logs"),
    "deletes ignored": (Reader("id", logs="undeleted"), "deletes"),
    "one too far": (Reader("position", shift=1), "shift"),
}
MOVE = "insert 1..6; touch all; upsert 2; move f1 after f2; touch some"


def steps(candidate: Candidate | None) -> list[str]:
    assert candidate is not None
    return [name_of(operation) for operation in candidate.operations]


@pytest.mark.parametrize(
    ("text", "mor", "reader", "kind", "way", "left"),
    [
        (MOVE, False, Reader("position"), "misaligned", "by position", 3),
        ("insert 1..4; touch all; upsert 9; move f1 after f2", False, Reader("position"),
         "misaligned", "by position", 2),
        ("insert 1..4; upsert 3; touch all; rename f2 g", False, Reader("name"),
         "missing_rename", "by name", 2),
        ("insert 1..4; add x after f1; touch all; drop f1", False, Reader("position"),
         "misaligned", "by position", 2),
        ("insert 1..4; upsert 3; add x; delete 1,2; touch none", True,
         Reader("id", logs="undeleted"), "ghost_row", "", 3),
    ],
)  # fmt: skip
def test_a_planted_defect_is_shown_by_few_steps(
    *, text: str, mor: bool, reader: Reader, kind: str, way: str, left: int
) -> None:
    begin = candidate_of(history(text, mor=mor))
    sign = next(s for s in seen_by(reader, begin) if s.kind == kind and way in (s.way, ""))
    found = smallest(begin, showing(reader, sign))
    assert len(steps(found)) <= left
    assert found is not None
    assert steps(found)[-1] == steps(begin)[-1]


@pytest.mark.parametrize("view", ["as_of", "incremental"])
def test_a_step_is_left_that_a_view_of_the_past_goes_back_to(view: str) -> None:
    """The planted reader always shows what is now, and all of it."""
    begin = candidate_of(history("insert 1..4; touch all; add f3; delete 4; upsert 1"), view)
    sign = Sign("premature" if view == "as_of" else "ghost_row", ())

    def shows(candidate: Candidate) -> bool:
        cell, story = cell_of(candidate, "r", view, "all"), told_of(candidate)
        return cell is not None and sign in signs(
            judged_answer(story, story.read(), cell.view), None
        )

    found = smallest(begin, shows)
    assert found is not None
    first = "[1]" if view == "as_of" else "[1, 2]"  # one row is not written again
    steps = f"steps:\n  - insert: {first}\n  - upsert: [1]\n"
    assert dump(found.scenario).endswith(f"views: [{view}]\n{steps}")
    assert loads(dump(found.scenario), "family/name.yaml").views == (view,)


def test_of_the_smallest_move_a_row_and_two_columns_are_left() -> None:
    begin = candidate_of(history("insert 1..6; touch all; upsert 2; move f1 after f2"))
    found = smallest(begin, showing(Reader("position"), Sign("misaligned", ("by position",))))
    assert found is not None
    assert dump(found.scenario).split("table:")[1] == (
        "\n  columns: {id: string, f1: string, f2: string}\n  key: id\n"
        "formats: [hudi-cow]\nviews: [snapshot]\n"
        "steps:\n  - insert: [1]\n  - move_column: {name: f1, after: f2}\n"
    )


@pytest.mark.parametrize("planted", PLANTED)
@pytest.mark.parametrize("seed", [3])
def test_what_is_found_is_valid_shows_it_and_no_single_cut_of_it_does(
    seed: int, planted: str
) -> None:
    reader = PLANTED[planted][0]
    begin = candidate_of(story_of_seed(seed))
    for sign in sorted(seen_by(reader, begin), key=str)[:1]:
        shows = showing(reader, sign)
        found = smallest(begin, shows)
        assert found is not None
        assert valid(found)
        assert shows(found)
        assert found.size <= begin.size
        assert not [cut for cut, candidate in smaller(found) if shows(candidate)]
        assert len(found.writers) == len(found.numbers) + 1


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_one_cut_smaller_is_valid_and_smaller(seed: int) -> None:
    begin = candidate_of(story_of_seed(seed))
    made = list(smaller(begin))
    assert made
    for cut, candidate in made:
        loads(dump(candidate.scenario), "family/name.yaml")
        assert candidate.size < begin.size, cut


def test_where_the_first_does_not_show_it_nothing_is_found() -> None:
    begin = candidate_of(history("insert 1..4; touch all"))
    assert smallest(begin, lambda _: False) is None


def test_a_guess_that_is_right_needs_one_round() -> None:
    begin = candidate_of(history(MOVE.rpartition(";")[0]))
    shows = showing(Reader("position"), Sign("misaligned", ("by position",)))
    guess = smallest(begin, shows)
    found = search(TrialResults(begin), guess)
    first = next(found)
    with pytest.raises(StopIteration) as end:
        found.send([shows(candidate) for candidate in first])
    assert end.value.value == guess


def test_a_guess_that_is_wrong_does_no_harm() -> None:
    begin = candidate_of(history(MOVE.rpartition(";")[0]))
    shows = showing(Reader("position"), Sign("misaligned", ("by position",)))
    wrong = next(candidate for _, candidate in smaller(begin) if not shows(candidate))
    tried = TrialResults(begin)
    rounds = list(_rounds(search(tried, wrong), shows))
    assert tried.best == smallest(begin, shows)
    assert len(rounds) > 1


def _rounds(found: Search, shows: Callable[[Candidate], bool]) -> Iterator[Round]:
    batch = next(found, None)
    while batch is not None:
        yield batch
        try:
            batch = found.send([shows(candidate) for candidate in batch])
        except StopIteration:
            return


def test_nothing_is_asked_twice() -> None:
    begin = candidate_of(history(MOVE))
    shows = showing(Reader("position"), Sign("misaligned", ("by position",)))
    asked = list[str]()

    def noting(candidate: Candidate) -> bool:
        asked.append(candidate.key)
        return shows(candidate)

    assert delta_debugging.smallest(begin, noting) is not None
    assert len(asked) == len(set(asked))
