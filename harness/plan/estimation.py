"""About how long a plan takes on two idle cores, as seen of quick-start (225 s) and most of full.

Those runs wrote every table before any was read. Both go on side by side now, and each takes longer
for it: reading is added to writing here. `full` took 132 min, where this gives 117.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from harness.core.runtime_names import WAREHOUSES, given
from harness.scenario.cells import Plan

AT_ONCE: Final = 2
"""So many tables are written at once, and so many engines asked side by side."""
METASTORE_S: Final = 4.0
"""Until it answers; writing has one, and reading another, or two where the older one of them makes
the database."""
UPGRADE_S: Final = 4.0
"""Of the schema tool that upgrades such a database: 3 to 6."""
OBJECT_STORE_S: Final = 2.0
"""Until it answers."""
WRITER_START_S: Final = 4.0
STEP_S: Final = 0.95
"""Of a step, frozen, while another table is written: 0.94 in quick-start, 0.98 in full."""
STATE_S: Final = 0.03
"""Of noting a state's files and registering its tables for readers: 94 s for 3,028 in full."""
CELL_S: Final = 0.001
"""Of planning a question, judging its answer and reporting it; asking is in what engines take."""
MAPREDUCE_S: Final = 0.75
"""Of an answer for which Hive runs a job: 2.7 times as long as of one that it fetches."""
READERS_S: Final = {
    "spark": (5.0, 0.24),
    "hive": (4.0, 0.27),
    "trino": (14.0, 0.17),
    "prestosql": (12.7, 0.2),
    "prestodb": (14.0, 0.2),
}
"""For each engine the seconds until it answers, and those of an answer.

That is what `<engine>: … answers in … s` tells without the start, divided by the answers. Columns
that are asked alone after a refusal are in it: of Hive 0.22 s in quick-start, where few rows are
refused, 0.43 in full; of Trino 0.13 and 0.18. Of Presto nothing was seen side by side.
"""
OTHER_S: Final = (15.0, 0.2)


def estimate(plan: Plan) -> float:
    """Return the seconds a plan takes when nothing is reused and nothing must be downloaded."""
    steps = sum(len(variant.writers) for variant in plan.variants)
    seconds = STATE_S * steps + CELL_S * len(plan.cells)
    writers = {name for variant in plan.variants for name in variant.writers}
    seconds += WRITER_START_S * len(writers)
    seconds += STEP_S * steps / min(AT_ONCE, len(plan.variants) or 1)
    return _serving(plan) + seconds + _side_by_side(_asking(plan))


def _serving(plan: Plan) -> float:
    upgrade = UPGRADE_S if plan.metastore.upgraded_from else 0.0
    stored = any(given(reader.distribution) in WAREHOUSES for reader in plan.readers)
    metastores = 1 + len(plan.metastore.distributions)
    return METASTORE_S * metastores + upgrade + OBJECT_STORE_S * stored


def _asking(plan: Plan) -> Iterable[float]:
    """Return the seconds of each engine, in the order in which they are asked."""
    readers = {str(reader): reader for reader in plan.readers}
    asked = Counter(cell.reader for cell in plan.cells)
    seconds: dict[str, float] = {}
    for name, cells in asked.items():
        server, settings = readers[name].distribution, dict(readers[name].settings)
        start, answer = READERS_S.get(server.partition("-")[0], OTHER_S)
        if settings.get("path") in ("mapreduce", "tez"):
            answer = MAPREDUCE_S
        seconds[server] = seconds.get(server, start) + cells * answer
    return seconds.values()


def _side_by_side(jobs: Iterable[float]) -> float:
    """Return when the last is over: the next one begins as soon as one has ended."""
    lanes = [0.0] * AT_ONCE
    for seconds in jobs:
        lanes[0] += seconds
        lanes.sort()
    return lanes[-1]
