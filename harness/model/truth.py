"""The truth: what a table holds after each step, by field ids, computed from the scenario alone.

Beside the rows it keeps what read-optimized readers should see: inserted rows are in base files at
once, later changes of them only after `compact` (Hudi documentation, "Table & Query Types").
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from harness.model.canonical import UNSETTLED, MapValue, Value
from harness.model.conversion import convert, is_two_numbers
from harness.model.datatypes import Array, Map, Struct
from harness.model.partition_fields import PartitionField, identities
from harness.model.schema import Field, MergeMode, Schema, SchemaChangeError, Table, schema_of
from harness.model.values import FieldTypes, generate, never_null


@dataclass(frozen=True, slots=True)
class Generation:
    """What generated values depend on, the same for all steps of a scenario."""

    types: FieldTypes
    """Every type a field takes, by field id."""
    ordinals: Mapping[Value, int]
    """The number of each key's row, from 1, in the order of their first writing."""
    touch_keys: Mapping[int, Value]
    """The key of the row that a `touch` adds, by the number of its step."""


Group = tuple[int, tuple[Value, ...]]
"""The file group a row was inserted into: the inserting step and the partition's values."""


@dataclass(frozen=True, slots=True)
class Row:
    key: Value
    values: Mapping[int, Value]
    """By the id of the column; a struct's value is a dict by the ids of its children."""
    written: Mapping[int, int]
    """The step that wrote the value, by the id of the column."""
    group: Group

    @property
    def newest(self) -> int:
        return max(self.written.values(), default=0)

    def of(self, field: Field) -> Value:
        """Return the value of a column: its default where the row is older than the column."""
        return self.values.get(field.id, field.default)


Rows = Mapping[Value, Row]
Contested = Mapping[Value, Row | None]
"""Versions of rows that stand or not by a rule of the format, None for a delete: by the table's
merge mode (they came late, or lack values that older versions have), or because an update adds no
row."""


@dataclass(frozen=True, slots=True)
class PendingWrite:
    step: int
    """The one that began it."""
    rows: tuple[Row, ...]
    """The versions of rows that it makes."""
    deleted: tuple[Value, ...]
    columns: frozenset[int]
    """The ids of the columns that alone it changes in rows that are there; empty: every one."""
    before: Rows
    """The table's rows when it was begun."""
    schema: Schema
    """The table's when it was begun, in a branch when that was written to last."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The table after a step."""

    step: int
    table: Table
    schema: Schema
    generation: Generation
    merge_on_read: bool
    rows: Rows
    """What a snapshot query should see."""
    base: Rows
    """What a read-optimized query should see."""
    gone: Mapping[Value, int]
    """Deleted keys, with the step that deleted them."""
    before_last: Truth | None = dataclasses.field(default=None, compare=False, repr=False)
    """The table before its last write or schema change; None before the first."""
    saved: Truth | None = dataclasses.field(default=None, compare=False, repr=False)
    """The table at its newest savepoint; None without one."""
    undone: frozenset[int] = frozenset()
    """The steps that were taken back, or failed."""
    failed: tuple[Row, ...] = ()
    """What the last write that failed would have made; no reader may show it."""
    pending: PendingWrite | None = None
    """The newest write that another writer began and did not commit by this step."""
    oldest: int = 0
    """The first step whose table can be gone back to: files of earlier ones may be removed."""
    spec: tuple[PartitionField, ...] = ()
    """The fields of the partition spec by which new files are written."""
    required: frozenset[int] = frozenset()
    """The ids of the columns, and parts of structs, in which NULL is forbidden."""
    tags: tuple[int, ...] = ()
    """The steps that gave a name to the snapshot of then, oldest first."""
    contested: Mapping[int, Contested] = dataclasses.field(default_factory=dict)
    """What each step so far sent of such."""
    published: Mapping[int, PendingWrite] = dataclasses.field(default_factory=dict)
    """What was begun and then committed with no other write between, by the step of its commit."""
    beside: Mapping[tuple[str, str], Value] = dataclasses.field(default_factory=dict)
    """What files have in columns that their folders name, which counts for nothing: by the text of
    the row's key and the column's name."""

    @property
    def sent_contested(self) -> Contested:
        return self.contested.get(self.step, {})

    def column_id(self, name: str) -> int:
        return self.schema.find(name).id

    @property
    def ordering(self) -> tuple[int, ...]:
        return tuple(map(self.column_id, self.table.order_by))

    def ordering_values(self, row: Row) -> tuple[Value, ...]:
        return tuple(row.values[at] for at in self.ordering)


History = tuple[Truth, ...]
"""The truth after each step; the first is the table as created, step 0."""


def begin(table: Table, generation: Generation, *, merge_on_read: bool) -> Truth:
    schema = schema_of(table.columns, table.options)
    spec = identities(schema, table.partition_by)
    return Truth(0, table, schema, generation, merge_on_read, {}, {}, {}, spec=spec)


