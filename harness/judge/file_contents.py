"""What a table's files hold, as rows by field ids: what a faultless reader would show.

Each file is compared with what the truth says of its own step, in the names that the table had
then. A difference may still be the truth's own: it counts as *sent* where the statement as recorded
says what the truth says, and no rule of the model lies between it and the file, because the step
itself sent the value, or because it only carried the row along.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.core.cached_method import cached_method
from harness.core.records import FileValues, StateRecord
from harness.judge import statement_evidence as sent
from harness.judge.field_ids import by_ids, by_names
from harness.judge.partition_values import PartitionValues
from harness.model.canonical import Value, same, text_of
from harness.model.datatypes import DataType
from harness.model.file_facts import FileFact
from harness.model.partition_paths import Texts
from harness.model.schema import Field
from harness.model.simulation import late_versions
from harness.model.simulation.column_resolution import LayoutError, slices, written_schema
from harness.model.simulation.incremental import Since, dated
from harness.model.truth import History, Row, Rows, Truth, completed, named


class NotKnown(Exception):
    """What a file holds is not known, or cannot be shown; says why."""


@dataclass(frozen=True, slots=True)
class FileDifference:
    """A value that a file holds and the truth does not."""

    file: FileFact
    key: str
    field_id: int
    column: str
    """As the file names it."""
    expected: Value
    actual: Value
    sent: bool
    """Whether no rule of the model could be at fault."""
    in_path: bool = False
    """Whether the file has no such column: the name of its folder gives the value."""


@dataclass(frozen=True, slots=True)
class ViewContent:
    """What the files of one view hold."""

    rows: Rows
    """A row that several files hold stands under several keys, once for each."""
    differences: tuple[FileDifference, ...]
    """In the files that the view is read from."""
    newest: Mapping[str, int]
    """The step that wrote the newest of these files that holds a row, by the text of its key."""
    older: frozenset[str] = frozenset()
    """The keys of rows that files hold and the view leaves out, as they were committed before it
    begins, as texts."""
    by_folder: Rows | None = None
    """The rows, with the partition values that the names of the files' folders give; None where
    these are the same, or where they tell nothing."""

    @property
    def twice(self) -> frozenset[str]:
        """The keys of the rows that are there more than once, as texts."""
        texts = [text_of(row.key) for row in self.rows.values()]
        return frozenset(text for text in texts if texts.count(text) > 1)


class Holdings:
    """The files of all states of a variant, each with its rows."""

    def __init__(self, states: Sequence[StateRecord], history: History) -> None:
        """`history`: the truth after every step."""
        self._history = history
        self._steps = {record.outcome.instant: record.outcome.step for record in states}
        self._others = {
            instant: step for state_record in states for instant, step in state_record.others
        }
        self._steps |= self._others
        self._sql = {
            state_record.outcome.step: " ".join(state_record.outcome.statements)
            for state_record in states
        }
        self._values: dict[FileFact, FileValues] = {}
        listed: dict[str, Texts] = {}
        for state in states:
            listed |= dict(state.listed_as)
            for value in state.values:
                self._values.setdefault(state.files[value.file], value)
        self._partitions = PartitionValues(history, self._steps, listed)
        keys = ((truth, key) for truth in history for key in truth.rows)
        self._keys = {name: key for truth, key in keys for name in _names(truth, key)}

    def content(self, files: Sequence[FileFact], since: Since | None = None) -> ViewContent:
        """Return what files hold together; `since`: the view, where it gives a part of the rows.

        Raises:
            NotKnown: one of them was not looked at, or no step made it; or it does not say when its
                rows were committed, where that matters.

        """
        whole = self._content(files)
        try:
            rows = {at: row for at, row in whole.rows.items() if not since or since.gives(row)}
        except LayoutError as problem:
            raise NotKnown(str(problem)) from problem
        older = (text_of(row.key) for at, row in whole.rows.items() if at not in rows)
        return replace(whole, rows=rows, older=frozenset(older))

    def _content(self, files: Sequence[FileFact]) -> ViewContent:
        """Return all that files hold together."""
        rows: dict[Value, Row] = {}
        named: dict[Value, Row] = {}
        read: list[FileFact] = []
        try:
            for base, logs in slices(files, self._steps):
                facts = [fact for fact in (base, *logs) if fact is not None]
                read += facts
                in_path = self._partitions.certain(facts[0]) if facts else {}
                for row in self._merged(facts):
                    at = row.key if row.key not in rows else (len(rows), row.key)
                    rows[at], named[at] = row, replace(row, values={**row.values, **in_path})
        except LayoutError as problem:
            raise NotKnown(str(problem)) from problem
        differences = tuple(difference for fact in read for difference in self.differences(fact))
        newest: dict[str, int] = {}
        for fact in read:
            for row in self._rows(fact):
                at = self._steps[fact.instant]
                newest[text_of(row.key)] = max(at, newest.get(text_of(row.key), at))
        equal = all(_same_values(row, named[at]) for at, row in rows.items())
        return ViewContent(rows, differences, newest, by_folder=None if equal else named)

    def value_sent(self, row: Row, field_id: int, since: int) -> bool:
        """Return whether a statement sent a value later than any file holds its row."""
        written = row.written.get(field_id)
        value = row.values.get(field_id)
        later = written is not None and since < written
        return later and self._says(written or 0, row.key, value, field_id)

    def row_sent(self, row: Row, step: int) -> bool:
        """Return whether a row that no file holds has to be there, by no rule of the model.

        That is so where a statement sent it and no file was written since, or where no statement
        that names it deleted anything since a file last held it.
        """
        last = max((self._steps[fact.instant] for fact in self._holding(row.key)), default=0)
        deleted = {at for at in self._history[step].gone.values() if last < at <= step}
        latest = max(row.written.values(), default=0)
        still = last < latest or not any(self._names(at, row.key) for at in deleted)
        return still and self._names(latest, row.key)

    def gone_sent(self, key: str, step: int) -> bool:
        """Return whether a statement deleted a row that a file holds, or none ever named it."""
        gone = {text_of(each): (each, at) for each, at in self._history[step].gone.items()}
        if key in gone:
            value, at = gone[key]
            return self._names(at, value)
        named = any(sent.within(key, sql) for sql in self._sql.values())
        return key not in self._keys and not named

    @cached_method
    def differences(self, fact: FileFact) -> tuple[FileDifference, ...]:
        """Return what a file holds otherwise than the truth says of its step.

        Raises:
            NotKnown: it was not looked at.

        """
        return tuple(self._differences(fact))

    def _merged(self, facts: Sequence[FileFact]) -> Iterator[Row]:
        """Yield the rows of one file group: the older first, newer versions in their place."""
        result: dict[str, list[Row]] = {}
        for fact in facts:
            truth = self._history[self._steps[fact.instant]]
            vain = late_versions.overtaken(truth, fact)
            for key in fact.deleted:
                if key not in vain:
                    result.pop(key, None)
            own: dict[str, list[Row]] = {}
            for key, row in zip(fact.keys, self._rows(fact), strict=True):
                if key not in vain:
                    own.setdefault(key, []).append(row)
            stand = late_versions.on_top(truth, own, result, self._complete)
            result |= {key: rows for key, rows in stand.items() if rows is not None}
        return (row for rows in result.values() for row in rows)

    def _complete(self, newer: list[Row], older: list[Row]) -> list[Row]:
        return [completed(row, older[-1], self._history[-1].schema) for row in newer]

    def _columns(self, fact: FileFact) -> tuple[Field, ...]:
        return written_schema(self._history, fact, self._steps).fields

    @cached_method
    def _rows(self, fact: FileFact) -> tuple[Row, ...]:
        return tuple(self._made(fact))

    def _made(self, fact: FileFact) -> Iterator[Row]:
        if not fact.keys:
            return
        values = self._values.get(fact, FileValues(0, unread="it was not looked at"))
        if values.unread:
            raise NotKnown(f"{fact.path}: {values.unread}")
        step = self._steps[fact.instant]
        in_file = late_versions.file_rows(self._history[step], fact)
        instants = values.commits or ("",) * len(values.rows)
        for text, row, instant in zip(fact.keys, values.rows, instants, strict=True):
            key = self._keys.get(text, text)
            own = in_file.get(key)
            shown = dict(zip(values.columns, row, strict=True))
            result = {column.id: self._value(column, shown, fact) for column in self._columns(fact)}
            whose = (own.written, own.group) if own else ({}, (step, ()))
            yield dated(Row(key, result, *whose), instant)

    def _value(self, column: Field, shown: Mapping[str, Value], fact: FileFact) -> Value:
        """Return the value of a column in a row of a file: a partition's may be in the path alone.

        Raises:
            NotKnown: the path does not tell it.

        """
        if column.name in shown:
            return by_ids(shown[column.name], column)
        if not self._in_path(column, fact):
            return None
        in_path = self._partitions.of(fact)
        if column.id not in in_path:
            raise NotKnown(f"{fact.path}: its folder's name does not tell {column.name}")
        return in_path[column.id]

    def _in_path(self, column: Field, fact: FileFact) -> bool:
        """Return whether a file leaves a column to the name of its folder, as a partition's."""
        absent = column.name not in self._values[fact].columns
        return absent and column.name in self._history[0].table.partition_by

    def _differences(self, fact: FileFact) -> Iterator[FileDifference]:
        step = self._steps[fact.instant]
        in_file = late_versions.file_rows(self._history[step], fact)
        for row in self._rows(fact):
            columns_then = in_file.get(row.key)
            for column in self._columns(fact) if columns_then else ():
                expected = named(columns_then.of(column), column) if columns_then else None
                result = by_names(row.values[column.id], column)
                if columns_then and not same(expected, result):
                    difference = text_of(row.key), column.id, column.name
                    settled = self._sent(columns_then, column, fact, result)
                    in_path = self._in_path(column, fact)
                    yield FileDifference(fact, *difference, expected, result, settled, in_path)

    def _sent(self, row: Row, column: Field, fact: FileFact, result: Value) -> bool:
        """Return whether the step sent this value, or had nothing to do with the row."""
        at = self._order(fact)
        written = row.written.get(column.id)
        value = row.values.get(column.id)
        if written is None:
            given = result is None or self._ever_given(at[0], row.key, column.id)
            return not (given or self._doubted_before(row.key, column.id, fact, result))
        if not self._says(written, row.key, value, column.id):
            return False
        if (written, False) == at:
            return True
        then = self._history[written].schema.by_id(column.id)
        converted = then is None or _leaves(then) != _leaves(column)
        latest = max(row.written.values()), False
        if latest < at:
            unchanged = result is None or not converted
        else:
            unchanged = result is None and not converted and self._keeps(at, row, column)
        return unchanged and not self._doubted_before(row.key, column.id, fact, result)

    def _order(self, fact: FileFact) -> tuple[int, bool]:
        """Return the step of a file's rows, and whether it was written later and carries them."""
        return self._steps[fact.instant], fact.instant in self._others

    @property
    def _key(self) -> Field:
        return self._history[0].schema.find(self._history[0].table.key)

    def _names(self, step: int, key: Value) -> bool:
        return sent.names(self._sql.get(step, ""), key, self._key)

    def _says(self, step: int, key: Value, value: Value, field_id: int) -> bool:
        """Return whether the statements of a step, as they were sent, give a row this value."""
        column = self._history[step].schema.by_id(field_id)
        sql = self._sql.get(step, "")
        return column is not None and sent.says(sql, (key, self._key), value, column)

    def _ever_given(self, until: int, key: Value, field_id: int) -> bool:
        """Return whether a statement so far may give a row a value of a column, by its name."""
        for step in range(until + 1):
            column = self._history[step].schema.by_id(field_id)
            sql = self._sql.get(step, "")
            if column is not None and self._names(step, key) and sent.has_column(sql, column):
                return True
        return False

    def _keeps(self, at: tuple[int, bool], row: Row, column: Field) -> bool:
        """Return whether the statements of a file's step set other columns of a row alone."""
        step, later = at
        return not later and sent.keeps(self._sql.get(step, ""), (row.key, self._key), column)

    def _doubted_before(self, key: Value, field_id: int, fact: FileFact, result: Value) -> bool:
        """Return whether an older file holds the same, and there it may be the model's fault."""
        older = [
            file_fact
            for file_fact in self._holding(key)
            if self._order(file_fact) < self._order(fact)
        ]
        return any(
            not difference.sent and same(difference.actual, result)
            for fact in older
            for difference in self.differences(fact)
            if (difference.key, difference.field_id) == (text_of(key), field_id)
        )

    def _holding(self, key: Value) -> list[FileFact]:
        names = set(_names(self._history[0], key))
        return [value for value in self._values if names & set(value.keys)]


def _leaves(column: Field) -> Mapping[int, DataType]:
    """Return the types of a column's plain parts, whatever they are called."""
    return {field.id: field.type for field in column.walk() if not field.children}


def _same_values(one: Row, other: Row) -> bool:
    return all(same(value, other.values[at]) for at, value in one.values.items())


def _names(truth: Truth, key: Value) -> tuple[str, str]:
    # Hudi's complex key generator writes `column:value` even for a single key column.
    return str(key), f"{truth.table.key}:{key}"
