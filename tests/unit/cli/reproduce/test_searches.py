"""Several searches that ask together, and stop when it is enough."""

from __future__ import annotations

from collections.abc import Sequence

from harness.cli.reproduce import searches
from harness.cli.reproduce.causes import Cause, Sign
from harness.cli.reproduce.searches import CauseSearch, Target, Trial
from harness.scenario.cells import parse_reader
from tests.builders.simulated_reader import Reader
from tests.builders.table_story import history
from tests.unit.cli.reproduce.simulation import candidate_of, seen_by

READERS = {"trino-476{use-column-names=false}": Reader("position"), "hive-3.1.3": Reader("name")}
MOVED = "insert 1..4; touch all; rename f2 g; move f1 after g"
RENAMED = "insert 1..4; upsert 2; touch all; rename f1 g"


def searching(reader: str, sign: Sign, text: str) -> CauseSearch:
    cause = Cause("an operation", reader, "snapshot", "hudi-cow", sign)
    return searches.begin(Target(cause, parse_reader(reader), "all"), candidate_of(history(text)))


def both() -> tuple[CauseSearch, CauseSearch]:
    position, name = READERS
    return (
        searching(position, Sign("misaligned", ("by position",)), MOVED),
        searching(name, Sign("missing_rename", ("by name",)), RENAMED),
    )


def ask(wanted: Sequence[Trial]) -> list[bool]:
    return [
        trial.target.sign.among(seen_by(READERS[str(trial.target.reader)], trial.candidate))
        for trial in wanted
    ]


def test_two_searches_share_their_rounds_and_both_end() -> None:
    rounds = list[set[str]]()

    def noting(wanted: Sequence[Trial]) -> list[bool]:
        rounds.append({str(trial.target.reader) for trial in wanted})
        return ask(wanted)

    found = both()
    searches.run_all(found, noting, lambda: False)
    assert rounds[0] == set(READERS)
    assert [search.over for search in found] == [True, True]
    for search in found:
        assert search.found is not None
        assert len(search.found.numbers) == 2


def test_where_the_model_knows_the_way_one_round_finds_all_but_the_ordering_column() -> None:
    found, rounds = both(), list[int]()

    def counting(wanted: Sequence[Trial]) -> list[bool]:
        rounds.append(len(wanted))
        return ask(wanted)

    searches.run_all(found, counting, lambda: False)
    assert len(rounds) == 2


def test_when_it_is_enough_the_best_so_far_is_there_and_the_search_is_not_over() -> None:
    (found, _), asked = both(), list[int]()

    def only_the_first(wanted: Sequence[Trial]) -> list[bool]:
        asked.append(len(wanted))
        return [at == 0 for at in range(len(wanted))]

    searches.run_all([found], only_the_first, lambda: bool(asked))
    assert len(asked) == 1
    assert not found.over
    assert found.found is not None
    assert len(found.found.numbers) == 4


def test_nothing_is_found_where_the_engine_no_longer_shows_it() -> None:
    found, _ = both()
    searches.run_all([found], lambda wanted: [False] * len(wanted), lambda: False)
    assert found.over
    assert found.found is None