def with_schema(truth: Truth, step: int, schema: Schema) -> Truth:
    return replace(truth, step=step, schema=schema, before_last=truth)


def with_spec(truth: Truth, step: int, spec: tuple[PartitionField, ...]) -> Truth:
    return replace(truth, step=step, spec=spec, before_last=truth)


def written(
    truth: Truth,
    step: int,
    changed: Iterable[Row] = (),
    deleted: Iterable[Value] = (),
    contested: Contested | None = None,
) -> Truth:
    """Return the truth after one write: versions of rows that are new or changed, keys deleted.

    `contested`: what else it sends, or what of it stands by a rule of the format alone.
    """
    rows, base, gone = dict(truth.rows), dict(truth.base), dict(truth.gone)
    contested = dict(contested or {})
    partial = truth.table.merge_mode is MergeMode.PARTIAL_UPDATE
    for sent in changed:
        old = truth.rows.get(sent.key) if partial else None
        row = completed(sent, old, truth.schema) if old is not None else sent
        if row is not sent:
            contested[row.key] = sent
        rows[row.key] = row
        base.setdefault(row.key, row)
        gone.pop(row.key, None)
    for key in deleted:
        if rows.pop(key, None) is not None:
            gone[key] = step
    base = base if truth.merge_on_read else rows
    every = {**truth.contested, step: contested} if contested else truth.contested
    return replace(
        truth, step=step, rows=rows, base=base, gone=gone, contested=every, before_last=truth
    )


def completed(newer: Row, older: Row, schema: Schema) -> Row:
    """Return a version of a row with the values of an older one where it has NULL.

    It is itself where that changes nothing. Source: `PartialUpdateAvroPayload` of Hudi.
    """
    ids = [field.id for field in schema.fields]
    left = [at for at in ids if newer.values.get(at) is None and older.values.get(at) is not None]
    if not left:
        return newer
    values = {at: older.values[at] for at in left}
    written = {at: older.written[at] for at in left if at in older.written}
    return replace(newer, values={**newer.values, **values}, written={**newer.written, **written})


def late(truth: Truth, step: int, versions: Contested) -> Truth:
    """Return the truth after versions came that are older than those that are there.

    The table's merge mode tells which one stands. A deleted row is written like any other.
    """
    mode, stand = truth.table.merge_mode, dict[Value, Row | None]()
    for key, row in versions.items():
        old = truth.rows.get(key)
        if old is None or mode is MergeMode.COMMIT_TIME:
            stand[key] = row
        elif mode is MergeMode.PARTIAL_UPDATE and row is not None:
            stand[key] = completed(old, row, truth.schema)
    changed = [row for row in stand.values() if row is not None]
    deleted = [key for key, row in stand.items() if row is None]
    contested = {key: row for key, row in versions.items() if key in truth.rows}
    return written(truth, step, changed, deleted, contested)


def replaced(
    truth: Truth, step: int, takes: Callable[[Row], bool], new: Iterable[Row] = ()
) -> Truth:
    """Return the truth after file groups were taken away, and others came in their place.

    Deleted rows, which a read-optimized view may still have shown, are gone from there too.
    """
    added = {row.key: row for row in new}
    rows = {key: row for key, row in truth.rows.items() if not takes(row)} | added
    base = {key: row for key, row in truth.base.items() if not takes(row)} | added
    gone = dict(truth.gone) | {key: step for key in truth.rows if key not in rows}
    left = {key: at for key, at in gone.items() if key not in added}
    return replace(truth, step=step, rows=rows, base=base, gone=left, before_last=truth)


def compacted(truth: Truth, step: int) -> Truth:
    """Return the truth after every log file was merged into a new base file, where there is one."""
    if truth.base == truth.rows:
        return replace(truth, step=step)
    return replace(truth, step=step, base=truth.rows, before_last=truth)


def new_row(truth: Truth, key: Value, step: int, given: Mapping[str, Value]) -> Row:
    """Return a whole version of a row: the values given by column name, the others generated.

    The partition of a row stays what its first version gave.
    """
    old = truth.rows.get(key)
    ids = [truth.column_id(name) for name in truth.table.partition_by]
    values, steps = {}, {}
    for field in truth.schema.fields:
        if old is not None and field.id in ids:
            values[field.id], steps[field.id] = old.values[field.id], old.written[field.id]
        else:
            values[field.id] = _value(truth, field, key, step, given)
            steps[field.id] = step
    _generate(truth.schema, values, steps, step)
    group = old.group if old is not None else (step, tuple(values[id_] for id_ in ids))
    return Row(key, values, steps, group)


