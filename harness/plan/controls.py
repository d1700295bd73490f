"""The control: a table that never changed, which a reader must read before it is judged. Pure.

How a reader that is not shipped, or asked through another metastore, has to be set up is supposed:
a property of another name would make right engines look wrong.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from harness.artifacts import distributions
from harness.core import runtime_names
from harness.core.runtime_names import MetastoreChoice
from harness.core.setting_values import TABLE_VERSION
from harness.plan.profile import Cover, Makers, Profile, ProfileReader, Writer
from harness.scenario.cells import CONTROL, Cell, Plan, Reader, Variant, parse_reader

_STEP: Final = 2
"""After its last step it is asked."""
_WHOLE: Final = ("snapshot", "all")
"""The view and the query."""
Planned = Callable[[Profile], Plan]
"""Plans a profile whose only scenario is the control."""


def needed(reader: Reader, through: MetastoreChoice) -> bool:
    """Return whether a reader is not one that is shipped, or not asked as it is shipped.

    Through another metastore, or of an object store, it may only seem to refuse.
    """
    name = reader.distribution
    on_disk = name == runtime_names.on_disk(name)
    return not (through.usual and on_disk and distributions.is_shipped(name))


def is_control(cell: Cell, variant: Variant, through: MetastoreChoice) -> bool:
    """Return whether a cell is asked so that the others of its reader can be judged."""
    whole = (cell.step, cell.view, cell.query) == (_STEP, *_WHOLE)
    return variant.scenario.name == CONTROL and whole and needed(parse_reader(cell.reader), through)


def with_controls(made: Plan, profile: Profile, makers: Makers, planned: Planned) -> Plan:
    """Return a plan in which every reader that needs it has controls, for each format.

    Each writer makes a table of its own, as a right reader may be too old or too new for another's.
    They are written first, and so asked about first as well.
    """
    of = {variant.id: variant.format for variant in made.variants}
    asked = {(cell.reader, of[cell.variant]) for cell in made.cells}
    readers = [reader for reader in made.readers if needed(reader, made.metastore)]
    if not any(str(needing) == reader for needing in readers for reader, _ in asked):
        return made
    plan = planned(_profile(profile, readers, tuple(dict.fromkeys(of.values())), makers))
    formats = {variant.id: variant.format for variant in plan.variants}
    cells = [
        cell
        for cell in plan.cells
        if cell.step == _STEP and (cell.reader, formats[cell.variant]) in asked
    ]
    chosen = {cell.variant for cell in cells} - of.keys()
    return replace(
        made,
        variants=(*(variant for variant in plan.variants if variant.id in chosen), *made.variants),
        cells=(*(cell for cell in cells if cell not in made.cells), *made.cells),
    )


def _profile(
    profile: Profile, readers: list[Reader], formats: tuple[str, ...], makers: Makers
) -> Profile:
    """Return a profile that asks these readers for all rows of the control, and nothing else."""
    names = dict.fromkeys(name for writer in profile.writers for name in writer.distributions)
    return replace(
        profile,
        scenarios=(CONTROL,),
        formats=formats,
        writers=tuple(_writer(name, makers) for name in names),
        readers=tuple(map(ProfileReader, readers)),
        twins=False,
        axes={},
        views=_WHOLE[:1],
        queries=_WHOLE[1:],
        query_steps={},
        cover=Cover.ALL,
    )


def _writer(name: str, makers: Makers) -> Writer:
    """Return a writer of the oldest version that it makes."""
    made = makers[name].table_versions
    return Writer(name, {TABLE_VERSION: made[0]} if len(made) > 1 else {})
