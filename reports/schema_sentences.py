"""Sentences about what a table itself says of its schema and of its commits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from harness.core.records import FindingKind, Witness
from harness.judge.recorded_metadata import SHOWN
from harness.judge.recorded_schema import LATEST
from harness.model.canonical import text_of


def _reused_id(place: Witness) -> str:
    if not place.key:
        return f"the history has {place.found} of one version_id"
    due = "an id of its own" if place.expected is None else f"that of {text_of(place.expected)}"
    return f"column {place.column} has id {place.key}, that of {place.found}; expected {due}"


def _lost_id(place: Witness) -> str:
    former = text_of(place.expected)
    return f"column {place.column} has the new id {place.key}; expected that of {former}"


def _low_max_id(place: Witness) -> str:
    return (
        f"max_column_id is {place.found}; expected at least {place.expected}, the id of "
        f"{place.column}"
    )


def _lost_version(place: Witness) -> str:
    return f"the history of the schema lacks {text_of(place.expected)}"


def _other_schema(place: Witness) -> str:
    found, due = text_of(place.found), text_of(place.expected)
    what = place.column if place.column == LATEST else f"column {place.column}"
    return f"by the table's own record {what} is {found}; expected {due}"


def _metadata(place: Witness) -> str:
    of = "show_commit_extra_metadata" if place.key == SHOWN else "the commit's file"
    due = "nothing of that name" if place.expected is None else repr(place.expected)
    found = "no extra metadata" if place.found is None else repr(place.found)
    return f"of {place.column} {of} has {found}; expected {due}"


SENTENCES: Final[Mapping[FindingKind, Callable[[Witness], str]]] = {
    FindingKind.REUSED_ID: _reused_id,
    FindingKind.LOST_ID: _lost_id,
    FindingKind.LOW_MAX_ID: _low_max_id,
    FindingKind.LOST_VERSION: _lost_version,
    FindingKind.OTHER_SCHEMA: _other_schema,
    FindingKind.LOST_METADATA: _metadata,
    FindingKind.OTHER_METADATA: _metadata,
}
"""How each kind of finding about a step's own record describes a place."""
