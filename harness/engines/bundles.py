"""Which formats an engine can read by the libraries on its class path. Pure.

The distributions of Spark and of Hive name the version of each such library in their settings.
"""

from __future__ import annotations

from typing import Final

from harness.artifacts.distribution import Distribution
from harness.engines.api import ReaderSettings
from harness.engines.format_facts import FormatFacts

BUILT_IN: Final = "hive"
"""The family of tables that needs no library."""
HUDI_ONLY: Final = frozenset({"schema-on-read", "data-skipping", "metadata-table"})
"""Settings of a reader that nothing but Hudi knows."""


def cannot(distribution: Distribution, settings: ReaderSettings, format_: FormatFacts) -> str:
    """Return why a reader cannot be asked about tables of a format; see `Engine.cannot`."""
    if format_.family not in {BUILT_IN, *distribution.settings}:
        return f"{distribution.name} has no library for {format_.family} tables"
    hudis = sorted(HUDI_ONLY & settings.keys())
    if hudis and "hudi" not in distribution.settings:
        return f"{hudis[0]} is a setting of Hudi, which {distribution.name} does not have"
    return ""
