r"""What becomes of a row whose texts hold the signs by which a text file parts its values.

`\n` ends a row, `\x01` stands between its values, `\x02` to `\x08` between their parts, `\N` is
NULL, bytes are Base64, and nothing is escaped (`LazySimpleSerDe`, `LazyUtils` of Hive 3.1.3; Hive
language manual, DDL, "Row Formats & SerDe"). Lines are compared as they stand in the file, however
a reader parses them.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from harness.judge.difference import Difference, DifferenceKind
from harness.model.canonical import MapValue, Value, leaves
from harness.model.conversion import cast_text

if TYPE_CHECKING:
    from harness.judge.expected_state import ExpectedState

NULL: Final = r"\N"
VALUES, PARTS = "\x01", "\x02"
_UNKNOWN: Final = "\0"
"""Stands for what no reader shows."""
_PARTED: Final = 8
"""So many signs part values."""
_ELEMENT: Final = re.compile(r"\[(\d+)\]$")
_SIGNS: Final = re.compile("[\x01-\x08\n]")
Piece = tuple[str, int]
"""What stands between two signs of a line, and the place of the column that it was written for."""
Line = Sequence[Piece]


def comes_apart(difference: Difference, state: ExpectedState) -> bool:
    """Return whether a value is what a text file makes of the one that was written there.

    So it is where both are one text there, or where it is a part of its own text.
    """
    pair = difference.expected, difference.actual
    if all(isinstance(value, tuple) for value in pair):
        texts = list(map(_text, pair))
        if texts[0] == texts[1] is not None:
            return True
    source = _written_for(difference, state)
    return source is not None and source == _place_of(difference, state)


def came_from_another(difference: Difference, state: ExpectedState) -> bool:
    """Return whether a value is a part of the row's own text of another column."""
    source = _written_for(difference, state)
    return source is not None and source != _place_of(difference, state)


def is_rest_of_a_row(difference: Difference, state: ExpectedState) -> bool:
    """Return whether a row is what a text file has after an end of line in a text of a row."""
    shown = difference.actual
    if difference.kind is not DifferenceKind.EXTRA_ROW or not isinstance(shown, tuple):
        return False
    texts = [_text(value) for value in shown]
    rests = (
        [text for text, _ in line] for lines in state.text_lines.values() for line in lines[1:]
    )
    return any(_reads(line, texts, shown) for line in rests)


def _reads(line: Sequence[str], texts: Sequence[str | None], shown: Sequence[Value]) -> bool:
    """Return whether a reader of a line shows such values, in as many columns as a table has.

    What stands under a type that it is not of is NULL, or has nothing but NULLs in it; not so the
    first one, by which the line is known.
    """
    pieces = [*line[: len(texts)], *[NULL] * (len(texts) - len(line))]
    pairs = list(zip(pieces, texts, shown, strict=True))
    same = [piece == text for piece, text, _ in pairs]
    if all(same):
        return True
    known = bool(_SIGNS.search(pieces[0])) and same[0]
    return known and all(
        equal or not any(_leaves(value)) for equal, (*_, value) in zip(same, pairs, strict=True)
    )


def _leaves(value: Value) -> Iterator[bool]:
    """Yield of each part of a value whether it is something."""
    match value:
        case dict():
            parts = list(value.values())
        case tuple():
            parts = list(value)
        case MapValue():
            parts = [part for _, part in value.pairs]
        case _:
            parts = []
            yield value is not None
    for part in parts:
        yield from _leaves(part)


def _place_of(difference: Difference, state: ExpectedState) -> int | None:
    names, root = state.schema.names, difference.column.partition("[")[0]
    return names.index(root) if root in names else None


def _written_for(difference: Difference, state: ExpectedState) -> int | None:
    """Return the place of the column that what stands here was written for, in a row's own line.

    None where its line has something else here, or holds no sign that parts values.
    """
    lines, position = state.text_lines.get(difference.key), _place_of(difference, state)
    if not lines or position is None or difference.kind is not DifferenceKind.CELL:
        return None
    line = lines[0]
    if position >= len(line):
        return None
    (text, source), element = line[position], _ELEMENT.search(difference.column)
    parts = text.split(PARTS) if element else [text]
    at = int(element[1]) if element else 0
    return source if at < len(parts) and parts[at] == _text(difference.actual) else None


def lines_of(values: Iterable[Value]) -> Sequence[Line]:
    """Return what a text file has of a row; nothing where no sign stands in its texts."""
    shown = list(values)
    if not any(_SIGNS.search(text) for value in shown for text in _strings(value)):
        return ()
    lines: list[list[Piece]] = [[]]
    for position, value in enumerate(shown):
        text = _text(value)
        if text is None:
            if any(map(_SIGNS.search, _strings(value))):
                return ()
            text = _UNKNOWN
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append([])
            lines[-1] += [(piece, position) for piece in part.split(VALUES)]
    return lines


def _strings(value: Value) -> Iterator[str]:
    return (part for part in leaves(value) if isinstance(part, str))


def _text(value: Value, depth: int = 1) -> str | None:
    """Return a value as it stands in a text file; None where that is not looked at.

    `depth`: the number of the sign that parts it from others.
    """
    match value:
        case None:
            return NULL
        case str():
            return value
        case tuple():
            return _joined([_text(element, depth + 1) for element in value], depth + 1)
        case dict():
            return _text(tuple(value.values()), depth)
        case MapValue():
            pairs = ([_text(part, depth + 2) for part in pair] for pair in value.pairs)
            return _joined([_joined(pair, depth + 2) for pair in pairs], depth + 1)
        case bytes():
            return base64.b64encode(value).decode()
    try:
        return cast_text(value)
    except ValueError:
        return None


def _joined(texts: Sequence[str | None], depth: int) -> str | None:
    return None if None in texts or depth > _PARTED else chr(depth).join(map(str, texts))
