"""How questions about the past name the writes of Delta tables.

What was written since a version comes from the change data feed. Spark names the first version of
which it shows the changes, Trino the last one of which it does not.
"""

from __future__ import annotations

from typing import Final

from harness.engines.format_facts import Timeline
from harness.engines.time_travel import NEXT_VERSION, VERSION
from harness.model.identifiers import CHANGE_COLUMNS, TABLE

PAST: Final = Timeline(
    VERSION,
    lambda library, table_version: NEXT_VERSION,  # noqa: ARG005 - the same in all
    CHANGE_COLUMNS,
    (
        "of the versions, oldest first:",
        f"in Spark: select version from (describe history {{database}}.{TABLE}) order by version",
    ),
)
