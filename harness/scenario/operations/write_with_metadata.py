"""`write_with_metadata`: whole rows, in a commit that has metadata of the user's own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Strict

from harness.model.schema import SchemaChangeError
from harness.model.truth import Truth
from harness.scenario.operations.api import Example, Family, Key, Operation
from harness.scenario.operations.new_rows import rows_text
from harness.scenario.operations.row_writes import Upsert

NAME: Final = re.compile(r"[A-Za-z][\w.-]*")
"""What `set` takes as the name of a setting without quotes."""
NO_VALUE: Final = re.compile(r"""['"`;\\$]|[^ -~]|^\s|\s$|^$""")
"""What makes a value another one in `set`, which ends at a semicolon and fills in `${…}`."""


class MetadataWay(StrEnum):
    """How a writer is told of the metadata."""

    SET = "set"
    QUOTED_SET = "quoted_set"
    """With the prefix in quotes, which SQL does not take off."""
    TABLE_OPTIONS = "table_options"
    FRAME = "frame"


TEXTS: Final[Mapping[MetadataWay, str]] = dict(
    zip(
        MetadataWay,
        ("by set", "by set with quotes", "as table options", "by a DataFrame"),
        strict=True,
    )
)


@dataclass(frozen=True, slots=True)
class WriteWithMetadata(Operation):
    """Write whole rows with these keys, new or replacing others, with `metadata` in the commit.

    `prefix` is what the names of all of it begin with.
    """

    EXAMPLES = (
        Example(
            'write_with_metadata: {keys: [1, 5], prefix: run., metadata: {run.id: "17"}, by: set}',
            "as `upsert`, with metadata of your own in the commit, see [below](#extra-metadata)",
        ),
    )
    FAMILIES = frozenset({Family.HUDI})
    keys: tuple[Key, ...]
    metadata: dict[str, str]
    prefix: str
    by: Annotated[MetadataWay, Strict(strict=False)] = MetadataWay.SET

    def text(self) -> str:
        return f"upsert {rows_text(len(self.keys))}, {', '.join(self.metadata)} {TEXTS[self.by]}"

    def evolve(self, before: Truth) -> Truth:
        if wrong := next(self._wrong(), ""):
            raise SchemaChangeError(wrong)
        return Upsert(self.keys).evolve(before)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return one insert statement; the format says how it is told of the metadata."""
        return Upsert(self.keys).sql(before, after)

    def _wrong(self) -> Iterator[str]:
        if not self.metadata:
            yield "metadata: there is none; give at least one name with its value"
        for name in (self.prefix, *self.metadata):
            if not NAME.fullmatch(name):
                yield f"'{name}' is no name of metadata; allowed: letters, digits, '.', '_' and '-'"
        for name, value in self.metadata.items():
            if not name.startswith(self.prefix) or name == self.prefix:
                yield f"metadata: '{name}' has no name behind the prefix; write {self.prefix}…"
            if NO_VALUE.search(value):
                yield (
                    f"metadata: the value of '{name}' cannot be told by every way; allowed: ASCII "
                    "without quotes, ';', '$', '\\' and blanks at its ends"
                )
