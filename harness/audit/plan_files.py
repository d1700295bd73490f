"""The files of a read plan: whether they are those of before, still there, and of their sizes."""

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


def wrong_sizes(plan: ReadPlan) -> tuple[str, ...]:
    """Say which files are not as long as the table's metadata say; raises UnreadableError."""
    declared = [file for file in plan.files if file.size is not None]
    sizes = {name: size for name, size, _ in _listed({file.location for file in declared})}
    wrong = [f for f in declared if sizes.get(f.location, f.size) != f.size]
    if not wrong:
        return ()
    first, more = wrong[0], f", and {len(wrong) - 1:,} more are wrong" * (len(wrong) > 1)
    size = f"{first.path} has {first.size:,} bytes, and it has {sizes[first.location]:,}"
    return (f"its metadata are broken: by them {size}{more}; readers that believe them refuse it",)


def _listed(locations: Collection[str]) -> list[tuple[str, int, float]]:
    return [
        (f"{head}/{file.name}", file.size, file.modified)
        for head in dict.fromkeys(location.rpartition("/")[0] for location in locations)
        for file in table_folder.at(head).listed()
        if f"{head}/{file.name}" in locations
    ]
