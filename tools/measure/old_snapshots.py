"""Read what a compaction left with the transactions of before it, as a reader does that comes late.

    python tools/measure/old_snapshots.py RUN FOLDER [--reader hive-3.1.3]

A reader of a transactional table asks the metastore once which writes count, and looks for files
later: what is written and compacted between the two is in the table's folder by then. Here it is so
each time: for every table of a finished run that was compacted, the folder of the compaction, and
that of the last step, are registered with the columns and writes of each step before, and every
reader is asked for the whole table. Prints how often its answer is the one that the step itself
gives, and what else it is. Status 1 where there is any other.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools`

from harness.artifacts.cache import Cache
from harness.run import load_run, pipeline
from harness.runtime.metastore_client import Catalog
from harness.write import state_store
from harness.write.table_state import State
from tools.measure import two_tables

HEAD: Final = ("table", "reader", "what came", "how often")
SAME: Final = "as at the time"
_FILE: Final = re.compile(r"file:/\S+")


@dataclass(frozen=True, slots=True)
class OldSnapshot:
    """A step of a table, and a later one whose files are there by now."""

    variant: str
    step: int
    files_of: int
    before: State
    after: State

    @property
    def database(self) -> str:
        """Where the files of the later one are registered as the earlier one has them."""
        return f"{self.before.database}_{self.after.digest[:8]}"

    def register(self, catalog: Catalog) -> None:
        """Make both tables in a metastore."""
        state_store.register(catalog, self.before)
        if not catalog.has(self.database):
            place = str(state_store.in_sight(self.after))
            catalog.register(self.database, self.before.frozen.entries, place)


def snapshots(found: load_run.Run, states: Mapping[tuple[str, int], State]) -> list[OldSnapshot]:
    """Return every step before a compaction, with the files of this one and of the last step."""
    made = []
    for variant in found.info.variants:
        steps = [n for name, n in states if name == variant.id]
        compactions = [n for n in steps if found.step(variant.id, n).text.startswith("compact")]
        for after in dict.fromkeys((*compactions, max(steps))) if compactions else ():
            made += [
                OldSnapshot(variant.id, n, after, states[variant.id, n], states[variant.id, after])
                for n in range(1, after)
            ]
    return made


def came(then: str, late: str) -> str:
    """Return what came of a late question; `then`: what the step itself shows."""
    if then == late:
        return SAME
    return _FILE.sub("FILE", late) if late.startswith("refused: ") else f"{late}, not {then}"


def main() -> int:
    """Ask every reader; print what came of it."""
    given = two_tables.options(__doc__ or "")
    found = load_run.load(given.run)
    olds = snapshots(found, pipeline.states_of(found.states, Cache.default()))
    counts = Counter[tuple[str, str, str]]()
    for old, name, then, late in two_tables.answers(found, given.reader, olds, given.folder):
        counts[f"`{old.variant}`", f"`{name}`", came(then, late)] += 1
    return two_tables.told(HEAD, counts, SAME)


if __name__ == "__main__":
    raise SystemExit(main())
