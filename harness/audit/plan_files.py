"""The files of a read plan: whether they are those of before, and whether they are still there."""

from collections.abc import Collection
from hashlib import sha256

from harness.formats.files import table_folder
from harness.formats.files.table_folder import UnreadableError
from harness.formats.read_plan import ReadPlan


def identity(plan: ReadPlan) -> str:
    """Return a digest of what a plan reads; raises UnreadableError.

    Where a format counts no versions, the sizes and times of files tell what was written over.
    """
    locations = sorted(file.location for file in plan.every_file)
    listed = "" if plan.version else str(sorted(_listed({*locations})))
    columns = [(part.name, part.type) for part in plan.columns]
    text = "\n".join([plan.version, str(columns), listed, *locations])
    return sha256(text.encode()).hexdigest()


def check_there(plan: ReadPlan) -> None:
    """Check that all files of a plan are still there; raises UnreadableError."""
    there = {name for name, *_ in _listed({file.location for file in plan.every_file})}
    if gone := [file.path for file in plan.every_file if file.location not in there]:
        raise UnreadableError(f"{gone[0]} is gone")


def _listed(locations: Collection[str]) -> list[tuple[str, int, float]]:
    return [
        (f"{head}/{file.name}", file.size, file.modified)
        for head in dict.fromkeys(location.rpartition("/")[0] for location in locations)
        for file in table_folder.at(head).listed()
        if f"{head}/{file.name}" in locations
    ]
