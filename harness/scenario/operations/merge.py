"""`merge`: updates, inserts and deletes in one statement."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Strict

from harness.core.texts import counted
from harness.model.schema import SchemaChangeError
from harness.model.truth import Row, Truth, changed_row, written
from harness.scenario.operations.api import WITH_DELETES, Family, Key, Operation, example
from harness.scenario.operations.new_rows import absent_text, fresh, known, settable, some, whole
from harness.scenario.operations.spark_sql import (
    columns_in_order,
    key_list,
    merge_into,
    quoted,
    select_rows,
)


class SourceOrder(StrEnum):
    REVERSED = "reversed"


@dataclass(frozen=True, slots=True)
class Merge(Operation):
    """Replace the rows `update`, add the rows `insert`, take away the rows `delete`.

    Source rows with the keys `absent` match none, and are not among those to insert. With `set`, an
    update changes these columns alone, and the source has no others unless rows are inserted: the
    key may be among them, and keeps its value. With `source: reversed` the source has its columns
    in the opposite order.
    """

    EXAMPLES = example(
        "merge: {update: [1], insert: [6], delete: [2]}",
        "updates, inserts and deletes in one statement; with `set: [f1]` an update sets that "
        "column alone, with `source: reversed` the source has its columns in the "
        "opposite order",
    )
    FAMILIES = WITH_DELETES
    update: tuple[Key, ...] = ()
    insert: tuple[Key, ...] = ()
    delete: tuple[Key, ...] = ()
    absent: tuple[Key, ...] = ()
    set: tuple[str, ...] = ()
    source: Annotated[SourceOrder | None, Strict(strict=False)] = None

    def text(self) -> str:
        counts = [counted(len(keys), "row") for keys in (self.update, self.insert, self.delete)]
        if self.set:
            counts[0] = f"{', '.join(self.set)} of {counts[0]}"
        text = "merge: update {}, insert {}, delete {}".format(*counts)
        order = ", source columns reversed" if self.source else ""
        return text + absent_text(self.absent) + order

    def evolve(self, before: Truth) -> Truth:
        some((*self.update, *self.insert, *self.delete, *self.absent), "merge")
        if self.set and not self.update:
            raise SchemaChangeError("'set' is of rows to update, and the merge names none")
        fresh(before, (*self.insert, *self.absent))
        deleted = known(before, self.delete)
        known(before, (*self.update, *self.delete))
        contested = {row.key: row for row in self._absent(before)}
        return written(before, before.step + 1, self._versions(before), deleted, contested)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return one merge statement; its source names its columns as the table does.

        A source column that the table does not know is added to it by Hudi (engines notes, T5), so
        the deletion is by key and not by a marker column. No two clauses fit one row: Hudi 0.15.0
        lets a later update clause win over a deletion.
        """
        return (self.worded(before, after),)

    def worded(
        self, before: Truth, after: Truth, stay: Collection[str] = (), *, listed: bool = True
    ) -> str:
        """Return the statement in which no update sets the columns `stay`.

        `listed`: whether an insert names its columns; else they are those of the table, in order.
        """
        gone = known(before, self.delete)
        fields = columns_in_order(after)
        deleted = tuple(before.rows[key] for key in gone)
        rows = (*self._versions(before), *self._absent(before), *deleted)
        source_fields = fields
        if self.set and not self.insert:
            named = {*self.set, *after.table.fixed}
            source_fields = tuple(field for field in fields if field.name in named)
        source = select_rows(rows, source_fields[::-1] if self.source else source_fields)
        merge, new = merge_into("{table}", source, after)
        key = f"{new}.{quoted(after.table.key)}"
        # With `set`, the ordering columns are always among them.
        updated = {*self.set, *after.table.order_by} if self.set else {f.name for f in fields}
        names = [quoted(f.name) for f in fields if f.name in updated and f.name not in stay]
        sets = ", ".join(f"{name} = {new}.{name}" for name in names)
        unless, clauses = "", [merge]
        if gone:
            keys = key_list(after, gone)
            unless = f" and {key} not in {keys}"
            clauses.append(f"when matched and {key} in {keys} then delete")
        clauses.append(f"when matched{unless} then update set {sets}")
        if self.insert or not self.set:
            names = [quoted(field.name) for field in fields]
            into = f"({', '.join(names)}) " if listed else ""
            values = ", ".join(f"{new}.{name}" for name in names)
            only = self._only(key, before)
            clauses.append(f"when not matched{only} then insert {into}values ({values})")
        return " ".join(clauses)

    def _absent(self, before: Truth) -> tuple[Row, ...]:
        return whole(before, fresh(before, self.absent))

    def _only(self, key: str, before: Truth) -> str:
        """Return the condition that leaves absent keys to no clause; without such there is none."""
        if not self.absent:
            return ""
        if not self.insert:
            return " and false"
        return f" and {key} in {key_list(before, fresh(before, self.insert))}"

    def _versions(self, before: Truth) -> tuple[Row, ...]:
        keys, new = known(before, self.update), fresh(before, self.insert)
        if not self.set:
            return whole(before, (*keys, *new))
        columns = settable(before, [text for text in self.set if text != before.table.key])
        changed = (changed_row(before, key, before.step + 1, columns) for key in keys)
        return (*changed, *whole(before, new))


@dataclass(frozen=True, slots=True)
class Mutate(Operation):
    """Replace the rows `update`, add the rows `insert`, take away the rows `delete`, all or none.

    The rows are the same as after a merge; not SQL does it but a library, in one transaction.
    """

    EXAMPLES = example(
        "mutate: {update: [1], insert: [6], delete: [2]}",
        "writes a batch in one transaction by Hive's Streaming Mutation API, see "
        "[below](#mutations)",
    )
    FAMILIES = frozenset({Family.HIVE_ACID})
    update: tuple[Key, ...] = ()
    insert: tuple[Key, ...] = ()
    delete: tuple[Key, ...] = ()

    def text(self) -> str:
        counts = (counted(len(keys), "row") for keys in (self.update, self.insert, self.delete))
        return "mutate: update {}, insert {}, delete {}".format(*counts)

    def evolve(self, before: Truth) -> Truth:
        some((*self.update, *self.insert, *self.delete), "mutate")
        return self._merge.evolve(before)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return self._merge.sql(before, after)

    @property
    def _merge(self) -> Merge:
        return Merge(update=self.update, insert=self.insert, delete=self.delete)
