r"""What becomes of a row whose texts hold the signs by which a text file parts its values.

`\n` ends a row, `\x01` stands between its values, `\x02` to `\x08` between their parts, `\N` is
NULL, and nothing is escaped (`LazySimpleSerDe` of Hive 3.1.3; Hive language manual, DDL, "Row
Formats & SerDe"). Lines are compared as they stand in the file, however a reader parses them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final

from harness.judge.difference import Difference, DifferenceKind
from harness.model.canonical import MapValue, Value
from harness.model.conversion import cast_text

if TYPE_CHECKING:
    from harness.judge.expected_state import ExpectedState

NULL: Final = r"\N"
VALUES, PARTS = "\x01", "\x02"
UNTOLD: Final = "\0"
"""Stands for a value whose text is not looked at; none of them has a sign in it."""
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
        if texts[0] == texts[1] and UNTOLD not in texts[0]:
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
    rests = (line for lines in state.text_lines.values() for line in lines[1:])
    return any(_is_parsed_of(shown, [text for text, _ in line]) for line in rests)


def _is_parsed_of(row: Sequence[Value], texts: Sequence[str]) -> bool:
    """Return whether a row is what readers make of a line: NULL where a text is none of the type.

    The first text tells which line it is, for that is what the row is known by.
    """
    whole = [*texts, *[NULL] * (len(row) - len(texts))]
    return (
        len(whole) == len(row)
        and _text(row[0]) == whole[0]
        and all(_is_parsed(value, text) for value, text in zip(row, whole, strict=True))
    )


def _is_parsed(value: Value, text: str) -> bool:
    match value:
        case None:
            return True
        case dict():
            return all(_is_part(part, text) for part in value.values())
        case tuple():
            return all(_is_part(part, text) for part in value)
        case MapValue():
            return all(_is_part(part, text) for pair in value.pairs for part in pair)
    return _text(value) == text


def _is_part(value: Value, text: str) -> bool:
    if isinstance(value, dict | tuple | MapValue):
        return _is_parsed(value, text)
    return value is None or _text(value) in text


def _place_of(difference: Difference, state: ExpectedState) -> int | None:
    names, root = state.schema.names, difference.column.partition("[")[0]
    return names.index(root) if root in names else None


def _written_for(difference: Difference, state: ExpectedState) -> int | None:
    """Return the place of the column that what stands here was written for, in a row's own line.

    None where its line has something else here, or holds no sign that parts values.
    """
    lines, place = state.text_lines.get(difference.key), _place_of(difference, state)
    if not lines or place is None or difference.kind is not DifferenceKind.CELL:
        return None
    line = lines[0]
    if place >= len(line):
        return None
    (text, source), element = line[place], _ELEMENT.search(difference.column)
    parts = text.split(PARTS) if element else [text]
    at = int(element[1]) if element else 0
    return source if at < len(parts) and parts[at] == _text(difference.actual) else None


def lines_of(values: Iterable[Value]) -> Sequence[Line]:
    """Return what a text file has of a row; nothing where no sign stands in its texts."""
    shown = list(values)
    if not any(_SIGNS.search(text) for value in shown for text in _strings(value)):
        return ()
    lines: list[list[Piece]] = [[]]
    for place, text in enumerate(map(_text, shown)):
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append([])
            lines[-1] += [(piece, place) for piece in part.split(VALUES)]
    return lines


def _strings(value: Value) -> Iterator[str]:
    match value:
        case str():
            yield value
        case tuple() | dict():
            for part in value.values() if isinstance(value, dict) else value:
                yield from _strings(part)
        case MapValue():
            for part in chain(*value.pairs):
                yield from _strings(part)


def _text(value: Value, level: int = ord(PARTS)) -> str:
    """Return a value as it stands in a text file.

    `level`: the sign between its parts. A map takes two, one of them between key and value.
    """
    match value:
        case None:
            return NULL
        case str():
            return value
        case tuple():
            return chr(level).join(_text(part, level + 1) for part in value)
        case dict():
            return chr(level).join(_text(part, level + 1) for part in value.values())
        case MapValue():
            pairs = ([_text(part, level + 2) for part in pair] for pair in value.pairs)
            return chr(level).join(map(chr(level + 1).join, pairs))
        case bytes():
            return UNTOLD
    try:
        return cast_text(value)
    except ValueError:
        return UNTOLD
