"""What dies, while what is done, and how often: the kinds of runs of `deaths.py`."""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.deaths_runs import HARNESS

SCENARIOS: Final = Path(__file__).with_name("deaths_scenarios")
WRITER: Final = "spark-3.5.8-hudi-0.15.0"
ICEBERG_WRITER: Final = "spark-3.5.8-iceberg-1.10.1"
READS_BESIDE: Final = "hive-3.1.3"
"""Reads while tables are written."""
ICEBERG_BESIDE: Final = "hive-3.1.3-iceberg-1.4.3"
"""The same of Iceberg's tables."""
ICEBERG_READERS: Final = (ICEBERG_WRITER, ICEBERG_BESIDE)
READERS: Final = (
    "spark-3.5.8-hudi-1.0.2",
    "spark-3.5.8-hudi-1.2.0",
    READS_BESIDE,
    "trino-476",
    "trino-368",
    "prestosql-350",
    "prestodb-0.283",
    *ICEBERG_READERS,
)
METASTORE: Final = "metastore"
EVERY: Final = sys.maxsize
ANSWER_S: Final = 8
"""Time-out of queries where a process is stopped; otherwise the harness's own."""
WRITE_S: Final = 30
"""Time-out of a writer's statements there."""


@dataclass(frozen=True, slots=True)
class DeathKind:
    """What dies, while what is done."""

    target: str
    """`harness`, `metastore`, or a distribution."""
    reader: str
    writes: bool = False
    """Whether tables are written too, or their states are there already."""
    stops: bool = False
    """Whether it hangs (SIGSTOP) instead of being killed."""

    @property
    def struck(self) -> str:
        """What the table calls it, whoever reads."""
        how = "hangs" if self.stops else "killed"
        return f"{self.target} {how}{', while tables are written' if self.writes else ''}"

    @property
    def name(self) -> str:
        """What the log calls it, and `--only` looks at."""
        how = "hangs" if self.stops else "killed"
        return f"{self.target} {how}, {'writing and ' if self.writes else ''}{self.reader}"

    @property
    def profile(self) -> str:
        """What is run: one table, or several, so that some are read while others are written."""
        iceberg = "-iceberg" if self.reader in ICEBERG_READERS else ""
        return f"deaths{iceberg}{'-writing' if self.writes else ''}"

    @property
    def cells(self) -> tuple[str, ...]:
        """How a verb is told of them; a writer of the same name is no reader."""
        return (str(SCENARIOS), "--profile", self.profile, "-k", f"/all/{self.reader}")

    @property
    def options(self) -> list[str]:
        """How a run of this kind is asked for."""
        result = [*self.cells, "--fresh"]
        if self.stops:
            result += ["--timeout", str(ANSWER_S), "--write-timeout", str(WRITE_S)]
        return result


SHARES: Final[dict[DeathKind, int]] = {
    **{DeathKind(HARNESS, reader): 4 for reader in READERS},
    DeathKind(HARNESS, READS_BESIDE, writes=True): 18,
    DeathKind(HARNESS, ICEBERG_BESIDE, writes=True): 6,
    DeathKind(WRITER, READS_BESIDE, writes=True): 16,
    DeathKind(WRITER, READS_BESIDE, writes=True, stops=True): 4,
    DeathKind(ICEBERG_WRITER, ICEBERG_BESIDE, writes=True): 6,
    DeathKind(ICEBERG_WRITER, ICEBERG_BESIDE, writes=True, stops=True): 2,
    DeathKind(READS_BESIDE, READS_BESIDE, writes=True): 8,
    DeathKind(METASTORE, READS_BESIDE, writes=True): 10,
    DeathKind(METASTORE, READS_BESIDE, writes=True, stops=True): 2,
    **{DeathKind(reader, reader): 6 for reader in READERS},
    **{DeathKind(METASTORE, reader): 2 for reader in READERS},
    **{DeathKind(reader, reader, stops=True): 2 for reader in READERS},
    DeathKind(METASTORE, READS_BESIDE, stops=True): 2,
}
"""Of two hundred runs."""


def planned(runs: int, seed: int, only: str, most: int = EVERY) -> dict[int, DeathKind]:
    """Return the kinds of so many runs by their numbers, in their shares, in a random order.

    `only`: a pattern that the kind's name has; `each`: the first so many of every kind.
    """
    every = [kind for kind, share in SHARES.items() for _ in range(share)]
    random.Random(seed).shuffle(every)  # noqa: S311 - to be repeated, not secret
    whole, rest = divmod(runs, len(every))
    drawn, result = Counter[DeathKind](), dict[int, DeathKind]()
    for number, kind in enumerate(every * whole + every[:rest], start=1):
        drawn[kind] += 1
        if drawn[kind] <= most and re.search(only, kind.name):
            result[number] = kind
    return result
