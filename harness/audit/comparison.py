"""Where a reader's table differs from the one that the files give: columns, rows, values. Pure.

Rows have no order and need no key: equal ones cancel each other out, and what is left is paired by
a column that tells rows apart, else by the values that two rows have in common.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import Final

from harness.model.canonical import Value, same, text_of, to_json

MOST_PAIRS: Final = 250_000
"""So many pairs of rows are looked at where no column tells rows apart."""

Row = tuple[Value, ...]


class TableDifferenceKind(StrEnum):
    ABSENT_COLUMN = "absent_column"
    EXTRA_COLUMN = "extra_column"
    LOST_ROW = "lost_row"
    EXTRA_ROW = "extra_row"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class TableDifference:
    kind: TableDifferenceKind
    column: str = ""
    row: int | None = None
    """The number of the row among those expected; None of one that is there and should not be."""
    expected: Value = None
    actual: Value = None


def differences(
    names: Sequence[str], expected: Sequence[Row], shown: Sequence[str], actual: Sequence[Row]
) -> tuple[TableDifference, ...]:
    """Return where a table with columns `shown` differs from the expected one with `names`."""
    same_form = [*names, len(expected)] == [*shown, len(actual)]
    if same_form and all(all(map(same, *rows)) for rows in zip(expected, actual, strict=True)):
        return ()
    common = [name for name in names if name in shown]
    right = _taken(expected, [names.index(name) for name in common])
    answered = _taken(actual, [shown.index(name) for name in common])
    lost, extra = _unequal(right, answered)
    pairs = dict(_pairs(lost, extra, right, answered))
    heads = [
        *(TableDifference(TableDifferenceKind.ABSENT_COLUMN, n) for n in names if n not in shown),
        *(TableDifference(TableDifferenceKind.EXTRA_COLUMN, n) for n in shown if n not in names),
    ]
    values = [
        TableDifference(TableDifferenceKind.VALUE, name, at, one, other)
        for at, against in pairs.items()
        for name, one, other in zip(common, right[at], answered[against], strict=True)
        if not same(one, other)
    ]
    absent = [at for at in lost if at not in pairs]
    extra_rows = [at for at in extra if at not in pairs.values()]
    return (
        *heads,
        *values,
        *(TableDifference(TableDifferenceKind.LOST_ROW, "", at, right[at]) for at in absent),
        *(TableDifference(TableDifferenceKind.EXTRA_ROW, actual=answered[at]) for at in extra_rows),
    )


def _taken(rows: Sequence[Row], columns: Sequence[int]) -> list[Row]:
    return [tuple(row[at] for at in columns) for row in rows]


def _unequal(right: Sequence[Row], answered: Sequence[Row]) -> tuple[list[int], list[int]]:
    """Return the numbers of the rows on each side that have no equal one on the other."""
    texts, shown = [list(map(row_text, rows)) for rows in (right, answered)]
    common = Counter(texts) & Counter(shown)
    return _left(texts, common), _left(shown, common)


def _left(texts: Sequence[str], common: Counter[str]) -> list[int]:
    left, numbers = common.copy(), []
    for at, text in enumerate(texts):
        if left[text]:
            left[text] -= 1
        else:
            numbers.append(at)
    return numbers


def row_text(row: Row) -> str:
    """Return a text that rows have in common that have the same values of the same types."""
    return json.dumps([to_json(value) for value in row])


def _pairs(
    lost: Sequence[int], extra: Sequence[int], right: Sequence[Row], answered: Sequence[Row]
) -> Iterator[tuple[int, int]]:
    """Yield rows that should be there, each with the one that was shown instead."""
    if not lost or not extra:
        return
    key = key_column(right)
    if key is not None:
        shown = {text_of(answered[at][key]): at for at in extra}
        if len(shown) == len(extra) and any(text_of(right[at][key]) in shown for at in lost):
            for at in lost:
                if (text := text_of(right[at][key])) in shown:
                    yield at, shown[text]
            return
    if len(lost) * len(extra) > MOST_PAIRS:
        return
    likeness = {
        pair: sum(map(same, right[pair[0]], answered[pair[1]])) for pair in product(lost, extra)
    }
    used = set[int]()
    for (at, against), common in sorted(likeness.items(), key=lambda e: (-e[1], e[0])):
        same_row = 2 * common >= len(right[at])  # else these are two rows, and not one that changed
        if same_row and at not in used and ~against not in used:
            used |= {at, ~against}
            yield at, against


def key_column(rows: Sequence[Row]) -> int | None:
    """Return the first column whose values are all there and tell every row from all others."""
    for at in range(len(rows[0]) if rows else 0):
        values = [row[at] for row in rows]
        plain = all(isinstance(value, str | int) for value in values)
        if plain and len(set(map(text_of, values))) == len(values):
            return at
    return None
