"""The manifest of exported fixtures: what was written how, which files lie where, with hashes.

It is read by programs that know nothing of the harness; `docs/fixtures.md` explains each key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter

FORMAT: Final = 1
"""Raised whenever a key gets another meaning."""
FILE: Final = "manifest.json"


@dataclass(frozen=True, slots=True)
class FileSum:
    """A file with what it must be."""

    path: str
    """Relative to the folder that has the manifest."""
    size: int
    """In bytes."""
    sha256: str


@dataclass(frozen=True, slots=True)
class FileSlice:
    """What a reader of now puts together: a base file, and the log files that came after it."""

    base: str | None
    """Relative to the table's folder."""
    logs: tuple[str, ...]
    """In the order in which they were written."""


@dataclass(frozen=True, slots=True)
class Fixture:
    """A table as it was after a step."""

    table: str
    """The table's folder."""
    moves: bool
    """Whether a copy can be read at any place; else its metadata name `location`."""
    location: str
    """The path of the table's folder in its own metadata; empty where a copy can be moved."""
    table_version: str
    """Where the format counts versions."""
    instants: Mapping[int, str]
    """By step: what it made on this table's timeline."""
    slices: tuple[FileSlice, ...] | None
    """The files of now; None where `layout` says why they are not known."""
    layout: str
    expected: FileSum
    catalog: FileSum
    """What the metastore held of the table, `{location}` standing for its folder."""
    files: tuple[FileSum, ...]
    folders: tuple[str, ...]
    """Empty ones, which some archives lose."""


@dataclass(frozen=True, slots=True)
class FixtureStep:
    """A step of a variant; the creation of the table is step 0."""

    step: int
    text: str
    writer: str
    outcome: str
    statements: tuple[str, ...]
    """As sent, with `{database}` and `{location}` as placeholders."""
    fixture: Fixture | None
    left_out: str
    """Why there is no fixture; empty where there is one."""


@dataclass(frozen=True, slots=True)
class FixtureVariant:
    """A table that was written, with its steps."""

    id: str
    scenario: str
    text: FileSum
    """The scenario's file."""
    format: str
    settings: Mapping[str, str]
    steps: tuple[FixtureStep, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that was exported."""

    fixtures: int
    """The version of this description."""
    harness: str
    run: str
    profile: str
    writers: Mapping[str, str]
    """What each writer is made of, by its name."""
    variants: tuple[FixtureVariant, ...]


def dumped(manifest: Manifest) -> bytes:
    return _MANIFEST.dump_json(manifest, indent=1) + b"\n"


_MANIFEST: Final = TypeAdapter(Manifest)
