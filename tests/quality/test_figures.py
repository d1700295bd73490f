"""The command behind `make quality` ends with 1 on any miss, and says which."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import pytest

from tests.quality import figures, opinions
from tests.quality.figures import Counted, Task

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
