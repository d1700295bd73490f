"""Columns asked alone after a refusal, each with the key; and heads of them that are spoilt."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from harness.core.records import Column, Part
from tests.builders.simulated_disk import META
from tests.builders.simulated_reader import Reply

KEY: Final = "id"
Spoil = Callable[[Reply, str, str], Reply]
"""Spoils the head of a table: the name of a column, and that of another one."""


def in_parts(reply: Reply) -> tuple[Part, ...]:
    return tuple(_part(reply, name) for name in reply.names)


def _part(reply: Reply, column: str) -> Part:
    at = [reply.names.index(name) for name in dict.fromkeys((KEY, column))]
    rows = tuple(tuple(row[index] for index in at) for row in reply.rows)
    return Part(column, "select", tuple(reply.columns[index] for index in at), rows)


def spoilt(reply: Reply, spoil: Spoil, name: str, other: str) -> tuple[Part, ...]:
    parts = {in_part.column: in_part for in_part in in_parts(reply)}
    part = parts[name]
    wrong = spoil(Reply(part.columns, part.rows), name, other)
    parts[name] = replace(part, columns=wrong.columns, rows=wrong.rows)
    return tuple(parts.values())


def without(reply: Reply, name: str) -> Reply:
    at = reply.names.index(name)
    rows = tuple((*row[:at], *row[at + 1 :]) for row in reply.rows)
    return Reply((*reply.columns[:at], *reply.columns[at + 1 :]), rows)


def beside(reply: Reply, column: Column) -> Reply:
    return Reply((*reply.columns, column), tuple((*row, -7) for row in reply.rows))


def twice(reply: Reply, name: str) -> Reply:
    return beside(reply, reply.columns[reply.names.index(name)])


def called(reply: Reply, name: str, to: str) -> Reply:
    return _declared(reply, name, replace(reply.columns[reply.names.index(name)], name=to))


def typed(reply: Reply, name: str) -> Reply:
    return _declared(reply, name, Column(name, "array(date)", "array<date>"))


def _declared(reply: Reply, name: str, column: Column) -> Reply:
    at = reply.names.index(name)
    return Reply((*reply.columns[:at], column, *reply.columns[at + 1 :]), reply.rows)


HEADS: Final[Mapping[str, Spoil]] = {
    "without the column": lambda reply, name, _: without(reply, name),
    "the column twice": lambda reply, name, _: twice(reply, name),
    "under another one's name": called,
    "under nobody's name": lambda reply, name, _: called(reply, name, "_col1"),
    "of another type": lambda reply, name, _: typed(reply, name),
    "without the key": lambda reply, *_: without(reply, KEY),
    "the key twice": lambda reply, *_: twice(reply, KEY),
    "the key of another type": lambda reply, *_: typed(reply, KEY),
    "one of Hudi's beside": lambda reply, *_: beside(reply, Column(META[0], "text", "string")),
}
"""Heads that a part may have, though it was asked for a column and the key."""
