"""`create_tag`: the snapshot of now gets a name that stays; the rows and columns stay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from harness.model.schema import SchemaChangeError
from harness.model.truth import Truth


@dataclass(frozen=True, slots=True)
class CreateTag:
    """Tag the current snapshot, so that a query can name it."""

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = False

    def text(self) -> str:
        """Say it in a few words."""
        return "create a tag"

    def evolve(self, before: Truth) -> Truth:
        """Keep everything, and that the table of now has a name.

        Raises:
            SchemaChangeError: nothing was written, so there is no snapshot.

        """
        if not before.rows and not before.gone:
            raise SchemaChangeError("nothing is written yet that could be tagged")
        step = before.step + 1
        return replace(before, step=step, tags=(*before.tags, step))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: the format has its own way."""
        return ()
