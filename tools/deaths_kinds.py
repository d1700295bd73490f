"""What dies, while what is done, and how often: the kinds of runs of `deaths.py`."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deaths_runs import HARNESS

SCENARIOS: Final = Path(__file__).with_name("deaths_scenarios")
PROFILE: Final = (str(SCENARIOS), "--profile", "deaths")
WRITING: Final = (str(SCENARIOS), "--profile", "deaths-writing")
"""Of several tables, so that some are read while others are still written."""
WRITER: Final = "spark-3.5.8-hudi-0.15.0"
READERS: Final = ("spark-3.5.8-hudi-1.0.2", "hive-3.1.3", "trino-476", "prestosql-350")
READS_BESIDE: Final = "hive-3.1.3"
"""Reads while tables are written."""
METASTORE: Final = "metastore"
ANSWER_S: Final = 8
"""Time-out of queries where a process is stopped; otherwise the harness's own."""
WRITE_S: Final = 30
"""Time-out of a writer's statements there."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What dies, while what is done."""

    target: str
    """`harness`, `metastore`, or a distribution."""
    reader: str
    writes: bool = False
    """Whether tables are written too, or their states are there already."""
    stops: bool = False
    """Whether it hangs (SIGSTOP) instead of being killed."""

    @property
    def name(self) -> str:
        """As the table says it."""
        how = "hangs" if self.stops else "killed"
        return f"{self.target} {how}, {'writing and ' if self.writes else ''}{self.reader}"

    @property
    def options(self) -> list[str]:
        """How a run of this kind is asked for."""
        found = [*(WRITING if self.writes else PROFILE), "-k", self.reader, "--fresh"]
        if self.stops:
            found += ["--timeout", str(ANSWER_S), "--write-timeout", str(WRITE_S)]
        return found


SHARES: Final[dict[Kind, int]] = {
    **{Kind(HARNESS, reader): 8 for reader in READERS},
    Kind(HARNESS, READS_BESIDE, writes=True): 26,
    Kind(WRITER, READS_BESIDE, writes=True): 22,
    Kind(WRITER, READS_BESIDE, writes=True, stops=True): 4,
    Kind(READS_BESIDE, READS_BESIDE, writes=True): 10,
    Kind(METASTORE, READS_BESIDE, writes=True): 12,
    Kind(METASTORE, READS_BESIDE, writes=True, stops=True): 2,
    **{Kind(reader, reader): 14 for reader in READERS},
    **{Kind(METASTORE, reader): 5 for reader in READERS},
    **{Kind(reader, reader, stops=True): 3 for reader in READERS},
    Kind(METASTORE, "hive-3.1.3", stops=True): 4,
}
"""Of two hundred runs."""


def planned(runs: int, seed: int, only: str) -> dict[int, Kind]:
    """Give the kinds of so many runs by their numbers, in their shares, in a random order."""
    every = [kind for kind, share in SHARES.items() for _ in range(share)]
    random.Random(seed).shuffle(every)  # noqa: S311 - to be repeated, not secret
    whole, rest = divmod(runs, len(every))
    kinds = enumerate(every * whole + every[:rest], start=1)
    return {number: kind for number, kind in kinds if re.search(only, kind.name)}
