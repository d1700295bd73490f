"""How many files each step of a run leaves under `.hoodie`, and what Hudi writes for its schema.

    python tools/measure/schema_files.py RUN … > docs/results/schema_files.md

From the frozen states in the cache; no engine is started. A step counts where its state and that of
the step before are of one writing, so that each file is the step's. Checksums (`.crc`) are those of
the local file system and are left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools`

from harness.artifacts.cache import Cache
from harness.core.grouping import grouped
from harness.run import load_run, plan_record
from harness.scenario.cells import Variant
from harness.scenario.operations import name_of
from harness.scenario.operations.api import Operation
from harness.write import state_store
from harness.write.table_state import State
from tools.markdown_table import table

HUDI: Final = ".hoodie"
SCHEMA: Final = f"{HUDI}/.schema/"
METADATA: Final = f"{HUDI}/metadata/"
WRITES: Final = (
    *("insert", "upsert", "update", "merge", "delete", "touch", "write_frame"),
    *("move_row", "late_upsert", "late_delete", "overwrite", "delete_partition"),
)
SERVICES: Final = ("compact", "cluster")
HEAD: Final = (
    *("written by", "format", "step", "history", "steps"),
    *("new files under `.schema`", "removed there", "bytes there", "timeline and other files"),
    *("files of the metadata table", "bytes of all"),
)

Sizes = Mapping[str, int]
"""Files under `.hoodie`, by path, with their bytes."""


@dataclass(frozen=True, slots=True)
class Left:
    """What one step left under `.hoodie`."""

    row: tuple[str, str, str, str]
    """Writer, format, kind of step, and whether the table keeps a history of its schema by then."""
    files: Mapping[str, int]
    """The new files and those that changed, each with the bytes that it has more."""
    removed: int
    """So many files under `.schema` are gone."""

    def under(self, folder: str) -> list[int]:
        """Return the bytes of those in a folder."""
        return [size for path, size in self.files.items() if path.startswith(folder)]


def main() -> None:
    """Print the table of some runs."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("runs", type=Path, nargs="+", help="the folders of the runs")
    every = (each for run in options.parse_args().runs for each in steps_of(run))
    once = {(before, after): (v, step, before, after) for v, step, before, after in every}
    left = (found for step in once.values() if (found := left_by(*step)) is not None)
    for line in page(left):
        print(line)


def steps_of(folder: Path) -> Iterator[tuple[Variant, int, str, str]]:
    """Yield the steps of a run's Hudi tables, with the digests of the states before and after."""
    run = load_run.load(folder)
    states = grouped((each.variant, each) for each in run.states)
    for variant in plan_record.plan_of(run.info).variants:
        if variant.format.startswith("hudi"):
            for before, after in pairwise(states.get(variant.id, ())):
                yield variant, after.outcome.step, before.digest, after.digest


def left_by(variant: Variant, step: int, before: str, after: str) -> Left | None:
    """Return what a step left; None where it did nothing, or that cannot be told."""
    found = _both(Cache.default(), before, after)
    what = _what(variant.scenario.steps[step - 1].operation)
    if found is None or not what:
        return None
    was, now = found
    kept = "yes" if any(each.startswith(SCHEMA) for each in now) else "no"
    row = variant.writers[step], variant.format, what, kept
    gone = sum(path.startswith(SCHEMA) and path not in now for path in was)
    return Left(row, _grown(was, now), gone)


def new_under_schema(cache: Cache, before: str, after: str) -> int | None:
    """Return how many files between two states came under `.schema`; None as of `left_by`."""
    found = _both(cache, before, after)
    return None if found is None else sum(each.startswith(SCHEMA) for each in _grown(*found))


def _both(cache: Cache, before: str, after: str) -> tuple[Sizes, Sizes] | None:
    """Return what the states before and after a step have; None where no step can be told."""
    old, new = (state_store.load(cache, each) if each else None for each in (before, after))
    if old is None or new is None or not _one_writing(old, new) or not new.frozen.instants[-1]:
        return None
    return sizes(old.table), sizes(new.table)


def _grown(was: Sizes, now: Sizes) -> Sizes:
    return {path: size - was.get(path, 0) for path, size in now.items() if was.get(path) != size}


def _what(operation: Operation) -> str:
    """Return what a step is; empty for what neither changes the schema nor writes rows."""
    name = name_of(operation)
    if operation.CHANGES_SCHEMA and name != "write_frame":
        return "schema change"
    return "write" if name in WRITES else name if name in SERVICES else ""


def _one_writing(old: State, new: State) -> bool:
    return new.frozen.instants[: len(old.frozen.instants)] == old.frozen.instants


def sizes(folder: Path) -> Sizes:
    """Return the files under `.hoodie`, by path, with their bytes."""
    there = (each for each in (folder / HUDI).rglob("*") if each.suffix != ".crc")
    return {str(p.relative_to(folder)): p.stat().st_size for p in there if p.is_file()}


def page(left: Iterable[Left]) -> Iterator[str]:
    """Yield the lines of a table: medians over the steps of one row."""
    of_row = grouped((each.row, each) for each in left)
    return table(HEAD, (_row(row, of_row[row]) for row in sorted(of_row)))


def _row(row: Sequence[str], steps: Sequence[Left]) -> tuple[str, ...]:
    schema = [each.under(SCHEMA) for each in steps]
    metadata = [len(each.under(METADATA)) for each in steps]
    rest = [
        len(each.files) - len(own) - more
        for each, own, more in zip(steps, schema, metadata, strict=True)
    ]
    medians = (
        [len(each) for each in schema],
        [each.removed for each in steps],
        [sum(each) for each in schema],
        rest,
        metadata,
        [sum(each.files.values()) for each in steps],
    )
    return (*row, str(len(steps)), *(f"{median(each):,.0f}" for each in medians))


if __name__ == "__main__":
    main()
