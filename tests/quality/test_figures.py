"""The command behind `make quality` ends with 1 on any miss, and says which."""

from __future__ import annotations

import multiprocessing
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from harness.model.query import Query
from tests.builders.simulated_reader import Reader, Reply
from tests.builders.table_story import Story
from tests.quality import asked, clean, figures, opinions
from tests.quality.figures import Counted, Tally, Task
from tests.quality.survey import Result

NOTHING = ("--histories", "0", "--parties", "0", "--clean", "0", "--jobs", "1")


class Here:
    """Does in this process what others would do."""

    def imap(self, do: Callable[[Task], Counted], tasks: Iterable[Task]) -> Iterator[Counted]:
        return map(do, tasks)


@contextmanager
def here(_: int) -> Iterator[Here]:
    yield Here()


@pytest.mark.parametrize("agrees", [True, False])
def test_a_miss_is_said_with_its_seed_and_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, agrees: bool
) -> None:
    monkeypatch.setattr(multiprocessing, "Pool", here)
    monkeypatch.setattr(sys, "argv", ["figures", *NOTHING, "--opinions", "3", "--first", "7"])
    monkeypatch.setattr(opinions, "agree", lambda seed: agrees or seed != 8)
    assert figures.main() == (0 if agrees else 1)
    said = capsys.readouterr().out
    assert ("MISS seed 8: the opinions differ" in said) is not agrees
    assert "3 second opinions: seeds 7 and on" in said
    assert f"{0 if agrees else 1} misses, after" in said


@pytest.mark.parametrize(("default", "short"), [(3, True), (4, False)])
def test_as_many_as_by_default_have_to_show_what_is_promised(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    default: int,
    *,
    short: bool,
) -> None:
    monkeypatch.setattr(multiprocessing, "Pool", here)
    monkeypatch.setitem(figures.COUNTS, "opinions", default)
    monkeypatch.setattr(sys, "argv", ["figures", *NOTHING, "--opinions", "3"])
    assert figures.main() == (1 if short else 0)
    story = "MISS 3 histories, not the 1,000,000 that there have to be"
    assert (story in capsys.readouterr().out) is short


@pytest.mark.parametrize(
    ("name", "result", "seen"),
    [
        ("columns by position", Result.SAME, False),
        ("columns by position", Result.UNDECIDABLE, True),
        ("by id (right)", Result.SAME, True),
    ],
)
def test_a_harmful_defect_that_never_shows_is_a_miss(
    name: str, result: Result, *, seen: bool
) -> None:
    tally = Tally()
    tally.add(Counted("defect", name, Counter({str(result): 5, str(Result.NONE): 2}), ()))
    story = [] if seen else [f"{name}: visible in none of 7 histories"]
    assert list(figures._never_seen(tally)) == story


def test_right_answers_are_compared_and_some_judged_those_about_the_past_too() -> None:
    counts, misses = clean.figures(range(16))
    assert misses == []
    views = {"snapshot", "read_optimized", "as_of", "incremental"}
    assert counts.keys() == {"comparisons", *views}
    assert all(counts[each] >= 4 for each in views)
    assert counts["comparisons"] > sum(counts[each] for each in views)


@pytest.mark.parametrize("way", [clean.compared, clean.judged])
def test_a_reader_that_is_not_right_is_noticed(
    monkeypatch: pytest.MonkeyPatch, way: Callable[[int], Iterator[tuple[str, bool]]]
) -> None:
    right = asked.ask

    def less(story: Story, query: Query, reader: Reader, **how: Any) -> Reply:  # noqa: ANN401
        reply = right(story, query, reader, **how)
        return replace(reply, rows=reply.rows[:-1])

    monkeypatch.setattr(asked, "ask", less)
    bad = [text for seed in range(12) for text, found in way(seed) if found]
    views = {text.split("(")[0].split(" ")[0] for text in bad}
    past = {"as_of", "incremental"} if way is clean.judged else set()
    assert views == {"snapshot", "read_optimized", *past}
