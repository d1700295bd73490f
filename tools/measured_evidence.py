"""What a claim may ask of programs of `tools/measure`; `claim_measured` finds what they noted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import ConfigDict


@dataclass(frozen=True, slots=True)
class PipelineBatches:
    """Batches of pipelines that can say something of a claim."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    by: str
    """The program that carried them out."""
    writers: tuple[str, ...]
    """The distributions that did."""
    about: str = ""

    def has(self, line: Mapping[str, Any]) -> bool:
        """Return whether what was noted in a line is asked for."""
        return line["writer"] in self.writers

    @property
    def what(self) -> str:
        """What was measured."""
        return f"batches by `{self.by}`, many of them killed"

    @property
    def seen_of(self) -> str:
        """What was looked at."""
        return "checkpoint and rows of the target"


@dataclass(frozen=True, slots=True)
class FrameChanges:
    """Frames with other columns than their table that can say something of a claim."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    by: str
    """The program that wrote them."""
    writers: tuple[str, ...]
    """The distributions that did."""
    expected: tuple[str, ...]
    """What the claim allows, of what `claim_measured` says of a frame."""
    changes: tuple[str, ...] = ()
    """What is changed, in the program's words; none: whatever is."""
    about: str = ""

    def has(self, line: Mapping[str, Any]) -> bool:
        """Return whether what was noted in a line is asked for."""
        wanted = not self.changes or line["change"] in self.changes
        return wanted and line["writer"] in self.writers

    @property
    def what(self) -> str:
        """What was measured."""
        named = f" ({', '.join(self.changes)})" if self.changes else ""
        return f"frames with other columns{named} by `{self.by}`"

    @property
    def seen_of(self) -> str:
        """What was looked at."""
        return "whether they are written, and what is read then"


@dataclass(frozen=True, slots=True)
class MutationBatches:
    """Batches of Hive's Streaming Mutation API that can say something of a claim."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    by: str
    """The program that sent them."""
    batches: tuple[str, ...]
    """What was done, in the program's words."""
    expected: tuple[str, ...]
    """What the claim allows of what is thrown and shown, in the words of `claim_measured`."""
    about: str = ""
    writers: tuple[str, ...] = ("hive-mutation-3.1.3",)

    def has(self, line: Mapping[str, Any]) -> bool:
        """Return whether what was noted in a line is asked for."""
        return line["writer"] in self.writers and line["does"] in self.batches

    @property
    def what(self) -> str:
        """What was measured."""
        return f"{'; '.join(self.batches)}, by `{self.by}`"

    @property
    def seen_of(self) -> str:
        """What was looked at."""
        return "what is thrown, and what HiveServer2 shows then"


Measured = PipelineBatches | FrameChanges | MutationBatches
