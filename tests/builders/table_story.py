"""Histories in one line: `insert 1,2; add f3 after f1; touch some; drop f2; rename f1 f1_new`.

`row id=1 f1=x` upserts an explicit row, whose values need not be traceable; `rows [{"id":1,…},…]`
any number of them, as JSON in which `\\u0020` stands for a blank and `\\u003b` for a semicolon.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

from harness.core.records import Finding, FindingKind, Witness
from harness.judge.difference import Difference
from harness.judge.expected_state import ExpectedState, Index, index_of
from harness.judge.file_evidence import Layout
from harness.model.canonical import Value
from harness.model.datatypes import parse_type
from harness.model.file_facts import FileFact, FileKind
from harness.model.schema import MergeMode, Table
from harness.model.simulation import row_files
from harness.model.simulation.column_resolution import WrittenFiles
from harness.model.simulation.row_files import Base, RowFile, base_rows
from harness.model.truth import History, Truth
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation, ServiceMode
from harness.scenario.operations.columns import (
    AddColumn,
    ChangeNullability,
    ChangeType,
    DropColumn,
    MoveColumn,
    RenameColumn,
)
from harness.scenario.operations.merge import Merge
from harness.scenario.operations.row_writes import (
    Delete,
    DeletePartition,
    Insert,
    LateDelete,
    LateUpsert,
    MoveRow,
    Overwrite,
    OverwriteScope,
    Rewrites,
    Touch,
    Truncate,
    Update,
    Upsert,
)
from harness.scenario.operations.services import Archive, Clean, Cluster, Compact
from harness.scenario.operations.snapshots import CreateTag, Restore, Rollback, Savepoint
from harness.scenario.operations.unfinished_writes import BeginWrite, CommitWrite, FailedWrite
from harness.scenario.operations.write_frame import WriteFrame
from tests.builders import simulated_disk, simulated_reader
from tests.builders.hard_values import rows_of
from tests.builders.judge_stages import differences, findings
from tests.builders.simulated_disk import Disk
from tests.builders.simulated_reader import Reader, Reply

COLUMNS = "id string, ts long, f1 string, f2 string"
UNDO: dict[str, Operation] = {
    "savepoint": Savepoint(),
    "tag": CreateTag(),
    "restore": Restore(),
    "rollback": Rollback(),
}


@dataclass(frozen=True, eq=False)
class Story:
    operations: tuple[Operation, ...]
    history: History
    disk: Disk

    @property
    def truth(self) -> Truth:
        return self.history[-1]

    def until(self, step: int) -> Story:
        disk = replace(self.disk, files=self.disk.until(step))
        return Story(self.operations[:step], self.history[: step + 1], disk)

    @cached_property
    def index(self) -> Index:
        return index_of(self.history)

    def state(self, view: str = "snapshot") -> ExpectedState:
        return self._states(view)

    @cached_property
    def _states(self) -> Callable[[str], ExpectedState]:
        return cache(self._make_state)

    def _make_state(self, view: str) -> ExpectedState:
        state = ExpectedState(
            self.history,
            self.index,
            self.truth.rows,
            row_files=self.row_files(view),
            base=self.base.rows if self.disk.merge_on_read else None,
        )
        if view != "read_optimized":
            return state
        return replace(state, rows=self.base.rows, newer=(self.truth.rows,))

    @cached_property
    def steps(self) -> dict[str, int]:
        return {simulated_disk.instant_of(step): step for step in range(len(self.history))}

    @cached_property
    def facts(self) -> tuple[FileFact, ...]:
        return tuple(file.fact() for file in self.disk.until(self.truth.step))

    @cached_property
    def base(self) -> Base:
        return base_rows(WrittenFiles(self.history, self.facts, self.steps))

    def row_files(self, view: str = "snapshot") -> dict[str, tuple[RowFile, ...]]:
        base_only = view == "read_optimized"
        facts = [fact for fact in self.facts if not base_only or fact.kind is FileKind.BASE]
        return row_files.lying(WrittenFiles(self.history, facts, self.steps))

    def layout(self, view: str = "snapshot", *, bare: bool = True) -> Layout:
        """Return what the files tell; `bare`: the catalog lists no meta columns of Hudi's."""
        return self._layouts(view, bare)

    @cached_property
    def _layouts(self) -> Callable[[str, bool], Layout]:
        return cache(self._make_layout)

    def _make_layout(self, view: str, bare: bool) -> Layout:  # noqa: FBT001 - a key of the cache
        files = self.disk.until(self.truth.step) if bare else ()
        meta = {
            file.path: [tuple(file.added(key).values()) for key in file.records] for file in files
        }
        return Layout(self.state(view), self.facts, self.steps, meta=meta)

    def read(self, by: str = "id", **how: object) -> Reply:
        return simulated_reader.read(self.disk, self.truth, Reader(by, **how))  # type: ignore[arg-type]


