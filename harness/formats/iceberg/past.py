"""How questions about the past name the writes of Iceberg tables."""

from __future__ import annotations

from typing import Final

from harness.engines.format_facts import Timeline
from harness.engines.time_travel import SNAPSHOT
from harness.model.identifiers import TABLE

PAST: Final = Timeline(
    SNAPSHOT,
    where=(
        "of the snapshots, oldest first:",
        f"in Spark: select snapshot_id from {{database}}.{TABLE}.snapshots order by committed_at",
    ),
)
"""Iceberg documentation, "Spark Queries", "Inspecting tables"."""
