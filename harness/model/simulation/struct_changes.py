"""Whether parts of columns had other names or places: then readers can find them differently."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from harness.model.truth import History


def renamed_inside(history: History) -> bool:
    """Return whether a part of a column had a name that another part, or this one, has not."""
    return not _one_to_one(
        (field.id, part.id, part.name)
        for truth in history
        for field in truth.schema.walk()
        for part in field.children
    )


def moved_inside(history: History) -> bool:
    """Return whether a part of a column had another place among its parts than now."""
    return not _one_to_one(
        (field.id, part.id, at)
        for truth in history
        for field in truth.schema.walk()
        for at, part in enumerate(field.children)
    )


def _one_to_one(found: Iterable[tuple[int, int, Hashable]]) -> bool:
    """Return whether each part of a column has one value, and no other part of it has that one."""
    every = set(found)
    ids, values = {(field, id_) for field, id_, _ in every}, {(field, v) for field, _, v in every}
    return len(ids) == len(values) == len(every)
