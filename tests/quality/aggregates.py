"""What a wrong count, or a wrong least or greatest value, has to be called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.core.records import FindingKind, Origin
from harness.model.canonical import Value, look_of, same
from tests.builders.traced_answer import Token
from tests.quality import asked

if TYPE_CHECKING:
    from tests.quality.oracle import Kinds, Oracle, Spot, Wrong


def wrong(oracle: Oracle) -> dict[Spot, Wrong]:
    """Return the one place of an aggregate, if it is wrong."""
    from tests.quality.oracle import Wrong  # noqa: PLC0415 - it imports this

    query, found = oracle.seen.query, oracle.seen.lines[0].values[0]
    wanted = asked.aggregate(query, map(oracle.expected, oracle.rows.values()))
    if same(wanted, found):
        return {}
    kinds = _count(wanted, found) if query.count else _extreme(oracle, query.columns[0], found)
    spot = ("", query.label)
    return {spot: Wrong(spot, kinds)}


def _count(wanted: Value, found: Value) -> Kinds:
    assert isinstance(wanted, int)
    assert isinstance(found, int)
    return frozenset({FindingKind.LOST_ROW if found < wanted else FindingKind.GHOST_ROW})


def _extreme(oracle: Oracle, path: str, found: Value) -> Kinds:
    """Name an extreme by whose value it is; where several fields could have written it, by none.

    Of several rows of one field it is one that the table still shows.
    """
    one, field = oracle.seen.lines[0].tokens[0], oracle.story.truth.schema.find(path)
    row = oracle.rows.get(one.key) if isinstance(one, Token) else None
    if not isinstance(one, Token):
        return frozenset({FindingKind.LOST_VALUE})
    own = one.field_id == field.id
    if own and row and one.step == row.written.get(oracle.root(field.id)):
        return frozenset({FindingKind.LOST_VALUE})
    origins = oracle.index.looks.get(look_of(found), ())
    shown = any(_shown(oracle, origin) for origin in origins)
    if {origin.field_id for origin in origins} != {one.field_id} or not (
        shown or len(origins) == 1
    ):
        return frozenset({FindingKind.UNEXPLAINED})
    if row is None:
        return frozenset({FindingKind.GHOST_ROW if own else FindingKind.MISALIGNED})
    return frozenset({oracle.name_of(field, one.field_id, one.step, one.key, None, found)})


def _shown(oracle: Oracle, origin: Origin) -> bool:
    row = oracle.rows.get(origin.key)
    return row is not None and origin.step == row.written.get(oracle.root(origin.field_id))
