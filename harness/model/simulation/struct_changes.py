"""What became of the parts of columns in a history: whether ways to find them can differ."""

from __future__ import annotations

from harness.model.truth import History


def renamed_inside(history: History) -> bool:
    """Return whether a part of a column had a name that another part, or this one, has not."""
    parts = {
        (field.id, part.id, part.name)
        for truth in history
        for field in truth.schema.walk()
        for part in field.children
    }
    ids, names = {(field, id_) for field, id_, _ in parts}, {(field, n) for field, _, n in parts}
    return not len(ids) == len(names) == len(parts)


def moved_inside(history: History) -> bool:
    """Return whether a part of a column had another place among its parts than now."""
    places = {
        (field.id, part.id, at)
        for truth in history
        for field in truth.schema.walk()
        for at, part in enumerate(field.children)
    }
    ids, at = {(field, id_) for field, id_, _ in places}, {(field, at) for field, _, at in places}
    return not len(ids) == len(at) == len(places)
