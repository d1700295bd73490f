"""What a table's files hold, as rows by field ids: what a faultless reader would show.

Each file is compared with what the truth says of its own step. A difference may still be the
truth's own: it counts as *sent* where the statement as recorded says what the truth says, and no
rule of the model lies between it and the file. Then the statement settles who is right; else nobody
is named.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from operator import attrgetter
from typing import Final

from harness.core.grouping import grouped
from harness.core.records import FileValues, OutcomeKind, StateRecord
from harness.judge.difference import Difference, DifferenceKind
from harness.judge.expected_state import ExpectedState
from harness.model import partition_paths
from harness.model.canonical import MapValue, Value, same, text_of
from harness.model.datatypes import DataType
from harness.model.file_facts import FileFact
from harness.model.partition_paths import Texts, folder_of
from harness.model.python_text import expression
from harness.model.schema import Field
from harness.model.simulation import late_versions
from harness.model.simulation.column_resolution import LayoutError, WrittenFiles, slices
from harness.model.simulation.incremental import Since, dated
from harness.model.truth import History, Row, Rows, Truth, completed, named, row_values
from harness.scenario.operations.spark_sql import literal, quoted

_Name = Callable[[Field], object]
"""By what the children of a struct are called."""
_SETS: Final = re.compile(
    r"\b(?:update \S+|merge into .* then update) set (?P<assigned>.*)", re.DOTALL
)


def names(sql: str, key: Value, column: Field) -> bool:
    return within(literal(key, column), sql)


def says(sql: str, key: tuple[Value, Field], value: Value, column: Field) -> bool:
    """Return whether statements give the row of a key this value under a column's name.

    Rows are sent whole, `select … as id, … as f1`, or by columns, `f1 = case id when … then … end`
    (`operations.sql`, `operations.update`).
    """
    by_spark = literal(value, column)
    by_hive = by_spark.replace(" as timestamp_ntz)", " as timestamp)")
    in_sql = any(_says_sql(sql, key, text, column) for text in {by_spark, by_hive})
    return in_sql or _says_python(sql, key, value, column)


def _says_sql(sql: str, key: tuple[Value, Field], value: str, column: Field) -> bool:
    key_text, names_key = literal(*key), quoted(key[1].name)
    row = f"{key_text} as {names_key}", f"{value} as {quoted(column.name)}"
    whole = any(
        all(within(cell, part) for cell in row) for part in re.split(r"\bselect (?=\S)", sql)
    )
    _, _, after = sql.partition(f"{quoted(column.name)} = case {names_key} ")
    return whole or within(f"when {key_text} then {value}", after.partition(" end")[0])


def _says_python(sql: str, key: tuple[Value, Field], value: Value, column: Field) -> bool:
    """Return the same of what a library is told: rows as dicts (`library_writes.arrow_table`)."""
    cells = [f"{expression(of.name)}: {expression(v)}" for v, of in (key, (value, column))]
    return any(all(within(cell, row) for cell in cells) for row in re.split(r"(?<=[\[ ])\{", sql))


def keeps(sql: str, key: tuple[Value, Field], column: Field) -> bool:
    """Return whether statements set other columns of a key's row, and this one stays as it was.

    An update assigns the columns that it names alone (ISO/IEC 9075-2, "set clause list").
    """
    result = _SETS.search(sql)
    omitted = result is not None and f"{quoted(column.name)} = " not in result["assigned"]
    return omitted and names(sql, *key)


_OF_EVERY_ROW: Final = re.compile(
    r"\b(truncate table|delete from) \S+\s*$|\bcreate or replace table ", re.IGNORECASE
)
"""What takes away all rows: there is no condition."""
_BY_VALUE: Final = re.compile(
    r"""\bdelete from \S+ where `(?P<name>[^`]+)` = (?P<value>.+)"""
    r"""|.*\btable\.delete\('"(?P<other>[^"]+)" = (?P<literal>.+)'\)"""
)
"""What takes away the rows that have one value, in Spark's SQL or as delta-rs is told."""
_OVERWRITES: Final = re.compile(r"\binsert overwrite table \S+ (?!partition\b)", re.IGNORECASE)
"""What takes them away where a table has no partitions; of those a setting says which go."""


def within(text: str, sql: str) -> bool:
    # It is no part of a longer word or number.
    return re.search(rf"(?<![\w.-]){re.escape(text)}(?![\w.])", sql) is not None


_id, _name = attrgetter("id"), attrgetter("name")


def _renamed(value: Value, column: Field, old: _Name, new: _Name) -> Value:
    """Return a value with the children of structs called otherwise, as far as they are known."""

    def part(value: Value, field: Field) -> Value:
        return _renamed(value, field, old, new)

    match value:
        case dict():
            parts = {old(child): child for child in column.children}
            return {
                new(parts[at]) if at in parts else at: part(v, parts[at]) if at in parts else v
                for at, v in value.items()
            }
        case tuple() if column.children:
            return tuple(part(element, column.children[0]) for element in value)
        case MapValue() if len(column.children) > 1:
            key, element = column.children
            return MapValue.of([(part(k, key), part(v, element)) for k, v in value.pairs])
    return value


class NotKnown(Exception):
    """What a file holds is not known, or cannot be shown; says why."""


@dataclass(frozen=True, slots=True)
class FileDifference:
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
    lacking: bool = False
    """Whether it has no such column, and is a part of whole rows: nothing gives the value."""

    @property
    def text(self) -> str:
        """What is held, and what was written, for people."""
        if self.lacking:
            return f"its block has no {self.column}; written was {_shown(self.expected)}"
        where = "the folder's name says" if self.in_path else "stands"
        actual, written = _shown(self.actual), _shown(self.expected)
        return f"under {self.column} {where} {actual}; written was {written}"


@dataclass(frozen=True, slots=True)
class ViewContent:
    rows: Rows
    """A row that several files hold stands under several keys, once for each."""
    differences: tuple[FileDifference, ...]
    """In the files that the view is read from."""
    newest: Mapping[str, int]
    """The step that wrote the newest of these files that holds a row, by the text of its key."""
    older: frozenset[str] = frozenset()
    """The keys of rows that files hold and the view leaves out, as they were committed before it
    begins, as texts."""
    afresh: Rows | None = None
    """The rows, where parts of rows complete no version from before a delete; None where that makes
    no difference. Hudi's specification does not say which it is."""
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
        self._others = {instant: step for state in states for instant, step in state.others}
        self._steps = {state.outcome.instant: state.outcome.step for state in states} | self._others
        self._sql = {s.outcome.step: " ".join(s.outcome.statements) for s in states}
        whole = (_OF_EVERY_ROW,) if history[0].table.partition_by else (_OF_EVERY_ROW, _OVERWRITES)
        for before, after in pairwise(history):
            if before.pending and not after.pending:  # what was begun is committed
                self._sql[after.step] = self._sql.get(before.pending.step, "")
        self._emptied = {
            state.outcome.step
            for state in states
            if any(form.search(sql) for sql in state.outcome.statements for form in whole)
        }
        self._refused = {s.outcome.step for s in states if s.outcome.kind is OutcomeKind.REFUSED}
        self._values: dict[FileFact, FileValues] = {}
        self._listed: dict[str, Texts] = {}
        for state in states:
            # What the catalog says of a folder, where it is not the very text of its name.
            self._listed |= dict(state.listed_as)
            for value in state.values:
                self._values.setdefault(state.files[value.file], value)
        keys = ((truth, key) for truth in history for key in truth.rows)
        self._keys = {name: key for truth, key in keys for name in _record_keys(truth, key)}
        self._rows: Callable[[FileFact], tuple[Row, ...]] = cache(self._read_rows)
        self.differences: Callable[[FileFact], tuple[FileDifference, ...]] = cache(self._compare)

    def content(self, files: Sequence[FileFact], since: Since | None = None) -> ViewContent:
        """Return what files hold together; `since`: the view, where it gives a part of the rows.

        Raises NotKnown: one was not looked at, no step made it, or it does not say when its rows
        were committed, where that matters.
        """
        every, in_names, afresh = (dict[Value, Row]() for _ in range(3))
        read = list[FileFact]()
        try:
            for base, logs in slices(files, self._steps):
                facts = [fact for fact in (base, *logs) if fact is not None]
                read += facts
                in_name = self._in_name(facts[0], certain=True) if facts else {}
                rows = lone = list(self._merged(facts))
                if any(fact.partial for fact in facts):
                    lone = list(self._merged(facts, afresh=True))
                for row, alone in zip(rows, lone, strict=True):
                    at = row.key if row.key not in every else (len(every), row.key)
                    every[at], afresh[at] = row, alone
                    in_names[at] = replace(row, values={**row.values, **in_name})
            given = {at: row for at, row in every.items() if not since or since.gives(row)}
        except LayoutError as problem:
            raise NotKnown(str(problem)) from problem
        newest: dict[str, int] = {}
        for fact in read:
            for row in self._rows(fact):
                at, step = text_of(row.key), self._steps[fact.instant]
                newest[at] = max(step, newest.get(at, step))
        equal = all(
            same(value, in_names[at].values[field_id])
            for at, row in every.items()
            for field_id, value in row.values.items()
        )
        return ViewContent(
            given,
            tuple(difference for fact in read for difference in self.differences(fact)),
            newest,
            frozenset(text_of(row.key) for at, row in every.items() if at not in given),
            None if afresh == every else {at: afresh[at] for at in given},
            None if equal else in_names,
        )

    def value_sent(self, row: Row, field_id: int, since: int) -> bool:
        """Return whether a statement sent a value later than any file holds its row."""
        written = row.written.get(field_id, -1)
        return since < written and self._says(written, row, field_id)

    def row_sent(self, row: Row, step: int) -> bool:
        """Return whether a row that no file holds has to be there, by no rule of the model.

        A statement sent it and no file was written since, or none that names it deleted anything
        since a file last had it.
        """
        last = max((self._steps[fact.instant] for fact in self._holding(row.key)), default=0)
        deleted = {at for at in self._history[step].gone.values() if last < at <= step}
        latest = max(row.written.values(), default=0)
        still = last < latest or not any(self._deletes(at, row.key) for at in deleted)
        return still and self._names(latest, row.key)

    def gone_sent(self, key: str, step: int) -> bool:
        """Return whether a statement deleted a row that a file holds, or no one gave it."""
        for value, at in self._history[step].gone.items():
            if text_of(value) == key:
                return self._deletes(at, value)
        # What was refused, or not completed, gave nothing: whatever files hold of it.
        vain = self._refused | self._history[step].undone
        sent = (sql for at, sql in self._sql.items() if at not in vain)
        text = literal(key, self._key) if str(self._key.type) == "string" else key
        return key not in self._keys and not any(within(text, sql) for sql in sent)

    def _compare(self, fact: FileFact) -> tuple[FileDifference, ...]:
        """Return what a file holds otherwise than the truth says of its step.

        Raises NotKnown: it was not looked at.
        """
        then, result = self._history[self._steps[fact.instant]], []
        in_truth = late_versions.file_rows(then, fact)
        for row in self._rows(fact):
            written = in_truth.get(row.key)
            for column in self._columns(fact) if written else ():
                expected = named(written.of(column), column) if written else None
                actual = _renamed(row.values[column.id], column, _id, _name)
                if written and not same(expected, actual):
                    at = text_of(row.key), column.id, column.name
                    sent = self._sent(written, column, fact, actual)
                    in_path = self._in_path(column, fact)
                    result.append(FileDifference(fact, *at, expected, actual, sent, in_path))
            result += self._lacking(written, fact) if written and fact.partial else ()
        return tuple(result)

    def _lacking(self, written: Row, fact: FileFact) -> Iterator[FileDifference]:
        """Yield what a step wrote of a row and the part of it in a file of that step lacks."""
        step, there = self._steps[fact.instant], self._columns(fact)
        for column in self._history[step].schema.fields:
            if column not in there and written.written.get(column.id) == step:
                at, sent = (text_of(written.key), column.id), self._says(step, written, column.id)
                value = named(written.of(column), column)
                yield FileDifference(fact, *at, column.name, value, None, sent, lacking=True)

    def _in_name(self, fact: FileFact, *, certain: bool) -> Mapping[int, Value]:
        """Return the partition values by the name of a file's folder, by the ids of their columns.

        Nothing where the path tells none, as Iceberg's, or its text is no value of the column's
        type. `certain`: nor where a name looks escaped, and so tells two values: Hudi escapes only
        where it is set to (`hoodie.datasource.write.partitionpath.urlencode`).
        """
        folder, columns = folder_of(fact.path), self._history[0].table.partition_by
        texts = partition_paths.texts(folder, columns)
        if certain and texts != partition_paths.as_they_stand(folder, columns):
            texts = ()
        try:
            then = self._history[self._steps[fact.instant]]
            return partition_paths.values(self._listed.get(folder, texts), then)
        except ValueError:
            return {}

    def _merged(self, facts: Sequence[FileFact], *, afresh: bool = False) -> Iterator[Row]:
        """Yield the rows of one file group: the older first, newer versions in their place.

        `afresh`: whether parts of a row that was deleted complete no version of before.
        """
        result: dict[str, list[Row]] = {}
        gone: dict[str, list[Row]] = {}

        def complete(newer: list[Row], older: list[Row]) -> list[Row]:
            return [completed(row, older[-1], self._history[-1].schema) for row in newer]

        for fact in facts:
            truth = self._history[self._steps[fact.instant]]
            vain = late_versions.overtaken(truth, fact)
            for key in fact.deleted:
                if key not in vain and key in result:
                    gone[key] = result.pop(key)
            before = result if afresh else {**gone, **result}
            rows = self._rows(fact)
            if fact.partial:
                older = (before.get(key) or [row] for key, row in zip(fact.keys, rows, strict=True))
                rows = tuple(
                    replace(row, values={**of_before[-1].values, **row.values})
                    for row, of_before in zip(rows, older, strict=True)
                )
            pairs = zip(fact.keys, rows, strict=True)
            valid = grouped([(key, row) for key, row in pairs if key not in vain])
            stand = late_versions.on_top(truth, valid, result, complete)
            result |= {key: rows for key, rows in stand.items() if rows is not None}
        return (row for rows in result.values() for row in rows)

    def _columns(self, fact: FileFact) -> tuple[Field, ...]:
        return WrittenFiles(self._history, (), self._steps).written_schema(fact).fields

    def _read_rows(self, fact: FileFact) -> tuple[Row, ...]:
        if not fact.keys:
            return ()
        values = self._values.get(fact, FileValues(0, unread="it was not looked at"))
        if values.unread:
            raise NotKnown(f"{fact.path}: {values.unread}")
        step = self._steps[fact.instant]
        in_truth = late_versions.file_rows(self._history[step], fact)
        instants = values.commits or ("",) * len(values.rows)
        rows = []
        for text, row, instant in zip(fact.keys, values.rows, instants, strict=True):
            key = self._keys.get(text, text)
            then = in_truth.get(key)
            shown = dict(zip(values.columns, row, strict=True))
            if fact.partial:
                shown.setdefault(self._key.name, key)
            result = {column.id: self._value(column, shown, fact) for column in self._columns(fact)}
            whose = (then.written, then.group) if then else ({}, (step, ()))
            rows.append(dated(Row(key, result, *whose), instant))
        return tuple(rows)

    def _value(self, column: Field, shown: Mapping[str, Value], fact: FileFact) -> Value:
        """Return the value of a column in a row of a file: a partition's may be in the path alone.

        Raises NotKnown: the path does not tell it.
        """
        if column.name in shown:
            return _renamed(shown[column.name], column, _name, _id)
        if not self._in_path(column, fact):
            return None
        in_name = self._in_name(fact, certain=False)
        if column.id not in in_name:
            raise NotKnown(f"{fact.path}: its folder's name does not tell {column.name}")
        return in_name[column.id]

    def _in_path(self, column: Field, fact: FileFact) -> bool:
        """Return whether a file leaves a column to the name of its folder, as a partition's."""
        absent = column.name not in self._values[fact].columns
        return absent and column.name in self._history[0].table.partition_by

    def _sent(self, row: Row, column: Field, fact: FileFact, actual: Value) -> bool:
        """Return whether the step sent this value, or had nothing to do with the row."""
        at, written = self._order(fact), row.written.get(column.id)
        if written is None:
            given = actual is None or self._ever_given(at[0], row.key, column.id)
            return not (given or self._doubted_before(row.key, column.id, fact, actual))
        if not self._says(written, row, column.id):
            return False
        if (written, False) == at:
            return True
        then = self._history[written].schema.by_id(column.id)
        converted = then is None or _leaf_types(then) != _leaf_types(column)
        if (max(row.written.values()), False) < at:
            unchanged = actual is None or not converted
        else:
            step, later = at
            unsent = not later and keeps(self._sql.get(step, ""), (row.key, self._key), column)
            unchanged = actual is None and not converted and unsent
        return unchanged and not self._doubted_before(row.key, column.id, fact, actual)

    def _order(self, fact: FileFact) -> tuple[int, bool]:
        # Whether the file was written later, and carries the rows of its step.
        return self._steps[fact.instant], fact.instant in self._others

    @property
    def _key(self) -> Field:
        return self._history[0].schema.find(self._history[0].table.key)

    def _deletes(self, step: int, key: Value) -> bool:
        """Return whether a step that deletes a row names it or its value, or takes away all."""
        return step in self._emptied or self._names(step, key) or self._deletes_value(step, key)

    def _deletes_value(self, step: int, key: Value) -> bool:
        """Return whether a step deletes by one value, which a statement gave the row."""
        by, before = _BY_VALUE.fullmatch(self._sql.get(step, "")), self._history[step - 1]
        if by is None or key not in before.rows:
            return False
        name, row = str(by["name"] or by["other"]), before.rows[key]
        if not before.schema.has(name):
            return False
        column, written = before.schema.find(name), row.written
        if literal(row.of(column), column) != (by["value"] or by["literal"].replace("\\'", "'")):
            return False
        return self._says(written.get(column.id, -1), row, column.id)

    def _names(self, step: int, key: Value) -> bool:
        return names(self._sql.get(step, ""), key, self._key)

    def _says(self, step: int, row: Row, field_id: int) -> bool:
        """Return whether the statements of a step, as they were sent, give a row its value."""
        column = self._history[step].schema.by_id(field_id)
        key, value = (row.key, self._key), row.values.get(field_id)
        return column is not None and says(self._sql.get(step, ""), key, value, column)

    def _ever_given(self, until: int, key: Value, field_id: int) -> bool:
        """Return whether a statement so far may give a row a value of a column, by its name."""
        columns = ((at, self._history[at].schema.by_id(field_id)) for at in range(until + 1))
        return any(
            column and self._names(step, key) and quoted(column.name) in self._sql.get(step, "")
            for step, column in columns
        )

    def _doubted_before(self, key: Value, field_id: int, fact: FileFact, actual: Value) -> bool:
        """Return whether an older file holds the same, and there it may be the model's fault."""
        return any(
            not difference.sent and same(difference.actual, actual)
            for older in self._holding(key)
            if self._order(older) < self._order(fact)
            for difference in self.differences(older)
            if (difference.key, difference.field_id) == (text_of(key), field_id)
        )

    def _holding(self, key: Value) -> list[FileFact]:
        keys = set(_record_keys(self._history[0], key))
        return [fact for fact in self._values if keys & set(fact.keys)]


def _leaf_types(column: Field) -> Mapping[int, DataType]:
    return {field.id: field.type for field in column.walk() if not field.children}


def _record_keys(truth: Truth, key: Value) -> tuple[str, str]:
    # Hudi's complex key generator writes `column:value` even for a single key column.
    return str(key), f"{truth.table.key}:{key}"


@dataclass(frozen=True, slots=True)
class Odd:
    """Something that files hold, and that was not written so."""

    key: str
    text: str
    file: FileFact | None = None
    """None where it is no value in one file."""


@dataclass(frozen=True)  # no slots: what is derived is kept
class FileAgreement:
    """The truth of a view beside what its files hold."""

    state: ExpectedState
    content: ViewContent
    holdings: Holdings
    settled: bool | None = None
    """Whether no rule of the model is at fault; None where statements tell."""

    @cached_property
    def equal(self) -> bool:
        there = {text_of(row.key): row for row in self.content.rows.values()}
        if len(self.content.rows) != len(there) or there.keys() != self.state.keys.keys():
            return False
        schema = self.state.schema
        return all(
            same(row_values(row, schema), row_values(there[key], schema))
            for key, row in self.state.keys.items()
        )

    @property
    def discrepancies(self) -> tuple[Odd, ...]:
        """What the files hold and was not written so, for people."""
        odd = [Odd(d.key, d.text, d.file) for d in self.content.differences]
        odd += self._by_folder()
        for key in self.state.keys:
            if key in self.content.older and key not in self._there:
                why = "it was written since, and its file says that it was committed before"
                odd.append(Odd(key, why))
            elif key not in self._there:
                odd.append(Odd(key, "it was written, and no file holds it"))
        before = {text_of(key) for key in self.state.left_out}
        for key in sorted(self._there - self.state.keys.keys()):
            why = "it was deleted or never written, and a file holds it"
            if key in before:
                why = "it was written before, and its file says that it was committed since"
            odd.append(Odd(key, why))
        return (*odd, *(Odd(k, "it is there more than once") for k in sorted(self.content.twice)))

    def _by_folder(self) -> Iterator[Odd]:
        """Yield the partition values that files hold and the names of their folders do not."""
        rows, named = self.content.rows, self.content.by_folder or {}
        for at, row in rows.items():
            for field in self.state.schema.fields:
                in_file, in_name = row.values.get(field.id), named.get(at, row).values.get(field.id)
                if not same(in_file, in_name):
                    text = f"of {field.name} the folder's name says {_shown(in_name)}"
                    yield Odd(text_of(row.key), f"{text}; the file holds {_shown(in_file)}")

    def sent(self, difference: Difference) -> bool:
        """Return whether no rule of the model can be at fault for what files hold there."""
        if self.settled is not None:
            return self.settled
        match difference.kind:
            case DifferenceKind.ABSENT_ROW:
                return self._row(difference.key)
            case DifferenceKind.EXTRA_ROW if difference.key in self.state.keys:
                return self._cell(difference.key)  # a condition holds for what its file holds
            case DifferenceKind.EXTRA_ROW:
                return self.holdings.gone_sent(difference.key, self.state.step)
            case DifferenceKind.CELL if difference.field:
                return self._cell(difference.key, self.state.root_of(difference.field.id))
            case DifferenceKind.SECOND_ROW:
                return True  # no statement makes two rows of one key, and so does no rule
            case DifferenceKind.COUNT:
                return self._rows()
        return False

    def by_path(self, difference: Difference) -> bool:
        """Return whether all that files hold otherwise there stands in folders' names alone.

        These are read by nobody otherwise: an engine that shows what was written has lost the row.
        """
        field_id = self.state.root_of(difference.field.id) if difference.field else None
        in_path = [
            other.in_path
            for other in self.content.differences
            if difference.key in {"", other.key} and field_id in {None, other.field_id}
        ]
        return bool(in_path) and all(in_path)

    def named_otherwise(self, difference: Difference) -> bool:
        """Return whether the folder's name gives a cell's row another value than was written."""
        field, named = difference.field, self.content.by_folder
        if field is None:
            return self.by_path(difference) and self.sent(difference)
        differs = any(
            not same(row.values.get(field.id), difference.expected)
            for row in (named or self.content.rows).values()
            if text_of(row.key) == difference.key
        )
        # Where the file says the same as the name, the mistake is in what was written.
        return differs and (named is not None or self.sent(difference))

    def _cell(self, key: str, field_id: int | None = None) -> bool:
        sent = [
            difference.sent
            for difference in self.content.differences
            if difference.key == key and field_id in {None, difference.field_id}
        ]
        row, newest = self.state.keys.get(key), self.content.newest.get(key)
        if sent or field_id is None or row is None or newest is None:
            return bool(sent) and all(sent)
        return self.holdings.value_sent(row, field_id, newest)

    def _row(self, key: str) -> bool:
        """Return whether what was sent proves that a row has to be there.

        That a write of a row is its newest commit is a rule of the model. So where a file has taken
        the write in, and says that the row was committed earlier, values alone tell.
        """
        row = self.state.keys[key]
        taken_in = self.content.newest.get(key, -1) >= max(row.written.values(), default=0)
        if key in self._there or (key in self.content.older and taken_in):
            return self._cell(key)
        return self.holdings.row_sent(row, self.state.step)

    @cached_property
    def _there(self) -> frozenset[str]:
        return frozenset(text_of(row.key) for row in self.content.rows.values())

    def _rows(self) -> bool:
        lost = [key for key in self.state.keys if key not in self._there]
        extra = self._there - self.state.keys.keys()
        if lost or extra:
            gone = (self.holdings.gone_sent(key, self.state.step) for key in extra)
            return all(gone) and all(map(self._row, lost))
        # A condition holds for other rows, as their values are others.
        differences = self.content.differences
        return bool(differences) and all(difference.sent for difference in differences)


def _shown(value: Value) -> str:
    return repr(value) if isinstance(value, str) else text_of(value)
