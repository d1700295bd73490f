"""Which formats an engine can read by the libraries on its class path. Pure.

The distributions of Spark and of Hive name the version of each such library in their settings.
"""

from __future__ import annotations

from typing import Final

from harness.artifacts.distribution import Distribution
from harness.engines.api import Settings

BUNDLES: Final = ("hudi", "iceberg")
"""What stands at the beginning of the name of a format that needs a library."""
HUDI_ONLY: Final = "schema-on-read"
"""Setting of a reader that nothing but Hudi knows."""


def cannot(distribution: Distribution, settings: Settings, format_name: str) -> str:
    """Return why a reader cannot be asked about tables of a format; see `Engine.cannot`."""
    needed = [each for each in BUNDLES if format_name.startswith(each)]
    for bundle in needed:
        if bundle not in distribution.settings:
            return f"{distribution.name} has no library for {bundle} tables"
    if HUDI_ONLY in settings and "hudi" not in distribution.settings:
        return f"{HUDI_ONLY} is a setting of Hudi, which {distribution.name} does not have"
    return ""