def changed_row(truth: Truth, key: Value, step: int, columns: Iterable[str]) -> Row:
    old = truth.rows[key]
    values, steps = dict(old.values), dict(old.written)
    for name in (*columns, *truth.table.order_by):
        field = truth.schema.find(name)
        values[field.id] = _value(truth, field, key, step, {})
        steps[field.id] = step
    _generate(truth.schema, values, steps, step)
    return replace(old, values=values, written=steps)


def _generate(schema: Schema, values: dict[int, Value], steps: dict[int, int], step: int) -> None:
    """Give a row what its generated columns have by its other ones."""
    for field in schema.fields:
        if field.option is not None and field.sources:
            of, make = [values.get(id_) for id_ in field.sources], field.option.parsed()[2]
            made = None if None in of else make(*of)
            if field.id not in values or values[field.id] != made:
                values[field.id], steps[field.id] = made, step


def _value(truth: Truth, field: Field, key: Value, step: int, given: Mapping[str, Value]) -> Value:
    if field.name == truth.table.key:
        return key
    if field.name in given:
        return given[field.name]
    row = truth.generation.ordinals[key]
    if field.name in truth.table.partition_by:
        return _partition_value(field, row, truth.table.partition_by.index(field.name))
    make = never_null if field.name in truth.table.order_by else generate
    return make(field, step, row, truth.generation.types)


def _partition_value(field: Field, row: int, level: int) -> Value:
    # Odd and even rows; a second column halves both again. The same for every row of a partition.
    half = (row >> level) % 2
    made = {
        "string": f"p{half}",
        "boolean": bool(half),
        "binary": f"0x0{half}",
        "date": f"2024-02-{28 + half}",
        "timestamp": f"2024-02-29 0{half}:30:00",
    }
    return convert(made.get(str(field.type), half), field.type)


def named(value: Value, field: Field) -> Value:
    """Return a stored value as readers should show it: named children, in today's type.

    Raises ValueError: it has no exact form there, and must have one.
    """
    if value is None or value is UNSETTLED:
        return value
    match field.type:
        case Struct():
            return {
                part.name: named(value.get(part.id, part.default), part) for part in field.children
            }
        case Array():
            return tuple(named(element, field.children[0]) for element in value)
        case Map():
            key, part = field.children
            return MapValue.of([(named(k, key), named(v, part)) for k, v in value.pairs])
    if not field.exact and is_two_numbers(value, field.type):
        return UNSETTLED
    try:
        return convert(value, field.type)
    except ValueError:
        if field.exact:
            raise
        return UNSETTLED


def row_values(row: Row, schema: Schema) -> tuple[Value, ...]:
    return tuple(named(row.of(field), field) for field in schema.fields)


# A table that was taken back is as it was then: rows, base files, and the schema. Ids of fields
# that were taken back are never given again, as those of dropped ones are not.


def last_write(truth: Truth) -> int:
    """Return the step of the last write, or schema change, that stands; 0 where there is none."""
    return truth.before_last.step + 1 if truth.before_last else 0


def saved(truth: Truth, step: int) -> Truth:
    if truth.before_last is None:
        raise SchemaChangeError("nothing is written yet that could be saved")
    if _has_savepoint(truth):
        raise SchemaChangeError("nothing is written since the last savepoint")
    after = replace(truth, step=step)
    return replace(after, saved=after)


def _has_savepoint(truth: Truth) -> bool:
    return truth.saved is not None and last_write(truth.saved) == last_write(truth)


def restored(truth: Truth, step: int) -> Truth:
    if truth.saved is None:
        raise SchemaChangeError("there is no savepoint to go back to")
    return _back(truth, truth.saved, step)


def rolled_back(truth: Truth, step: int) -> Truth:
    if truth.before_last is None:
        raise SchemaChangeError("nothing is written yet that could be rolled back")
    if _has_savepoint(truth):
        raise SchemaChangeError("the last write has a savepoint, so it cannot be rolled back")
    return _back(truth, truth.before_last, step)


def rolled_back_to(truth: Truth, step: int, number: int) -> Truth:
    """Return the truth after the rows of step `number` were made the current ones again.

    The columns stay those of now. Source: apache/iceberg#5591, "Roll back to a snapshot".
    """
    then = _after_write(truth, number)
    if then is None or number in truth.undone:
        raise SchemaChangeError(f"step {number} wrote no rows that stand; name one that did")
    if number < truth.oldest:
        raise SchemaChangeError(f"step {truth.oldest + 1} cleaned the snapshot of step {number}")
    return replace(
        truth,
        step=step,
        rows=then.rows,
        base=then.base,
        gone=_gone(truth, then, step),
        undone=truth.undone | set(range(number + 1, step)),
        before_last=truth,
    )


def _after_write(truth: Truth, number: int) -> Truth | None:
    """Return the truth as a step left it; None where the step wrote no rows."""
    now = truth
    while now.before_last is not None and last_write(now) > number:
        now = now.before_last
    if now.before_last is None or last_write(now) != number:
        return None
    return now if now.rows != now.before_last.rows else None