def history(
    text: str,
    columns: str = COLUMNS,
    *,
    mor: bool = False,
    partition_by: tuple[str, ...] = (),
    applied: Sequence[bool] | None = None,
    merge_mode: MergeMode | None = None,
) -> Story:
    """Make a history from its steps; the first column is the key, `ts` the ordering one."""
    table = replace(table_of(columns, partition_by), merge_mode=merge_mode)
    operations = tuple(operation(part.split()) for part in text.split(";"))
    scenario = Scenario("story", table, tuple(map(Step, operations)))
    done = applied or [True] * len(operations)
    truths = scenario.truths(merge_on_read=mor).history(done)
    disk = simulated_disk.written(table, operations, truths, merge_on_read=mor)
    return Story(operations, truths, disk)


def table_of(columns: str, partition_by: tuple[str, ...]) -> Table:
    """Return the table of columns in one line; the first is the key, `ts` the ordering one."""
    parts = [text.strip().split(" ", 1) for text in _split(columns)]
    pairs = tuple((name, parse_type(type_)) for name, type_ in parts)
    names = [name for name, _ in pairs]
    return Table(pairs, names[0], ("ts",) if "ts" in names else (), partition_by)


def _split(columns: str) -> list[str]:
    parts, depth = [""], 0
    for letter in columns:
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def operation(words: list[str]) -> Operation:
    match words:
        case ["insert", keys]:
            return Insert(_keys(keys))
        case ["upsert", keys]:
            return Upsert(_keys(keys))
        case ["row", *values]:
            pairs = (value.partition("=") for value in values)
            row = {name: float(v) if v == "nan" else v for name, _, v in pairs}
            return Upsert(rows=(row,))
        case ["rows", text]:
            return Upsert(rows=rows_of(text))
        case ["delete", keys]:
            return Delete(_keys(keys))
        case ["update", keys, "set", names]:
            return Update(_keys(keys), tuple(names.split(",")))
        case ["merge", "update", changed, "delete", gone, "insert", new]:
            return Merge(_keys(changed), _keys(new), _keys(gone))
        case ["touch", *how]:
            return Touch(Rewrites(how[0] if how else "none"))
        case ["compact" | "cluster" | "clean" | "archive" as service, *how]:
            return _service(service, *map(ServiceMode, how))
    return UNDO[words[0]] if words[0] in UNDO else _other(words)


def _service(name: str, only: ServiceMode | None = None) -> Operation:
    services: dict[str, Operation] = {
        "compact": Compact(only),
        "cluster": Cluster(only),
        "clean": Clean(),
        "archive": Archive(),
    }
    return services[name]


