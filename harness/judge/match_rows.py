"""Which row of the truth a found row is: by its key, or by whose values it holds.

A reader may show another column under the key's name, for all rows or for those of some files, and
what it shows there may even look like a key. So each row is also asked whose values it holds:
those that only one key has ever had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from harness.judge.expected_state import ExpectedState
from harness.model.canonical import Look, Value, look_of, same, text_of
from harness.model.query import at as value_at
from harness.model.truth import Row, Truth

AnsweredRow = tuple[Value, ...]
TELLING: Final = 2
"""So many rows at least tell which other column stands under the key's name."""


@dataclass(frozen=True, slots=True)
class Matching:
    """Every found row, once."""

    pairs: tuple[tuple[Row, AnsweredRow], ...]
    """A row that should be there, with what was found of it."""
    second: tuple[tuple[str, AnsweredRow], ...]
    """More rows of a key that is in `pairs`."""
    extra: tuple[tuple[str, AnsweredRow], ...]
    """Rows that should not be there, each with its key as well as it can be told."""
    empty: tuple[tuple[Row, AnsweredRow], ...] = ()
    """Rows that should be there, each with one of nothing but NULLs. Which is whose does not
    matter: there are as many of these as rows that are missing otherwise."""

    @property
    def there(self) -> frozenset[str]:
        """The keys of the rows that should be there and are, as texts."""
        return frozenset(text_of(row.key) for row, _ in (*self.pairs, *self.empty))


def match(state: ExpectedState, names: Sequence[str], rows: Sequence[AnsweredRow]) -> Matching:
    """Match found rows to expected ones; of several with one key, the one with most right cells.

    Engines give the rows of several files in any order. What is said of them must not depend on it.
    """
    rows = sorted(rows, key=_in_order)
    groups: dict[str, list[AnsweredRow]] = {}
    extra, expected = [], state.keys
    for key, result in zip(_owners(state, names, rows), rows, strict=True):
        if key in expected:
            groups.setdefault(key, []).append(result)
        else:
            extra.append((key, result))
    pairs, second = [], []
    for key, candidates in groups.items():
        best = _best(state, expected[key], names, candidates)
        pairs.append((expected[key], candidates[best]))
        second += [(key, result) for at, result in enumerate(candidates) if at != best]
    absent = [row for key, row in expected.items() if key not in groups]
    return _with_empty(Matching(tuple(pairs), tuple(second), tuple(extra)), absent)


def _best(
    state: ExpectedState, row: Row, names: Sequence[str], candidates: Sequence[AnsweredRow]
) -> int:
    """Return which of the found rows has most right cells, the first where several have as many."""
    if len(candidates) == 1:
        return 0
    scores = [right(state, row, names, result) for result in candidates]
    return scores.index(max(scores))


def _with_empty(result: Matching, absent: Sequence[Row]) -> Matching:
    """Take rows of nothing but NULLs for the absent ones, where there are as many."""
    empty = [each for each in result.extra if each[1] and not _says(each[1])]
    if not empty or len(empty) != len(absent):
        return result
    others = tuple(each for each in result.extra if each not in empty)
    pairs = zip(absent, (values for _, values in empty), strict=True)
    return replace(result, extra=others, empty=tuple(pairs))


def _says(result: AnsweredRow) -> bool:
    return any(value is not None for value in result)


def _in_order(result: AnsweredRow) -> list[tuple[int, str]]:
    texts = map(text_of, result)
    return [(len(text), text) for text in texts]  # so that 2 comes before 10


def _keys(truth: Truth) -> Iterable[Value]:
    """Return the keys of a table, and those of a write that failed."""
    return (*truth.rows, *(row.key for row in truth.failed))


