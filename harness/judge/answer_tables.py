"""Questions that ask for no rows of the table: tables of their own answer them.

How many rows each group has, and what the table says of where its rows come from: the truth of
either is a history like the table's own, so that an answer is judged like any other.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from harness.core.records import Answer, StateRecord
from harness.judge.difference import OTHER_ID, ROW_ID, SIZE, UPDATED
from harness.judge.expectations import Expectations
from harness.judge.file_contents import FileAgreement, ViewContent
from harness.judge.recorded_variant import SNAPSHOT
from harness.model.canonical import Value, text_of
from harness.model.datatypes import Primitive
from harness.model.file_facts import Lineage
from harness.model.query import LINEAGE, ROW_COUNT
from harness.model.query_shapes import Shape
from harness.model.schema import Field, Schema
from harness.model.truth import History, Row, Rows, Truth, named

NOT_KNOWN: Final = "what the table's files say of where its rows come from is not known"
_LONG: Final = Primitive("long")

Values = Mapping[int, Value]
"""Those of a row, by the ids of fields; the first is its key."""


def expected(whole: Expectations, query: str, step: int) -> Expectations:
    """Return what is expected of a question about a step: `whole` of one for rows of the table."""
    shape, _, path = query.removesuffix(")").partition("(")
    history = whole.history[: step + 1]
    if shape == Shape.GROUPS and history[-1].schema.has(path):
        field, there = history[-1].schema.find(path), step in whole.case.state_of
        agreement = whole.agreement(step, SNAPSHOT) if there else None
        # As long as the column is what it is at the end.
        same = (truth.rows if truth.schema.by_id(field.id) == field else {} for truth in history)
        fields = field, Field(SIZE, ROW_COUNT, _LONG)
        truth = _truth(history, fields, (_sizes(rows, field) for rows in same))
        sizes = _sizes(agreement.content.rows, field) if agreement else ()
        rows = dict(enumerate(_row(values, step) for values in sizes))
        return QuestionExpectations(whole, truth, rows if agreement else None)
    if shape != Shape.LINEAGE:
        return whole
    recorded = {at: state.lineage for at, state in whole.case.state_of.items() if state.lineage}
    truth = lineage(history, recorded)
    keys = {text_of(key): key for before in history for key in before.rows}
    ids = [field.id for field in truth[-1].schema.fields]
    rows = {
        at: _row(dict(zip(ids, (keys.get(text, text), *numbers), strict=True)), step)
        for at, (text, *numbers) in enumerate(recorded[step].rows if step in recorded else ())
    }
    return QuestionExpectations(whole, truth, rows if step in recorded else None, settled=True)


class QuestionExpectations(Expectations):
    """The truth of such a table up to the step that is asked about, and what files say.

    `settled`: whether the specification says who is right where these differ.
    """

    def __init__(
        self, whole: Expectations, history: History, in_files: Rows | None, *, settled: bool = False
    ) -> None:
        bare = [  # the table's files are not its own
            StateRecord(s.variant, s.outcome, s.digest, table_version=s.table_version)
            for s in whole.case.states
        ]
        super().__init__(replace(whole.case, states=bare), history)
        self._in_files, self._settled = in_files, settled

    def for_reader(self, reader: str, answer: Answer | None = None) -> Expectations:  # noqa: ARG002
        return self

    def unjudged(self, step: int, view: str) -> str:  # noqa: ARG002
        return NOT_KNOWN if self._settled and self._in_files is None else ""

    def _agreement(self, step: int, view: str) -> FileAgreement | None:
        if self._in_files is None:
            return None
        content = ViewContent(self._in_files, (), {})
        return FileAgreement(self.state(step, view), content, self._holdings, self._settled)


def _truth(
    history: History, fields: Sequence[Field], tables: Iterable[Iterable[Values]]
) -> History:
    """Return the truth of a table with these rows after each step."""
    columns, key = tuple((field.name, field.type) for field in fields), fields[0].name
    table = replace(history[0].table, columns=columns, key=key, order_by=(), partition_by=())
    schema, now = Schema(tuple(fields), history[-1].schema.last_id), dict[Value, Row]()
    result = list[Truth]()
    for truth, rows in zip(history, tables, strict=True):
        made = [_row(values, truth.step, now.get(values[fields[0].id])) for values in rows]
        now = {row.key: row for row in made}
        result.append(replace(truth, table=table, schema=schema, rows=now, base=now, spec=()))
    return tuple(result)


def _row(values: Values, step: int, older: Row | None = None) -> Row:
    """Return a row as a step leaves it; `older`: as it was before."""
    unchanged = {at: older.written[at] for at in values if older and older.values[at] == values[at]}
    return Row(
        next(iter(values.values())), values, {**dict.fromkeys(values, step), **unchanged}, (0, ())
    )


def _sizes(rows: Rows, field: Field) -> Iterable[Values]:
    sizes = Counter(named(row.of(field), field) for row in rows.values())
    return ({field.id: value, SIZE: size} for value, size in sizes.items())


def lineage(history: History, recorded: Mapping[int, Lineage]) -> History:
    """Return the id of each row and when it was updated last; `recorded`: what files say by step.

    Numbers are the writer's to choose when it adds a row, or with the first snapshot after an
    upgrade; from then on a row keeps its id, and its sequence number is that of the step which
    wrote it (specification, "Row lineage assignment", "Row Lineage for Upgraded Tables"). That an
    update may give it `OTHER_ID` is left open.
    """
    key = history[-1].schema.find(history[0].table.key)
    names = zip((ROW_ID, UPDATED), LINEAGE, strict=True)
    fields = (key, *(Field(at, name, _LONG) for at, name in names))
    return _truth(history, fields, _numbers(history, recorded, key.id))


def _numbers(
    history: History, recorded: Mapping[int, Lineage], key: int
) -> Iterator[Iterable[Values]]:
    known, now, last = dict[tuple[Value, int], Values](), dict[Value, Values](), 0
    for truth in history:
        newest = recorded.get(truth.step, Lineage(last, ()))
        in_files = {text: (id_, updated) for text, id_, updated in newest.rows}
        before, now = now, {}
        for at, row in truth.rows.items():
            version, changed = (at, row.newest), row.newest == truth.step
            if known.get(version, {}).get(ROW_ID) is None:
                id_, updated = in_files.get(text_of(at), (None, None))
                if changed and id_ is not None and not last < (updated or 0) <= newest.sequence:
                    updated = newest.sequence
                old_id = before.get(at, {}).get(ROW_ID) if changed else None
                given = id_ if old_id is None else old_id
                known[version] = {key: at, ROW_ID: given, UPDATED: updated, OTHER_ID: id_}
            now[at] = known[version]
        last = newest.sequence
        yield now.values()
