"""About how long a plan takes, from times measured on two idle cores (engines notes)."""

from __future__ import annotations

from typing import Final

from harness.cells import Plan, Reader

WRITER_START_S: Final = 8.0
STEP_S: Final = 1.2
MAPREDUCE_S: Final = 2.0
"""Of a query that Hive runs as a job."""
READERS_S: Final = {
    "spark": (8.0, 0.25),
    "hive": (5.0, 0.2),
    "trino": (14.0, 0.12),
    "prestosql": (12.7, 0.3),
}
"""For each engine the seconds until the first answer, and of one query."""
OTHER_S: Final = (15.0, 0.3)


def estimate(plan: Plan) -> float:
    """Give the seconds a plan takes when nothing is reused and nothing must be downloaded."""
    writers = {name for variant in plan.variants for name in variant.writers}
    steps = sum(len(variant.writers) for variant in plan.variants)
    servers = {reader.distribution for reader in plan.readers}
    starts = sum(_costs(name)[0] for name in servers)
    queries = {str(reader): _query(reader) for reader in plan.readers}
    asking = sum(queries[cell.reader] for cell in plan.cells)
    return WRITER_START_S * len(writers) + STEP_S * steps + starts + asking


def _query(reader: Reader) -> float:
    if ("path", "mapreduce") in reader.settings:
        return MAPREDUCE_S
    return _costs(reader.distribution)[1]


def _costs(distribution: str) -> tuple[float, float]:
    return READERS_S.get(distribution.partition("-")[0], OTHER_S)
