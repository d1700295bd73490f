"""The files that a format makes of a scenario, as far as its layout says it. Pure."""

import dataclasses
from collections.abc import Sequence
from itertools import pairwise

from harness.formats.api import Changes, FileLayout
from harness.model.canonical import Value
from harness.model.file_facts import FileFact, FileKind
from harness.model.truth import Group, History, Row, Truth
from harness.scenario.operations.api import Operation
from harness.scenario.operations.row_writes import DeletePartition, Overwrite, Truncate
from harness.scenario.operations.services import Cluster, Compact


def expected_files(
    history: History, operations: Sequence[Operation], layout: FileLayout
) -> tuple[tuple[FileFact, ...], ...]:
    """Return the file facts after each step, the creation first; a step's number is its instant."""
    disk = _Disk(layout)
    facts: list[tuple[FileFact, ...]] = [()]
    for operation, (before, after) in zip(operations, pairwise(history), strict=True):
        if isinstance(operation, Compact) and not operation.only:
            disk.compact(after)
        elif isinstance(operation, Cluster) and not operation.only:
            disk.cluster(after)
        elif isinstance(operation, Overwrite | DeletePartition | Truncate):
            disk.replace(before, after)
        else:
            disk.write(before, after)
        facts.append(tuple(disk.facts))
    return tuple(facts)


class _Disk:
    """A table's files; old versions stay."""

    def __init__(self, layout: FileLayout) -> None:
        self.facts: list[FileFact] = []
        self._layout, self._changes = layout, layout.changes
        self._homes: dict[Value, str] = {}
        """The file group of each key."""
        self._logged: set[str] = set()

    def write(self, before: Truth, after: Truth) -> None:
        changed: dict[str, list[Row]] = {}
        gone: dict[str, list[Value]] = {}
        for key in before.rows:
            if key not in after.rows:
                gone.setdefault(self._homes.pop(key), []).append(key)
        for key, row in after.rows.items():
            old = before.rows.get(key)
            if old is not row:
                moved = old is not None and old.group[1] != row.group[1]
                home = self._home(row, after, gone, moved=moved)
                changed.setdefault(home, []).append(row)
        # Versions that came late and do not stand; without logs they are merged when written.
        contested = after.sent_contested if self._changes is Changes.LOG else {}
        for key, late in contested.items():
            if key not in before.rows or after.rows.get(key) is not before.rows[key]:
                continue
            if late is None:
                gone.setdefault(self._homes[key], []).append(key)
            else:
                changed.setdefault(self._homes[key], []).append(late)
        for group in dict.fromkeys((*changed, *gone)):
            self._write(group, changed.get(group, []), gone.get(group, []), after)

    def replace(self, before: Truth, after: Truth) -> None:
        """Take away the file groups of rows that are gone or in new ones, and write the new ones.

        A group may have rows of one partition only: all of it goes.
        """
        stay = {key for key, row in before.rows.items() if after.rows.get(key) is row}
        left = {home for key, home in self._homes.items() if key not in stay}
        self.facts = [fact for fact in self.facts if fact.file_group not in left]
        self._logged -= left
        self._homes = {key: home for key, home in self._homes.items() if key in stay}
        retained = {key: row for key, row in before.rows.items() if key in stay}
        self.write(dataclasses.replace(before, rows=retained), after)

    def _home(self, row: Row, after: Truth, gone: dict[str, list[Value]], *, moved: bool) -> str:
        """Return the group that a changed row is written to; `moved`: to another partition."""
        old = self._homes.get(row.key)
        if old is not None and self._changes is not Changes.NEW_FILE and not moved:
            return old
        if old is not None:
            gone.setdefault(old, []).append(row.key)
        step = after.step if old is not None else row.group[0]
        self._homes[row.key] = _name((step, row.group[1]))
        return self._homes[row.key]

    def _write(self, group: str, rows: list[Row], gone: list[Value], after: Truth) -> None:
        begun = any(fact.file_group == group for fact in self.facts)
        if begun and self._changes is not Changes.REPLACE:
            self._logged.add(group)
            self.facts.append(self._fact(FileKind.LOG, group, after, rows, gone))
        else:
            retained = [after.rows[key] for key, home in self._homes.items() if home == group]
            self.facts.append(self._fact(FileKind.BASE, group, after, retained))

    def compact(self, after: Truth) -> None:
        """Make a base file of every group that has log files, or one of all with deletes."""
        if self._changes is Changes.NEW_FILE:
            self.facts = [fact for fact in self.facts if fact.file_group not in self._logged]
            for key, home in self._homes.items():
                if home in self._logged:
                    self._homes[key] = _name((after.step, after.rows[key].group[1]))
            self._logged = set(self._homes.values()) - {fact.file_group for fact in self.facts}
        for group in sorted(self._logged):
            rows = [after.rows[key] for key, home in self._homes.items() if home == group]
            self.facts.append(self._fact(FileKind.BASE, group, after, rows))
        self._logged.clear()

    def cluster(self, after: Truth) -> None:
        """Make a file group of each partition's rows instead of all there are."""
        self.facts.clear()
        self._logged.clear()
        groups: dict[str, list[Row]] = {}
        for row in after.rows.values():
            self._homes[row.key] = _name((after.step, row.group[1]))
            groups.setdefault(self._homes[row.key], []).append(row)
        for group, rows in groups.items():
            self.facts.append(self._fact(FileKind.BASE, group, after, rows))

    def _fact(
        self,
        kind: FileKind,
        group: str,
        truth: Truth,
        rows: Sequence[Row],
        gone: Sequence[Value] = (),
    ) -> FileFact:
        last = truth.table.partition_by
        fields = [field for field in truth.schema.fields if field.name not in last]
        fields += [
            field for field in truth.schema.fields if field.name in last and self._layout.partitions
        ]
        columns = tuple((field.name, str(field.type)) for field in fields)
        keys, instant = tuple(str(row.key) for row in rows), str(truth.step)
        path = f"{group}_{instant}.{kind}"
        return FileFact(path, kind, group, instant, columns, keys, tuple(map(str, gone)))


def _name(group: Group) -> str:
    step, partition = group
    return "-".join(map(str, (step, *partition)))