def _owners(state: ExpectedState, names: Sequence[str], rows: Sequence[AnsweredRow]) -> list[str]:
    if state.predicted is not None:
        owners = state.predicted.owners(names, rows)
        # Rows of nothing but NULLs are taken for the missing ones, whoever made them so.
        return [key if _says(result) else "" for key, result in zip(owners, rows, strict=True)]
    key = state.history[0].table.key
    at = names.index(key) if key in names else None
    ever = {text_of(any_) for any_ in set().union(*map(_keys, state.history))}
    shown = [_key_text(result[at], ever) if at is not None else "" for result in rows]
    holders = [_holder(state, result, at) for result in rows]
    keys = [text if text in ever else "" for text in shown]
    if not _tells_keys(keys, holders):
        return [holder or text for holder, text in zip(holders, shown, strict=True)]
    by_key = [a or b or text for a, b, text in zip(keys, holders, shown, strict=True)]
    by_values = [b or a or text for a, b, text in zip(keys, holders, shown, strict=True)]
    other = _of_column(state, shown, keys, holders)
    by_column = [b or c or text for b, c, text in zip(holders, other, by_key, strict=True)]
    if any(other) and not any(a and a == b for a, b in zip(keys, holders, strict=True)):
        return by_column
    # A number of another column may be a key that there is. Then that key's own row is there too,
    # and the row whose values these are would be lost.
    return max(by_key, by_values, by_column, key=lambda owners: len(set(owners)))


def _key_text(value: Value, ever: Collection[str]) -> str:
    """Return the text under the key's name; empty for NULL where a key is called so."""
    text = text_of(value)
    return "" if value is None and text in ever else text


def _of_column(
    state: ExpectedState, shown: Sequence[str], by_key: Sequence[str], by_values: Sequence[str]
) -> list[str]:
    """Return keys of rows that show a key and nothing else, where the key column is another one.

    That is the one column whose values stand there in each row that tells whose it is; what looks
    like a key is its value too, and of the one row that ever had it.
    """
    key, owned = state.key_id, (state.index.owned.get(text) for text in shown)
    tell = [each[1] for each in owned if each is not None and key not in each[1]]
    fields = frozenset.intersection(*tell) if len(tell) >= TELLING else frozenset()
    had: dict[Look, set[str]] = {}
    for (field, row), versions in state.index.cells.items() if len(fields) == 1 else ():
        for look in frozenset[Look]().union(*versions.values()) if field in fields else ():
            had.setdefault(look, set()).add(row)
    whose = (
        had.get(text, set()) if a and not b else set()
        for text, a, b in zip(shown, by_key, by_values, strict=True)
    )
    return [each.pop() if len(each) == 1 else "" for each in map(set[str], whose)]


def _holder(state: ExpectedState, result: AnsweredRow, key_at: int | None) -> str:
    """Return the key whose own values stand in a row most often; empty when none does.

    Keys themselves do not suffice: they are short, and any small number looks like one.
    """
    key_field = state.history[0].column_id(state.history[0].table.key)
    votes: Counter[str] = Counter()
    proven = set()
    for at, value in enumerate(result):
        owner = state.index.owned.get(look_of(value))
        is_key = owner is not None and owner[1] == {key_field}
        if owner is not None and not (is_key and at == key_at):
            votes[owner[0]] += 1
            proven |= set() if is_key else {owner[0]}
    best = [each for each in votes.most_common() if each[0] in proven][:2]
    return best[0][0] if len(best) == 1 or (best and best[0][1] > best[1][1]) else ""


def _tells_keys(by_key: Sequence[str], by_values: Sequence[str]) -> bool:
    """Return whether the key column shows keys, and not another column that looks like them."""
    both = [(key, holder) for key, holder in zip(by_key, by_values, strict=True) if key and holder]
    against = sum(key != holder for key, holder in both)
    fewer = len({key for key, _ in both}) < len({holder for _, holder in both})
    return not (fewer and against * 2 > len(both))


def right(state: ExpectedState, row: Row, names: Sequence[str], result: AnsweredRow) -> int:
    """Count the values that are those of a version of a row."""
    expected = state.shown(row)
    return sum(
        name.partition(".")[0] in expected and same(value_at(expected, name), value)
        for name, value in zip(names, result, strict=True)
    )
