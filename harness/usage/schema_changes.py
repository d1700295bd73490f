"""Which changes lie between two schemas: by the ids of columns, or by names alone. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter

from harness.formats.files import column_parts
from harness.formats.files.column_parts import ColumnPart
from harness.usage.usage_file import AddedPlace, OldFiles, SchemaChange, UsedChange


def between(
    before: Sequence[ColumnPart], after: Sequence[ColumnPart], old_files: OldFiles, above: str = ""
) -> Iterator[UsedChange]:
    """Yield the changes by ids of columns; `above`: the dotted path of what they are parts of."""
    old, new = ({part.id: part for part in side} for side in (before, after))
    for part in before:
        if part.id not in new:
            yield UsedChange(SchemaChange.DROP, above + part.name, old_files=old_files)
    for at, part in enumerate(after):
        if part.id not in old:
            last = all(later.id not in old for later in after[at:])
            position = AddedPlace.END if last else AddedPlace.MIDDLE
            yield UsedChange(
                SchemaChange.ADD, above + part.name, place=position, old_files=old_files
            )
    common = [column.id for column in before if column.id in new]
    for number in _moved(common, [column.id for column in after if column.id in old]):
        yield UsedChange(SchemaChange.MOVE, above + old[number].name, old_files=old_files)
    for number in common:
        yield from _within(old[number], new[number], old_files, above)


def _within(
    old: ColumnPart, new: ColumnPart, old_files: OldFiles, above: str
) -> Iterator[UsedChange]:
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
    index = {number: at for at, number in enumerate(after)}
    runs: list[list[int | str]] = []  # for each, the longest rest that ends with it
    for number in before:
        fit = [run for run in runs if index[run[-1]] < index[number]]
        runs.append([*(max(fit, key=len) if fit else ()), number])
    stayed = max(runs, key=len)
    return [number for number in before if number not in stayed]


def by_names(before: Sequence[ColumnPart], after: Sequence[ColumnPart]) -> Iterator[UsedChange]:
    """Yield the changes from an old file's columns, known by name alone, to today's.

    What is gone may have been renamed to what is new: both are then told, and not as sure.
    """
    # Hive takes names in whatever case.
    old, new = (column_parts.by_name(side, str.lower) for side in (before, after))
    changes = list(between(old, new, OldFiles.YES))
    pairs = list(_possible_renames(changes, _where(old, new), _where(new, old)))
    for add in dict.fromkeys(add for _, add, _ in pairs):
        fit = [(not same, drop) for drop, pair, same in pairs if pair == add]
        first = min(fit, key=itemgetter(0))[1]
        to = add.column.rpartition(".")[2]
        yield UsedChange(SchemaChange.RENAME, first.column, to, old_files=OldFiles.YES, sure=False)
    unsure = {change for drop, add, _ in pairs for change in (drop, add)}
    yield from (replace(change, sure=change not in unsure) for change in changes)


_Where = Mapping[str, tuple[int, str]]
"""Of each column and part, by its path: how many of those that stayed are before it; its type."""


def _possible_renames(
    changes: Sequence[UsedChange], before: _Where, after: _Where
) -> Iterator[tuple[UsedChange, UsedChange, bool]]:
    """Yield which column may have become which, and whether it stands in the same place."""
    for drop in (change for change in changes if change.operation is SchemaChange.DROP):
        for add in (change for change in changes if change.operation is SchemaChange.ADD):
            (index, type_), (other, new_type) = before[drop.column], after[add.column]
            if type_ == new_type and _parent(drop) == _parent(add):
                yield drop, add, index == other


def _parent(change: UsedChange) -> str:
    return change.column.rpartition(".")[0]


def _where(
    parts: Sequence[ColumnPart], other: Sequence[ColumnPart], above: str = ""
) -> dict[str, tuple[int, str]]:
    columns: dict[str, tuple[int, str]] = {}
    there, stayed = {part.name: part for part in other}, 0
    for part in parts:
        path, same = f"{above}{part.name}", there.get(part.name)
        columns |= {path: (stayed, part.type)}
        columns |= _where(part.parts, same.parts if same else (), f"{path}.")
        stayed += same is not None
    return columns
