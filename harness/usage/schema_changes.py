"""Which changes lie between two schemas: by the ids of columns, or by names alone. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter

from harness.formats.files.column_parts import ColumnPart
from harness.usage.used_tables import AddedPlace, OldFiles, SchemaChange, UsedChange


def between(
    before: Sequence[ColumnPart], after: Sequence[ColumnPart], old_files: OldFiles, above: str = ""
) -> Iterator[UsedChange]:
    """Yield the changes from one schema to another, columns known by their ids.

    `above`: the dotted path of what they are parts of, with a dot at its end.
    """
    old, new = ({each.id: each for each in side} for side in (before, after))
    for each in before:
        if each.id not in new:
            yield UsedChange(SchemaChange.DROP, above + each.name, old_files=old_files)
    for at, each in enumerate(after):
        if each.id not in old:
            last = all(later.id not in old for later in after[at:])
            place = AddedPlace.END if last else AddedPlace.MIDDLE
            yield UsedChange(SchemaChange.ADD, above + each.name, place=place, old_files=old_files)
    kept = [each.id for each in before if each.id in new]
    for number in _moved(kept, [each.id for each in after if each.id in old]):
        yield UsedChange(SchemaChange.MOVE, above + old[number].name, old_files=old_files)
    for number in kept:
        yield from _within(old[number], new[number], old_files, above)


def _within(
    old: ColumnPart, new: ColumnPart, old_files: OldFiles, above: str
) -> Iterator[UsedChange]:
    """Yield what became of one column."""
    path = above + old.name
    if old.name != new.name:
        yield UsedChange(SchemaChange.RENAME, path, to=new.name, old_files=old_files)
    if old.type != new.type:
        yield UsedChange(SchemaChange.CHANGE_TYPE, path, new.type, old.type, old_files=old_files)
    else:
        yield from between(old.parts, new.parts, old_files, f"{path}.")


def _moved(before: Sequence[int | str], after: Sequence[int | str]) -> list[int | str]:
    """Return what stands elsewhere, for a longest rest that stands in the same order."""
    if before == after:
        return []
    place = {each: at for at, each in enumerate(after)}
    runs: list[list[int | str]] = []  # for each, the longest rest that ends with it
    for each in before:
        fit = [run for run in runs if place[run[-1]] < place[each]]
        runs.append([*(max(fit, key=len) if fit else ()), each])
    stayed = max(runs, key=len)
    return [each for each in before if each not in stayed]


def by_names(before: Sequence[ColumnPart], after: Sequence[ColumnPart]) -> Iterator[UsedChange]:
    """Yield the changes from an old file's columns to today's, which are known by name alone.

    A column that is gone and a new one of the same type may be one that was renamed: both are then
    told, and none of it is sure.
    """
    old, new = _named(before), _named(after)
    found = list(between(old, new, OldFiles.YES))
    pairs = list(_alike(found, _where(old, new), _where(new, old)))
    for add in dict.fromkeys(add for _, add, _ in pairs):
        fit = [(not same, drop) for drop, each, same in pairs if each == add]
        first = min(fit, key=itemgetter(0))[1]
        to = add.column.rpartition(".")[2]
        yield UsedChange(SchemaChange.RENAME, first.column, to, old_files=OldFiles.YES, sure=False)
    unsure = {each for drop, add, _ in pairs for each in (drop, add)}
    yield from (replace(each, sure=each not in unsure) for each in found)


_Where = Mapping[str, tuple[int, str]]
"""Of each column and part, by its path: how many of those that stayed are before it; its type."""


def _alike(
    found: Sequence[UsedChange], before: _Where, after: _Where
) -> Iterator[tuple[UsedChange, UsedChange, bool]]:
    """Yield which column may have become which, and whether it stands in the same place."""
    for drop in (each for each in found if each.operation is SchemaChange.DROP):
        for add in (each for each in found if each.operation is SchemaChange.ADD):
            (place, type_), (other, new_type) = before[drop.column], after[add.column]
            if type_ == new_type and _parent(drop) == _parent(add):
                yield drop, add, place == other


def _parent(change: UsedChange) -> str:
    return change.column.rpartition(".")[0]


def _where(
    parts: Sequence[ColumnPart], other: Sequence[ColumnPart], above: str = ""
) -> dict[str, tuple[int, str]]:
    found: dict[str, tuple[int, str]] = {}
    there, stayed = {each.name: each for each in other}, 0
    for each in parts:
        path, same = f"{above}{each.name}", there.get(each.name)
        found |= {path: (stayed, each.type)}
        found |= _where(each.parts, same.parts if same else (), f"{path}.")
        stayed += same is not None
    return found


def _named(parts: Sequence[ColumnPart]) -> tuple[ColumnPart, ...]:
    """Return the same, known by names in whatever case, as Hive takes them."""
    return tuple(
        ColumnPart(each.name.lower(), each.name.lower(), each.type, _named(each.parts))
        for each in parts
    )
