"""`mutate`: updates, inserts and deletes as one batch of Hive's Streaming Mutation API."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.truth import Truth
from harness.scenario.operations.api import Example, Family, Key, Operation
from harness.scenario.operations.merge import Merge
from harness.scenario.operations.new_rows import rows_text, some


@dataclass(frozen=True, slots=True)
class Mutate(Operation):
    """Replace the rows `update`, add the rows `insert`, take away the rows `delete`, all or none.

    The rows are the same as after a merge; not SQL does it but a library, in one transaction.
    """

    EXAMPLES = (
        Example(
            "mutate: {update: [1], insert: [6], delete: [2]}",
            "writes a batch in one transaction by Hive's Streaming Mutation API, see "
            "[below](#mutations)",
        ),
    )
    FAMILIES = frozenset({Family.HIVE_ACID})
    update: tuple[Key, ...] = ()
    insert: tuple[Key, ...] = ()
    delete: tuple[Key, ...] = ()

    def text(self) -> str:
        counts = (rows_text(len(keys)) for keys in (self.update, self.insert, self.delete))
        return "mutate: update {}, insert {}, delete {}".format(*counts)

    def evolve(self, before: Truth) -> Truth:
        some((*self.update, *self.insert, *self.delete), "mutate")
        return self._merge.evolve(before)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return the merge that has the same rows; the format says how a library does it."""
        return self._merge.sql(before, after)

    @property
    def _merge(self) -> Merge:
        return Merge(update=self.update, insert=self.insert, delete=self.delete)
