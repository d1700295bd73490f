"""About how long a plan takes, from times measured on two idle cores (engines notes, runs)."""

from __future__ import annotations

from typing import Final

from harness.cells import Plan, Reader

WRITER_START_S: Final = 8.0
STEP_S: Final = 1.2
"""Of a step that is written alone and frozen."""
AT_ONCE_GAIN: Final = 1.6
"""So much faster two tables are written at once, and two connections answered, than one."""
MAPREDUCE_S: Final = 0.35
"""Of a query that Hive runs as a job."""
READERS_S: Final = {
    "spark": (8.0, 0.15),
    "hive": (5.0, 0.15),
    "trino": (14.0, 0.15),
    "prestosql": (12.7, 0.2),
    "prestodb": (14.0, 0.2),
}
"""For each engine the seconds until the first answer, and of one query on one connection."""
OTHER_S: Final = (15.0, 0.3)
CELL_S: Final = 0.005
"""What the harness itself does for a cell: ask, record, judge."""


def estimate(plan: Plan) -> float:
    """Give the seconds a plan takes when nothing is reused and nothing must be downloaded."""
    writers = {name for variant in plan.variants for name in variant.writers}
    steps = sum(len(variant.writers) for variant in plan.variants)
    servers = {reader.distribution for reader in plan.readers}
    starts = WRITER_START_S * len(writers) + sum(_costs(name)[0] for name in servers)
    queries = {str(reader): _query(reader) for reader in plan.readers}
    asking = sum(queries[cell.reader] for cell in plan.cells)
    return starts + (STEP_S * steps + asking) / AT_ONCE_GAIN + CELL_S * len(plan.cells)


def _query(reader: Reader) -> float:
    if ("path", "mapreduce") in reader.settings:
        return MAPREDUCE_S
    return _costs(reader.distribution)[1]


def _costs(distribution: str) -> tuple[float, float]:
    return READERS_S.get(distribution.partition("-")[0], OTHER_S)
