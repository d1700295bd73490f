"""`begin_write`: a second writer writes its files, and waits before its commit."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.pending_write import begun
from harness.model.truth import Truth
from harness.scenario.operations.merge import Merge


@dataclass(frozen=True, slots=True)
class BeginWrite(Merge):
    """Begin what `merge` does in a process of its own; `commit_write` lets it go on."""

    def text(self) -> str:
        """Say it in a few words."""
        return f"another writer begins a {Merge.text(self)}"

    def evolve(self, before: Truth) -> Truth:
        """Keep everything: no reader may show what is not committed."""
        done = Merge.evolve(self, before)
        rows = [row for key, row in done.rows.items() if before.rows.get(key) != row]
        changed = {before.table.order_by, *self.set} if self.set else set()
        ids = [field.id for field in before.schema.fields if field.name in changed]
        deleted = [key for key in before.rows if key not in done.rows]
        return begun(before, before.step + 1, rows, deleted, ids)
