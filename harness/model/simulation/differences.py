"""In what ways of reading some files can show different tables."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from harness.model.file_facts import FileFact
from harness.model.simulation import casts, orc_conversions
from harness.model.simulation import physical_values as as_stored
from harness.model.simulation.column_resolution import (
    META,
    CanDiffer,
    Slices,
    column_mappings,
    met_otherwise,
    sources,
)
from harness.model.simulation.hudi_renumbered_ids import renumbered
from harness.model.simulation.shown_columns import may_be_partless, unplaced
from harness.model.simulation.strategies import ColumnMapping, Logs
from harness.model.truth import History


def renamed_inside(history: History) -> bool:
    """Return whether a part of a column had a name that another part, or this one, has not."""
    return not _one_to_one(
        (field.id, part.id, part.name)
        for truth in history
        for field in truth.schema.walk()
        for part in field.children
    )


def moved_inside(history: History) -> bool:
    """Return whether a part of a column had another place among its parts than now."""
    return not _one_to_one(
        (field.id, part.id, at)
        for truth in history
        for field in truth.schema.walk()
        for at, part in enumerate(field.children)
    )


def _one_to_one(found: Iterable[tuple[int, int, Hashable]]) -> bool:
    """Return whether each part of a column has one value, and no other part of it has that one."""
    every = set(found)
    ids, values = {(field, id_) for field, id_, _ in every}, {(field, v) for field, _, v in every}
    return len(ids) == len(values) == len(every)


@dataclass(frozen=True)  # no slots: what is derived is kept
class Differences:
    """The files of a table state, and with which ways of reading they can show something else."""

    history: History
    slices: Slices
    steps: Mapping[str, int]
    """Which step made an instant."""
    counted: bool
    """Whether a reader by position may count Hudi's meta columns."""

    @cached_property
    def _files(self) -> Sequence[FileFact]:
        every = (fact for base, logs in self.slices for fact in (base, *logs))
        return [fact for fact in every if fact is not None]

    @cached_property
    def _bases(self) -> Sequence[FileFact]:
        return [base for base, _ in self.slices if base is not None]

    @cached_property
    def renumbered(self) -> bool:
        """Whether ids that are given anew in each file can show something else."""
        return renumbered(self.history, self._files, self.steps)

    @cached_property
    def finders(self) -> tuple[ColumnMapping, ...]:
        """The ways to find columns."""
        hudis = any(name in META for base in self._bases for name, _ in base.columns)
        renamed, moved = renamed_inside(self.history), moved_inside(self.history)
        return column_mappings(
            self.history,
            counted=self.counted,
            renumbered=self.renumbered,
            outside=not hudis and renamed,
            nameless=any(e.nameless for e in self._bases) and (renamed or moved),
        )

    @cached_property
    def stored(self) -> frozenset[ColumnMapping]:
        """The ways to find columns with which what is stored can show something else."""
        others = [by for by in self.finders if by is not ColumnMapping.ID]
        return self._otherwise(self._files, as_stored.otherwise, others)

    @cached_property
    def cast(self) -> frozenset[ColumnMapping]:
        """The same of values that are cast: of texts by name, of all by position."""
        named = [by for by in self.finders if not (by is ColumnMapping.ID or by.placed)]
        converted = [file for file in self._files if orc_conversions.may_convert(file)]
        return self._otherwise(self._files, casts.otherwise, named) | self._otherwise(
            converted, orc_conversions.otherwise, [ColumnMapping.POSITION, ColumnMapping.PARTS_TOO]
        )

    @cached_property
    def partless(self) -> frozenset[ColumnMapping]:
        """The ways to find columns with which base files have none of a struct's parts."""
        return frozenset(filter(self._may_be_partless, self.finders))

    def logs(self) -> Iterator[Logs]:
        """Yield what else than merging them can be made of log files."""
        # Where logs can hold rows, a reader that sees no delete may be one that sees no log at all.
        logs = [log for _, slice_ in self.slices for log in slice_]
        if any(log.keys for log in logs) or (logs and self.history[-1].merge_on_read):
            yield from (Logs.BY_ID, Logs.BY_NAME, Logs.IGNORED)
        if any(log.deleted for log in logs):
            yield Logs.UNDELETED
        if any(self.history[self.steps[log.instant]].sent_contested for log in logs):
            yield Logs.OTHER_MODE

    def _otherwise(
        self, files: Sequence[FileFact], otherwise: CanDiffer, finders: Sequence[ColumnMapping]
    ) -> frozenset[ColumnMapping]:
        met = partial(met_otherwise, self.history, files, self.steps, otherwise=otherwise)
        return frozenset(by for by in finders if met(by))

    def _may_be_partless(self, by: ColumnMapping) -> bool:
        return any(
            may_be_partless(*source, unplaced(by))
            for base in self._bases
            for source in sources(self.history, base, self.steps, by)
        )
