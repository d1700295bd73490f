"""Columns of files to which a table's own records lead no reader, or the reader of another column.

Files that have names and no ids are led to by a mapping of names (Iceberg). Files that say nothing
of their columns at all are led to by the catalog's list alone, place by place. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from harness.model.file_facts import FileFact
from harness.model.schema import Field
from harness.model.truth import History, Truth


@dataclass(frozen=True, slots=True)
class MisledColumn:
    """A column of a file, or a part of a struct, that nothing leads to."""

    id: int
    keys: tuple[str, ...]
    """Text of the record keys in the file."""
    shown_as: str = ""
    """The column of now, in lower case, whose readers are led to it; empty: none is."""


def misled_columns(
    files: Sequence[FileFact], made: Mapping[str, int], history: History
) -> Iterator[MisledColumn]:
    """Yield such columns of the files of a table.

    Args:
        files: those of the last step.
        made: the step that made each instant.
        history: the truth after each step, up to the last one.

    """
    for file in (e for e in files if e.instant in made):
        then, now = history[made[file.instant]], history[-1]
        if file.nameless:
            yield from _by_position(file.keys, _stored(then), _stored(now))
        else:
            yield from _by_name(file, then, now)


def _by_name(file: FileFact, then: Truth, now: Truth) -> Iterator[MisledColumn]:
    for name in (n for n in file.lost_names if then.schema.has(n)):
        id_, misled = then.schema.find(name).id, name in file.misled_names
        other = misled and now.schema.has(name) and now.schema.find(name).id != id_
        yield MisledColumn(id_, file.keys, name.partition(".")[0].lower() if other else "")


def _by_position(
    keys: tuple[str, ...], then: Sequence[Field], now: Sequence[Field], root: str = ""
) -> Iterator[MisledColumn]:
    for old, new in zip_longest(then, now[: len(then)]):
        shown_as = root or (new.name.lower() if new else "")
        if new is None or new.id != old.id:
            yield MisledColumn(old.id, keys, shown_as if new else "")
        else:
            yield from _by_position(keys, old.children, new.children, shown_as)


def _stored(truth: Truth) -> Sequence[Field]:
    """Return the columns that files have: the values of others stand in the path."""
    by = truth.table.partition_by
    return [field for field in truth.schema.fields if field.name not in by]