def failed(truth: Truth, step: int, rows: Iterable[Row]) -> Truth:
    """Return the truth after a write that died before its commit: the table is as it was."""
    made = tuple(rows)
    gone = {row.key: step for row in made if row.key not in truth.rows}
    return replace(
        truth, step=step, failed=made, gone={**truth.gone, **gone}, undone=truth.undone | {step}
    )


def _back(now: Truth, then: Truth, step: int) -> Truth:
    """Return the table of then as the truth after a step; rows that came since are gone."""
    return replace(
        then,
        step=step,
        schema=replace(then.schema, last_id=now.schema.last_id),
        gone=_gone(now, then, step),
        saved=now.saved,
        pending=now.pending,
        oldest=now.oldest,
        contested=now.contested,
        published=now.published,
        undone=now.undone | set(range(then.step + 1, step)),
    )


def _gone(now: Truth, then: Truth, step: int) -> dict[Value, int]:
    """Return the keys without a row, each with the step since which, once rows of then are back."""
    gone = {**now.gone, **dict.fromkeys(now.rows, step), **then.gone}
    return {key: at for key, at in gone.items() if key not in then.rows}


def begun(
    before: Truth, step: int, rows: Iterable[Row], deleted: Iterable[Value], columns: Iterable[int]
) -> Truth:
    """Return the truth after a second writer began a write: the table is as it was.

    `columns`: the ids of those that alone it changes in rows that are there; none: every one.
    """
    made = tuple(rows)
    pending = PendingWrite(
        step, made, tuple(deleted), frozenset(columns), before.rows, before.schema
    )
    return replace(failed(before, step, made), pending=pending)


def branched(truth: Truth, branch: Truth) -> Truth:
    """Return the truth after another write into the branch that waits; `branch`: as it is then."""
    pending = truth.pending
    if pending is None:
        raise SchemaChangeError("no write waits in a branch")
    rows = tuple(row for key, row in branch.rows.items() if pending.before.get(key) != row)
    gone = tuple(key for key in pending.before if key not in branch.rows)
    now = replace(pending, rows=rows, deleted=gone, schema=truth.schema)
    return replace(failed(truth, branch.step, rows), pending=now)


def committed(truth: Truth, step: int) -> Truth:
    """Return the truth after the second writer committed.

    A row that somebody else wrote meanwhile has two versions, and the one that was begun first has
    the lesser ordering value: it comes late. Where both changed other columns, both stand.
    """
    pending = truth.pending
    if pending is None:
        raise SchemaChangeError("no write waits for its commit; begin_write begins one")
    alone = truth.rows is pending.before
    published = {**truth.published, step: pending} if alone else truth.published
    undone = truth.undone - {pending.step, *(row.newest for row in pending.rows)}
    now = replace(truth, pending=None, failed=(), undone=undone, published=published)
    sent = {row.key: _upon(now, pending, row) for row in pending.rows}
    overtaken = {key: row for key, row in sent.items() if _is_overtaken(now, pending, key)}
    stand = [row for key, row in sent.items() if key not in overtaken]
    after = written(now, step, stand, pending.deleted)
    return replace(late(after, step, overtaken), before_last=now) if overtaken else after


def staged(truth: Truth) -> Truth:
    """Return the truth of the branch that the write which waits is staged in.

    Nothing that was written meanwhile is in it, and its columns are the table's (Iceberg
    documentation, "Schema selection with branches and tags").
    """
    pending = truth.pending
    if pending is None:
        return truth
    there = dict(pending.before) | {row.key: row for row in pending.rows}
    rows = {key: row for key, row in there.items() if key not in pending.deleted}
    gone = {**truth.gone, **dict.fromkeys(truth.rows, truth.step)}
    return replace(truth, rows=rows, gone={key: at for key, at in gone.items() if key not in rows})


def _upon(now: Truth, pending: PendingWrite, row: Row) -> Row:
    """Return the version of a row once its columns are changed in the row that is there now."""
    there = now.rows.get(row.key)
    if not pending.columns or there is None:
        return row
    order = set(now.ordering)
    ids = pending.columns - (order if there != pending.before.get(row.key) else set())
    return replace(
        there,
        values={**there.values, **{at: row.values[at] for at in ids}},
        written={**there.written, **{at: row.written[at] for at in ids}},
    )


def _is_overtaken(now: Truth, pending: PendingWrite, key: Value) -> bool:
    """Return whether somebody else wrote what the second writer changes of a row."""
    old, there = pending.before.get(key), now.rows.get(key)
    if not pending.columns or old is None or there is None:
        return there != old
    columns = pending.columns.difference(now.ordering)
    return any(old.written.get(at) != there.written.get(at) for at in columns)
