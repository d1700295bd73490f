"""The smallest scenario that still shows what a simulated reader does wrong."""

from collections.abc import Sequence

import pytest

from harness.cli.reproduce import shrink
from harness.cli.reproduce.candidate import Candidate, reduced, valid
from harness.cli.reproduce.causes import Cause, Sign, signs
from harness.scenario.cells import parse_reader
from harness.scenario.dump import dump
from harness.scenario.load import loads
from harness.scenario.operations import name_of
from tests.builders.candidates import candidate_of, seen_by, showing, smallest, written_story
from tests.builders.judged_story import judged_answer
from tests.builders.random_story import story_of_seed
from tests.builders.simulated_reader import Reader
from tests.builders.table_story import history


def test_a_view_of_the_past_is_asked_by_the_step_that_a_plan_goes_back_to() -> None:
    text = "insert 1..4; move f1 after f2; insert 5; add f3; upsert 3"
    cell = shrink.cell_of(candidate_of(history(text), "as_of"), "r", "as_of", "column")
    assert cell is not None
    assert (cell.step, cell.view, cell.query) == (5, "as_of(3)", "column(f1)")


READERS = {"trino-476{use-column-names=false}": Reader("position"), "hive-3.1.3": Reader("name")}
MISALIGNED = Sign("misaligned", ("by position",))
MOVED = "insert 1..4; touch all; rename f2 g; move f1 after g"
RENAMED = "insert 1..4; upsert 2; touch all; rename f1 g"
MOVE = "insert 1..6; touch all; upsert 2; move f1 after f2; touch some"


def steps(candidate: Candidate | None) -> list[str]:
    assert candidate is not None
    return [name_of(operation) for operation in candidate.operations]


@pytest.mark.parametrize(
    ("text", "mor", "reader", "kind", "strategy", "left"),
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
    *, text: str, mor: bool, reader: Reader, kind: str, strategy: str, left: int
) -> None:
    begin = candidate_of(history(text, mor=mor))
    sign = next(
        s for s in seen_by(reader, begin) if s.kind == kind and strategy in (s.strategy, "")
    )
    result = smallest(begin, showing(reader, sign))
    assert len(steps(result)) <= left
    assert result is not None
    assert steps(result)[-1] == steps(begin)[-1]


@pytest.mark.parametrize("view", ["as_of", "incremental"])
def test_a_step_is_left_that_a_view_of_the_past_goes_back_to(view: str) -> None:
    """The planted reader always shows what is now, and all of it."""
    begin = candidate_of(history("insert 1..4; touch all; add f3; delete 4; upsert 1"), view)
    sign = Sign("premature" if view == "as_of" else "ghost_row", ())

    def shows(candidate: Candidate) -> bool:
        cell, story = shrink.cell_of(candidate, "r", view, "all"), written_story(candidate)
        return cell is not None and sign in signs(
            judged_answer(story, story.read(), cell.view), None
        )

    result = smallest(begin, shows)
    assert result is not None
    steps = "steps:\n  - touch: none\n  - upsert: [1]\n"  # one row is not written again
    assert dump(result.scenario).endswith(f"views: [{view}]\n{steps}")
    assert loads(dump(result.scenario), "family/name.yaml").views == (view,)


@pytest.mark.parametrize("reader", [Reader("name"), Reader("id", logs="undeleted")])
def test_the_result_is_valid_and_shows_it_and_nothing_one_reduction_smaller_does(
    reader: Reader,
) -> None:
    begin = candidate_of(story_of_seed(3))
    for sign in sorted(seen_by(reader, begin), key=str)[:1]:
        shows = showing(reader, sign)
        result = smallest(begin, shows)
        assert result is not None
        assert valid(result)
        assert shows(result)
        assert result.size <= begin.size
        assert not [smaller for _, smaller in reduced(result) if shows(smaller)]
        assert len(result.writers) == len(result.numbers) + 1


def test_whatever_is_one_reduction_smaller_is_valid_and_smaller() -> None:
    begin = candidate_of(story_of_seed(1))
    made = list(reduced(begin))
    assert made
    for reduction, smaller in made:
        loads(dump(smaller.scenario), "family/name.yaml")
        assert smaller.size < begin.size, reduction


def rounds_of(search: shrink.Search, reader: Reader, sign: Sign) -> list[Sequence[Candidate]]:
    shows, rounds = showing(reader, sign), list[Sequence[Candidate]]()
    while not search.over:
        rounds.append(search.waiting)
        search.record(map(shows, search.waiting))
    return rounds


def test_nothing_is_asked_twice_and_few_rounds_are_enough() -> None:
    begin = candidate_of(history(MOVE.rpartition(";")[0]))
    search = shrink.Search(begin)
    rounds = rounds_of(search, Reader("position"), MISALIGNED)
    assert len(rounds) <= 4
    keys = [candidate.key for candidates in rounds for candidate in candidates]
    assert len(keys) == len(set(keys))


def test_of_what_is_not_shown_again_nothing_is_left_after_one_round() -> None:
    search = shrink.Search(candidate_of(history(MOVE)))
    assert len(rounds_of(search, Reader("id"), MISALIGNED)) == 1
    assert search.smallest is None


def both() -> list[tuple[shrink.Target, shrink.Search]]:
    position, name = READERS
    begun = []
    for reader, sign, text in (
        (position, MISALIGNED, MOVED),
        (name, Sign("missing_rename", ("by name",)), RENAMED),
    ):
        cause = Cause("an operation", reader, "snapshot", "hudi-cow", sign)
        target = shrink.Target(cause, parse_reader(reader), "all")
        begun.append((target, shrink.Search(candidate_of(history(text)))))
    return begun


def test_two_searches_share_their_rounds() -> None:
    rounds = list[set[str]]()

    def ask(trials: Sequence[shrink.Trial]) -> list[bool]:
        rounds.append({str(target.reader) for target, _ in trials})
        return [
            target.cause.sign.among(seen_by(READERS[str(target.reader)], candidate))
            for target, candidate in trials
        ]

    searches = both()
    shrink.run_all(searches, ask, lambda: False)
    assert rounds[0] == set(READERS)
    assert len(rounds) <= 4
    for _, search in searches:
        assert search.over
        assert search.smallest is not None
        assert len(search.smallest.numbers) == 2


def test_when_it_is_enough_the_best_so_far_is_there_and_the_search_is_not_over() -> None:
    (first, _), asked = both(), list[int]()

    def ask(trials: Sequence[shrink.Trial]) -> list[bool]:
        asked.append(len(trials))
        return [at in {0, 1} for at in range(len(trials))]

    shrink.run_all([first], ask, lambda: bool(asked))
    _, search = first
    assert len(asked) == 1
    assert not search.over
    assert search.smallest is not None
    assert len(search.smallest.numbers) == 3
