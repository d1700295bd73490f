"""The extra metadata of each step's commit, against what the step was told.

Only steps that are told of some have a record of it. What a commit has and nobody gave is wrong as
well: whoever reads a checkpoint there takes it for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from harness.core.grouping import grouped
from harness.core.records import Finding, FindingKind, Responsible, Witness
from harness.judge.recorded_variant import RecordedVariant
from harness.model.commit import ExtraMetadata
from harness.scenario.operations.write_with_metadata import WriteWithMetadata

KINDS: Final = (FindingKind.LOST_METADATA, FindingKind.OTHER_METADATA)
"""The ways of being wrong that are about a commit's metadata and about no answer."""
SHOWN: Final = "shown"
"""The key of a witness that is about what the procedure shows, and not about the file."""


def findings(case: RecordedVariant) -> Mapping[int, tuple[Finding, ...]]:
    """Return what is wrong with the commit of each step, those with nothing left out."""
    result = dict[int, tuple[Finding, ...]]()
    for step, state in case.state_of.items():
        if state.metadata is None:
            continue
        operation = case.variant.scenario.steps[step - 1].operation
        given = operation.metadata if isinstance(operation, WriteWithMetadata) else {}
        if wrong := tuple(_findings(given, state.metadata)):
            result[step] = wrong
    return result


def _findings(given: Mapping[str, str], recorded: ExtraMetadata) -> Iterator[Finding]:
    stored, shown = dict(recorded.stored), dict(recorded.shown)
    wrong = [*_wrong("", given, stored)]
    if not recorded.unshown:
        wrong += _wrong(SHOWN, stored, shown)
    for kind, differences in grouped(wrong).items():
        names = dict.fromkeys(difference.column for difference in differences)
        yield Finding(kind, tuple(names), differences[0], tuple(differences), Responsible.COMMIT)


def _wrong(
    where: str, due: Mapping[str, str], there: Mapping[str, str]
) -> Iterator[tuple[FindingKind, Witness]]:
    for name in sorted(due.keys() | there.keys()):
        if due.get(name) != there.get(name):
            kind = FindingKind.OTHER_METADATA if name in there else FindingKind.LOST_METADATA
            yield kind, Witness(where, name, due.get(name), there.get(name))
