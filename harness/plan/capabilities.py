"""What a plan must know of formats and of distributions that write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from harness.scenario.cells import Reader
from harness.scenario.definition import Scenario
from harness.scenario.operations.api import Operation


@dataclass(frozen=True, slots=True)
class Maker:
    """What a distribution can write."""

    formats: tuple[str, ...]
    table_versions: tuple[str, ...] = ()
    """Of the formats that have such; empty where nothing is said of them."""
    cannot: Mapping[str, str] = field(default_factory=dict)
    """Why it cannot make tables with a setting, by `setting=value`, or do a step, by operation."""


Makers = Mapping[str, Maker]
"""By the name of the distribution; one that is not there may write everything."""

Cannot = Callable[[Reader, str], str]
"""Why a reader cannot be asked of a format; empty when it can."""


CannotShow = Callable[[Reader, str, str], str]
"""Why a reader cannot be asked of a format for a view of the past; empty when it can."""


def every_view(reader: Reader, format_name: str, view: str) -> str:  # noqa: ARG001 - as above
    """Return nothing: every reader can be asked for every view."""
    return ""


def anything(reader: Reader, format_name: str) -> str:  # noqa: ARG001 - as `Cannot` has them
    """Return nothing: every reader can be asked of every format."""
    return ""


class Capabilities(Protocol):
    """What a plan must know of a format; the objects of `harness.formats` have it."""

    @property
    def NAME(self) -> str:  # noqa: N802 - as formats call it
        """As scenarios and profiles write it."""

    @property
    def merge_on_read(self) -> bool:
        """Whether the catalog entries of its views appear with the first write."""

    @property
    def views(self) -> tuple[str, ...]:
        """The questions that can be asked of a table."""

    @property
    def past_views(self) -> tuple[str, ...]:
        """The views of its past that can be asked for."""

    @property
    def settings(self) -> Mapping[str, tuple[str, ...]]:
        """The settings a variant may name, each with its values."""

    @property
    def unsupported_types(self) -> frozenset[str]:
        """Types that its tables cannot have, without parameters."""

    @property
    def partitions_last(self) -> bool:
        """Whether partition columns stand behind all others, wherever they were declared."""

    def unsupported(self, operation: Operation) -> str:
        """Return why an operation is impossible in this format; empty when it is not."""

    def unsupported_settings(self, settings: Mapping[str, str], scenario: Scenario) -> str:
        """Return why a scenario's table cannot have these settings; empty when it can."""
