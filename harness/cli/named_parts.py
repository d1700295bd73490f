"""What the command line names, before anything is looked up: it costs no time to load."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

QUICK_START: Final = "quick-start"
"""The default profile."""
READER: Final = "reader"
WRITER: Final = "writer"
ROLES: Final = (READER, WRITER)
"""What a distribution that can be both is asked to be."""


@dataclass(frozen=True, slots=True)
class NamedParts:
    """Formats, writers and readers as texts of the command line; empty where none is named."""

    formats: Sequence[str] = ()
    writers: Sequence[str] = ()
    readers: Sequence[str] = ()
    file: Path | None = None
    """A file of more readers."""


NONE: Final = NamedParts()