def _other(words: list[str]) -> Operation:
    match words:
        case ["fail", keys]:
            return FailedWrite(_keys(keys))
        case ["begin", *how]:
            return _begin(how)
        case ["commit"]:
            return CommitWrite()
        case ["overwrite", keys, *scope]:
            return Overwrite(
                _keys(keys), OverwriteScope(scope[0]) if scope else OverwriteScope.TABLE
            )
        case ["delete_partition", key]:
            return DeletePartition(int(key))
        case ["truncate"]:
            return Truncate()
        case ["frame", keys, names, *new]:
            types = {new[0]: parse_type(" ".join(new[1:]))} if new else None
            return WriteFrame(_keys(keys), tuple(names.split(",")), types, reconcile=True)
        case ["move_row", key, other]:
            return MoveRow(int(key), int(other))
        case ["late", how, keys]:
            return (LateUpsert if how == "upsert" else LateDelete)(_keys(keys))
    return _schema_change(words)


def _begin(words: list[str]) -> Operation:
    match words:
        case ["delete", keys]:
            return BeginWrite(delete=_keys(keys))
        case ["insert", keys]:
            return BeginWrite(insert=_keys(keys))
        case ["update", keys, *names]:
            return BeginWrite(_keys(keys), set=tuple(names))
    raise ValueError(" ".join(words))


def _schema_change(words: list[str]) -> Operation:
    match words:
        case ["add", name, *rest]:
            return AddColumn(name, parse_type(_type_in(rest) or "string"), *_place(rest))
        case ["drop", name]:
            return DropColumn(name)
        case ["rename", name, to]:
            return RenameColumn(name, to)
        case ["move", name, *rest]:
            return MoveColumn(name, *_place(rest))
        case ["type", name, *to]:
            return ChangeType(name, parse_type(" ".join(to)))
        case ["forbid" | "allow" as how, name]:
            return ChangeNullability(name, nullable=how == "allow")
        case ["retype", name, *to]:
            return ChangeType(name, parse_type(" ".join(to)), exact=False)
    raise ValueError(" ".join(words))


def _type_in(words: list[str]) -> str:
    ends = [words.index(text) for text in ("first", "after") if text in words]
    return " ".join(words[: min(ends, default=len(words))])


def _place(words: list[str]) -> tuple[bool, str | None]:
    after = words[words.index("after") + 1] if "after" in words else None
    return "first" in words, after


def _keys(text: str) -> tuple[int, ...]:
    keys: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("..")
        keys += range(int(low), int(high or low) + 1)
    return tuple(keys)


def places(story: Story, reply: Reply, view: str = "snapshot") -> tuple[Difference, ...]:
    state = story.state(view)
    return differences(state, reply.columns, reply.rows, state.schema.names)


def diagnosed(story: Story, reply: Reply, view: str = "snapshot") -> tuple[Finding, ...]:
    return findings(places(story, reply, view), story.state(view))


def named(story: Story, reply: Reply, view: str = "snapshot") -> dict[str, set[tuple[str, str]]]:
    return {
        finding.kind.value: {(witness.key, witness.column) for witness in finding.witnesses}
        for finding in diagnosed(story, reply, view)
    }


def witness(story: Story, reply: Reply, kind: FindingKind, key: str, column: str) -> Witness:
    finding = next(finding for finding in diagnosed(story, reply) if finding.kind is kind)
    return next(
        witness for witness in finding.witnesses if (witness.key, witness.column) == (key, column)
    )


def cells(story: Story, names: str, keys: Sequence[object] | None = None) -> set[tuple[str, str]]:
    """Return all places of columns in rows: `cells(story, "f1 f2", [1, 2])`."""
    rows = list(story.truth.rows) if keys is None else keys
    return {(str(key), name) for key in rows for name in names.split()}


def changed(reply: Reply, change: dict[str, object]) -> Reply:
    names = reply.names

    def of_column(name: str, value: Value) -> Value:
        function = change.get(name)
        return function(value) if callable(function) else value

    rows = (tuple(map(of_column, names, row)) for row in reply.rows)
    return Reply(reply.columns, tuple(rows))
