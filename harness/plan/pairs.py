"""Pairs instead of all combinations: a few that together have every two values that go together.

Most defects that need several causes need two of them (Kuhn, Wallace and Gallo, "Software fault
interactions and implications for software testing", 2004). Greedy: always the combination with
the most pairs that are still missing; of those that have as many the one whose pairs were chosen
least, so that none is in most; of these the first. So the same input gives the same choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from itertools import combinations as two_of

AxisValue = tuple[str, str]
"""An axis and one of its values."""
AxisPair = tuple[AxisValue, ...]
"""Two values of different axes; one alone where there is but one axis."""


def pairs_of(combination: Mapping[str, str]) -> Iterator[AxisPair]:
    """Yield every pair of a combination's values, in the order of its axes.

    >>> [" ".join(map("=".join, pair)) for pair in pairs_of({"a": "1", "b": "2"})]
    ['a=1 b=2']
    """
    values = tuple(combination.items())
    yield from two_of(values, min(2, len(values)))


def values_of(combination: Mapping[str, str]) -> Iterator[AxisPair]:
    """Yield every value of a combination alone."""
    yield from ((value,) for value in combination.items())


def all_pairs(combinations: Iterable[Mapping[str, str]]) -> tuple[AxisPair, ...]:
    """Return pairs that occur in any combination, each once, in the order of their occurring."""
    return tuple(
        dict.fromkeys(pair for combination in combinations for pair in pairs_of(combination))
    )


def cover(
    combinations: Sequence[Mapping[str, str]],
    parts: Callable[[Mapping[str, str]], Iterable[AxisPair]] = pairs_of,
) -> tuple[int, ...]:
    """Choose combinations that together have every pair that any has; their numbers, in order.

    With `parts=values_of` only every value, whatever it goes with.
    """
    has_parts = [tuple(parts(combination)) for combination in combinations]
    bits = {part: 1 << at for at, part in enumerate(dict.fromkeys(chain(*has_parts)))}
    has = [sum(bits[part] for part in parts_) for parts_ in has_parts]
    missing = (1 << len(bits)) - 1
    chosen: list[int] = []
    times = Counter[AxisPair]()
    while missing:
        gains = [(ha & missing).bit_count() for ha in has]
        most = max(gains)
        best = [at for at, gain in enumerate(gains) if gain == most]
        new = min(best, key=lambda at: sum(times[pair] for pair in has_parts[at]))
        chosen.append(new)
        times.update(has_parts[new])
        missing &= ~has[new]
    return tuple(sorted(chosen))
