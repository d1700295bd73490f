"""Stage 3: where an answer differs from what is expected, and from what the files hold.

Nothing is tolerated: a value is the same or it is a difference. The order of rows and columns does
not count.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from harness.core.grouping import grouped
from harness.core.records import Answer, Column, Origin, Part
from harness.judge.altered_value import near
from harness.judge.answers import answered, tables_of
from harness.judge.difference import SIZE, Difference, DifferenceKind, Location, ShownRows, leaves
from harness.judge.expected_state import ExpectedState, Looks, PredictedRows, looks_of
from harness.judge.file_contents import FileAgreement
from harness.judge.file_evidence import Strategies
from harness.judge.understand import as_shown
from harness.model.canonical import Look, MapValue, Value, look_of, same, text_of
from harness.model.datatypes import SPATIAL
from harness.model.query import Query
from harness.model.query import at as value_at
from harness.model.schema import Field
from harness.model.truth import Row, Rows

AnsweredRow = tuple[Value, ...]
TELLING: Final = 2
"""So many rows at least tell which other column stands under the key's name."""


@dataclass(frozen=True, slots=True)
class Matching:
    """Every found row, once."""

    pairs: tuple[tuple[Row, AnsweredRow], ...]
    """A row that should be there, with what was found of it."""
    second: tuple[tuple[str, AnsweredRow], ...]
    """More rows of a key that is in `pairs`."""
    extra: tuple[tuple[str, AnsweredRow], ...]
    """Rows that should not be there, each with its key as well as it can be told."""
    empty: tuple[tuple[Row, AnsweredRow], ...] = ()
    """Rows that should be there, each with one of nothing but NULLs. Which is whose does not
    matter: there are as many of these as rows that are missing otherwise."""

    @property
    def there(self) -> frozenset[str]:
        return frozenset(text_of(row.key) for row, _ in (*self.pairs, *self.empty))


@dataclass(frozen=True, slots=True)
class RowComparison:
    state: ExpectedState
    names: tuple[str, ...]
    """What the columns of the table are called."""
    matching: Matching
    seen: ShownRows
    cells: tuple[Difference, ...]
    """The wrong values of rows that are there."""
    lost: tuple[Difference, ...]
    """The values of rows that came as nothing but NULLs."""
    whole_rows: tuple[Difference, ...]
    """The rows that are too many, there twice, or absent."""

    @property
    def differences(self) -> tuple[Difference, ...]:
        return (*self.cells, *self.lost, *self.whole_rows)


@dataclass(frozen=True, slots=True)
class AnswerComparison:
    rows: tuple[RowComparison, ...]
    """Of each of its tables; none of a count."""
    heads: tuple[Difference, ...]
    """What is wrong with its columns, and how they are declared, or with the number counted."""
    in_files: frozenset[Location] | None = None
    """Where it differs from what the files hold; None where that is not known, or nothing is
    wrong."""
    by_folder: frozenset[Location] | None = None
    """The same of what the files hold under the partition values that their folders' names give;
    None where these are the ones in the files, or there are none there."""

    @property
    def differences(self) -> tuple[Difference, ...]:
        return (*(difference for row in self.rows for difference in row.differences), *self.heads)

    @property
    def locations(self) -> frozenset[Location]:
        return frozenset(difference.location for difference in self.differences)


def compare(
    answer: Answer,
    state: ExpectedState,
    strategies: Strategies,
    agreement: FileAgreement | None,
    *,
    truncated: bool,
) -> AnswerComparison:
    """Return where an answer, or the columns asked alone, differs from what is expected.

    What its rows were read from tells whose row one is. `agreement`: None where it is not known
    what files hold; `truncated`: whether the product cannot show all that was written.
    """
    result = _compared(answer, state, strategies.predicted)
    if agreement is None or not result.differences:
        return result

    def wrong_in(rows: Rows) -> frozenset[Location]:
        """Return where the answer differs from rows that files hold, as far as it asks for them."""
        shown = as_shown(rows, state.schema) if truncated else rows
        content = replace(state, rows=shown, left_out={}, newer=None)
        content = content.narrowed(answer.question) if answer.refusal is None else content
        content = limited(content, answer)
        return _compared(answer, content, strategies.predicted).locations

    named, afresh = agreement.content.by_folder, agreement.content.afresh
    try:
        in_files = result.locations if agreement.equal else wrong_in(agreement.content.rows)
        in_files &= in_files if afresh is None else wrong_in(afresh)
        by_folder = None if named is None else wrong_in(named)
    except ValueError:  # files hold a value that has no form in the type of today
        return result
    return replace(result, in_files=in_files, by_folder=by_folder)


def _compared(
    answer: Answer, state: ExpectedState, predicted: Sequence[PredictedRows | None]
) -> AnswerComparison:
    rows, heads, whole = [], list[Difference](), answer.refusal is None
    for table, of_table in zip(tables_of(answer), predicted, strict=True):
        if whole and table.query.label:
            wrong = _wrong_aggregate(state, table.query, table.columns, table.rows)
            return AnswerComparison((), tuple(wrong))
        asked = table.query.labels(state.schema.names) if whole else state.schema.names
        heads += wrong_columns(state, table.columns, asked) if whole else ()
        # How a right answer was read does not matter, and most are right.
        read = replace(state, predicted=of_table if heads else None)
        result = compare_rows(read, table.columns, table.rows, asked)
        if of_table is not read.predicted and result.differences:
            read = replace(state, predicted=of_table)
            result = compare_rows(read, table.columns, table.rows, asked)
        rows.append(result)
    if not whole and answer.parts:
        heads += _heads_of_parts(answer.parts, state)
    return AnswerComparison(tuple(rows), tuple(heads))


def _wrong_aggregate(
    state: ExpectedState, query: Query, columns: Sequence[Column], rows: Sequence[AnsweredRow]
) -> Iterator[Difference]:
    """Yield a count or an extreme that is wrong; `state` is narrowed to its rows."""
    actual = rows[0][0] if len(columns) == 1 == len(rows) else tuple(rows)
    expected = aggregate(state, query)
    if same(actual, expected):
        return
    if query.count:
        yield Difference(DifferenceKind.COUNT, "", query.label, expected, actual)
        return
    field, owner = state.schema.find(query.columns[0]), None
    origins = state.index.looks.get(look_of(actual), ())
    # Values of several fields may look so. Of several rows of one field, one that the question asks
    # for is the owner.
    if len({origin.field_id for origin in origins}) == 1:
        asked = (o for o in origins if o.step == state.expected_step(field.id, o.key))
        owner = next(asked, origins[-1] if len(origins) == 1 else None)
    of_field = expected, actual, field, owner, owner is None and bool(origins)
    yield Difference(DifferenceKind.EXTREME, "", query.label, *of_field)


def aggregate(state: ExpectedState, query: Query) -> Value:
    """Return what a count or an extreme of the rows of a narrowed state must be."""
    rows = (tuple(state.shown(row).values()) for row in state.rows.values())
    return query.answer(state.schema.names, rows)[0][0]


def limited(state: ExpectedState, answer: Answer) -> ExpectedState:
    """Return a narrowed state of which only so many rows should be seen as were asked for.

    Any of them are right: those that the answer shows are taken, and where it has too few, others.
    """
    limit, rows = answer.question.limit, state.rows
    if not limit or answer.refusal is not None:
        return state
    owners = dict.fromkeys(_owners(state, answer.labels, answer.rows))
    keys = {text_of(row.key): key for key, row in rows.items()}
    chosen = [keys[owner] for owner in owners if owner in keys]
    chosen = [*chosen, *(key for key in rows if key not in chosen)][: min(limit, len(rows))]
    others = {key: row for key, row in rows.items() if key not in chosen}
    left_out = {**state.left_out, **others}
    return replace(state, rows={key: rows[key] for key in chosen}, left_out=left_out)


def compare_rows(
    state: ExpectedState,
    columns: Sequence[Column],
    rows: Sequence[AnsweredRow],
    asked: Sequence[str],
) -> RowComparison:
    """Compare the rows of a table with those expected; `asked`: the columns."""
    names = tuple(column.name for column in columns)
    known = [name for name in asked if name in names and state.schema.has(name)]
    fields = [(state.schema.find(name), names.index(name)) for name in known]
    matching = match(state, names, rows)
    seen = {
        text_of(row.key): [(field, values[at]) for field, at in fields]
        for row, values in matching.pairs
    }
    cells = (_row(state, row, known, seen[text_of(row.key)]) for row, _ in matching.pairs)
    nulls = [(field, None) for field, _ in fields]
    lost = (_row(state, row, known, nulls) for row, _ in matching.empty)
    return RowComparison(
        state,
        names,
        matching,
        seen,
        tuple(chain(*cells)),
        tuple(replace(difference, empty=True) for difference in chain(*lost)),
        tuple(_whole_rows(state, matching, asked)),
    )


def _whole_rows(
    state: ExpectedState, matching: Matching, asked: Sequence[str]
) -> Iterator[Difference]:
    for key, values in matching.extra:
        yield Difference(DifferenceKind.EXTRA_ROW, key, "", None, values)
    for key, values in matching.second:
        yield Difference(DifferenceKind.SECOND_ROW, key, "", None, values)
    there = matching.there
    for key, row in state.keys.items():
        if key not in there:
            shown = state.shown(row)
            values = tuple(value_at(shown, path) for path in asked if state.schema.has(path))
            yield Difference(DifferenceKind.ABSENT_ROW, key, "", values, None)


def _row(
    state: ExpectedState, row: Row, known: Sequence[str], seen: Sequence[tuple[Field, Value]]
) -> Iterator[Difference]:
    shown, key = state.shown(row), text_of(row.key)
    for path, (field, actual) in zip(known, seen, strict=True):
        expected = value_at(shown, path)
        yield from parts_of(
            state, Difference(DifferenceKind.CELL, key, path, expected, actual, field), field
        )


def parts_of(state: ExpectedState, at: Difference, field: Field) -> Iterator[Difference]:
    """Yield the wrong parts of a value, as deep as both sides have the same shape."""
    if same(at.expected, at.actual):
        return
    match at.expected, at.actual:
        case dict(), dict():
            yield from _struct(state, at, field)
        case tuple(), tuple() if len(at.expected) == len(at.actual):
            for number, pair in enumerate(zip(at.expected, at.actual, strict=True)):
                child = field.children[0]
                yield from parts_of(state, _part(at, f"[{number}]", child, *pair), child)
        case MapValue(), MapValue() if same(
            *(tuple(key for key, _ in value.pairs) for value in (at.expected, at.actual))
        ):
            for (key, left), (_, right) in zip(at.expected.pairs, at.actual.pairs, strict=True):
                child = field.children[1]
                yield from parts_of(
                    state, _part(at, f"[{text_of(key)}]", child, left, right), child
                )
        case ((dict() | tuple() | MapValue()), None):
            # All is lost: each part that had a value.
            parts = [leaf for leaf in leaves(at.expected, field, at.column) if leaf[2] is not None]
            for path, leaf, value in parts:
                yield Difference(DifferenceKind.CELL, at.key, path, value, None, leaf)
            if not parts:
                yield at
        case _:
            yield at


def _part(at: Difference, path: str, field: Field, expected: Value, actual: Value) -> Difference:
    column = f"{at.column}{path}"
    return replace(at, column=column, expected=expected, actual=actual, field=field)


def _struct(state: ExpectedState, at: Difference, field: Field) -> Iterator[Difference]:
    """Yield the wrong children of a struct, and those that are absent or too many."""
    expected, actual = at.expected, at.actual
    step = state.step_naming(actual, field)
    there = state.at(step).schema.by_id(field.id) if step is not None else None
    old = {child.name: child.id for child in there.children} if there else {}
    for child in field.children:
        name, path = child.name, f".{child.name}"
        if name in actual:
            yield from parts_of(state, _part(at, path, child, expected[name], actual[name]), child)
        else:
            origin = Origin(child.id, name, step, at.key) if step is not None else None
            absent = replace(_part(at, path, child, name, None), origin=origin)
            yield replace(absent, kind=DifferenceKind.ABSENT_COLUMN)
    for name in actual:
        if name not in expected:
            origin = Origin(old[name], name, step, at.key) if step is not None else None
            what = f"{at.column}.{name}", None, name, None, origin
            yield Difference(DifferenceKind.EXTRA_COLUMN, at.key, *what)
    if list(actual) != list(expected) and actual.keys() == expected.keys():
        orders = ", ".join(expected), ", ".join(actual)
        yield Difference(DifferenceKind.COLUMN_TYPE, at.key, at.column, *orders, field)


def wrong_columns(
    state: ExpectedState, columns: Sequence[Column], asked: Sequence[str]
) -> tuple[Difference, ...]:
    """Return the columns that are absent, too many, or declared with another type.

    One that was asked but is not in the schema of the judged step is one too many. One that is
    there twice is one difference, whatever its type.
    """
    expected = [name for name in asked if state.schema.has(name)]
    there = {column.name: column for column in columns}
    names = Counter(column.name for column in columns)
    no_other = len(columns) == len(names) > 0 and names.keys() <= set(expected)
    no_other = no_other and not state.had_columns(names)
    step = state.step_naming(names.elements())
    answered_then = state.at(step).schema if step is not None else None

    def origin(field_id: int, name: str) -> Origin | None:
        return Origin(field_id, name, step, "") if step is not None else None

    result = []
    for name in expected:
        field, column = state.schema.find(name), there.get(name)
        if column is None:
            what = name, name, None, field, origin(field.id, name)
            result.append(Difference(DifferenceKind.ABSENT_COLUMN, "", *what, no_other=no_other))
            continue
        # Nothing is wrong with the type of a column that was refused.
        declared = column.canonical or column.type
        # An engine counts in whatever type it likes, and has words of its own for what is spatial.
        free = field.id == SIZE or str(field.type) in SPATIAL
        if names[name] == 1 and column.canonical != str(field.type) and declared and not free:
            of_type = name, str(field.type), declared, field
            result.append(Difference(DifferenceKind.COLUMN_TYPE, "", *of_type))
    for name, times in names.items():
        if name not in expected or times > 1:
            then = answered_then if answered_then and answered_then.has(name) else None
            of = origin(then.find(name).id, name) if then else None
            result.append(Difference(DifferenceKind.EXTRA_COLUMN, "", name, None, name, origin=of))
    return tuple(result)


def _heads_of_parts(parts: Sequence[Part], state: ExpectedState) -> Collection[Difference]:
    """Return what is wrong with the columns that parts show, and how they are declared, each once.

    All together are compared like a whole answer, which tells the step that they are of.
    """
    key = state.history[0].table.key
    wrong = list(wrong_columns(state, _together(parts, state), state.schema.names))
    for part in filter(answered, parts):
        wrong += wrong_columns(state, part.columns, tuple(dict.fromkeys((key, part.column))))
    once: dict[Hashable, Difference] = {}
    for difference in wrong:
        once.setdefault((difference.location, repr(difference.actual)), difference)
    return once.values()


def _together(parts: Sequence[Part], state: ExpectedState) -> tuple[Column, ...]:
    """Return the columns of all parts as those of one answer, in which the key stands once.

    A part that was refused has the column it was asked for.
    """
    key, keys, others = state.history[0].table.key, list[Column](), list[Column]()
    for part in parts:
        shown = part.columns if answered(part) else ()
        known = answered(part) and state.schema.has(part.column)
        if not known and part.column not in [column.name for column in shown]:
            shown = (*shown, Column(part.column, ""))
        names = [column.name for column in shown]
        at = names.index(key) if key in names else len(names)
        keys += shown[at : at + 1]
        others += (*shown[:at], *shown[at + 1 :])
    return (*keys[:1], *others)


def match(state: ExpectedState, names: Sequence[str], rows: Sequence[AnsweredRow]) -> Matching:
    """Match shown rows to expected ones; of several with one key, the one with most right cells.

    By its key, or by values that only one key has ever had: a reader may show another column under
    the key's name, and what it shows there may even look like a key. The order of rows is nothing.
    """
    # By length first, so that 2 comes before 10.
    rows = sorted(rows, key=lambda row: [(len(text), text) for text in map(text_of, row)])
    expected = state.keys
    owners = _owners(state, names, rows)
    if state.history[0].table.key not in names:
        owners = _owners_by_look(state, names, rows, owners)
    owned = list(zip(owners, rows, strict=True))
    extra = [(key, row) for key, row in owned if key not in expected]
    groups = grouped([(key, row) for key, row in owned if key in expected])
    second, (pairs, empty) = [], (list[tuple[Row, AnsweredRow]]() for _ in range(2))
    for key, candidates in groups.items():
        scores = [state.right_values(expected[key], names, row) for row in candidates]
        best = candidates.pop(scores.index(max(scores)))
        (empty if state.predicted and not _says(best) else pairs).append((expected[key], best))
        second += [(key, row) for row in candidates]
    absent = [row for key, row in expected.items() if key not in groups]
    # Rows of nothing but NULLs are the absent ones, where there are as many.
    nulls = [row for _, row in extra if row and not _says(row)]
    if len(nulls) == len(absent):
        extra = [(key, row) for key, row in extra if not row or _says(row)]
        empty += zip(absent, nulls, strict=True)
    return Matching(tuple(pairs), tuple(second), tuple(extra), tuple(empty))


def _says(row: AnsweredRow) -> bool:
    return any(value is not None for value in row)


def _owners(state: ExpectedState, names: Sequence[str], rows: Sequence[AnsweredRow]) -> list[str]:
    if state.predicted is not None:
        owners = state.predicted.owners(names, rows)
        telling = [key if _says(row) else "" for key, row in zip(owners, rows, strict=True)]
        # Rows of nothing but NULLs are the missing ones, whoever made them so, where as many are.
        missing = state.keys.keys() - set(telling)
        return telling if len(missing) == telling.count("") else owners
    key = state.history[0].table.key
    at = names.index(key) if key in names else None
    # The keys of a write that failed are keys as well.
    keys_ever = {k for t in state.history for k in (*t.rows, *(row.key for row in t.failed))}
    ever = set(map(text_of, keys_ever))
    # A key may be called so; where rows are groups of values, that of NULL is no other key.
    named_null = None not in keys_ever and text_of(None) in ever
    shown = [
        "" if at is None or (row[at] is None and named_null) else text_of(row[at]) for row in rows
    ]
    holders = [_holder(state, row, at) for row in rows]
    keys = [text if text in ever else "" for text in shown]
    if not _tells_keys(keys, holders):
        return [holder or text for holder, text in zip(holders, shown, strict=True)]
    by_key = [a or b or text for a, b, text in zip(keys, holders, shown, strict=True)]
    by_values = [b or a or text for a, b, text in zip(keys, holders, shown, strict=True)]
    other = _of_column(state, shown, keys, holders)
    by_column = [b or c or text for b, c, text in zip(holders, other, by_key, strict=True)]
    if any(other) and not any(a and a == b for a, b in zip(keys, holders, strict=True)):
        return by_column
    # A number of another column may be a key that there is. Then that key's own row is there too,
    # and the row whose values these are would be lost.
    return max(by_key, by_values, by_column, key=lambda owners: len(set(owners)))


def _owners_by_look(
    state: ExpectedState, names: Sequence[str], rows: Sequence[AnsweredRow], owners: Sequence[str]
) -> list[str]:
    """Return the owners of rows without a key: of each row that is there one that looks so.

    Which of several that look the same is whose does not matter. A row that looks like none is of
    the one whose values it may have with their digits, zone or precision changed, if it is the only
    one of that, and that of it.
    """
    there: dict[Looks, list[str]] = {}
    for key, row in state.keys.items():
        shown = state.shown(row)
        known = [value_at(shown, name) for name in names]
        there.setdefault(looks_of(names, known), []).append(key)
    by_look = [keys.pop() if (keys := there.get(looks_of(names, row))) else "" for row in rows]
    left = {key for keys in there.values() for key in keys}
    result = [
        key or (owner if owner in left else "") for key, owner in zip(by_look, owners, strict=True)
    ]
    left -= set(result)
    near_to = {
        at: [key for key in left if _near(state, state.keys[key], names, row)]
        for at, (key, row) in enumerate(zip(result, rows, strict=True))
        if not key and _says(row)
    }
    times = Counter(key for keys in near_to.values() for key in keys)
    sure = {at: keys[0] for at, keys in near_to.items() if len(keys) == 1 == times[keys[0]]}
    return [sure.get(at, key) for at, key in enumerate(result)]


def _near(state: ExpectedState, row: Row, names: Sequence[str], actual: AnsweredRow) -> bool:
    """Return whether values may be those of a row, some of them altered to what nobody wrote."""
    shown, written = state.shown(row), state.index.looks
    return all(
        same(value_at(shown, name), value)
        or (look_of(value) not in written and near(value_at(shown, name), value))
        for name, value in zip(names, actual, strict=True)
    )


def _of_column(
    state: ExpectedState, shown: Sequence[str], by_key: Sequence[str], by_values: Sequence[str]
) -> list[str]:
    """Return keys of rows that show a key and nothing else, where the key column is another one.

    That is the one column whose values stand there in each row that tells whose it is.
    """
    owned = (state.index.owned.get(text) for text in shown)
    tell = [owner[1] for owner in owned if owner is not None and state.key_id not in owner[1]]
    fields = frozenset.intersection(*tell) if len(tell) >= TELLING else frozenset()
    had: dict[Look, set[str]] = {}
    for (field, row), versions in state.index.cells.items() if len(fields) == 1 else ():
        for look in frozenset[Look]().union(*versions.values()) if field in fields else ():
            had.setdefault(look, set()).add(row)
    result = []
    for text, key, holder in zip(shown, by_key, by_values, strict=True):
        owners = had.get(text, set()) if key and not holder else set()
        result.append(next(iter(owners)) if len(owners) == 1 else "")
    return result


def _holder(state: ExpectedState, row: AnsweredRow, key_at: int | None) -> str:
    """Return the key whose own values stand in a row most often; empty when none does.

    Keys themselves do not suffice: they are short, and any small number looks like one.
    """
    votes, proven = Counter[str](), set[str]()
    for at, value in enumerate(row):
        key, fields = state.index.owned.get(look_of(value), ("", frozenset()))
        is_key = fields == {state.key_id}
        if fields and not (is_key and at == key_at):
            votes[key] += 1
            proven |= set() if is_key else {key}
    best = [(key, count) for key, count in votes.most_common() if key in proven][:2]
    return best[0][0] if len(best) == 1 or (best and best[0][1] > best[1][1]) else ""


def _tells_keys(by_key: Sequence[str], by_values: Sequence[str]) -> bool:
    """Return whether the key column shows keys, and not another column that looks like them."""
    both = [(key, holder) for key, holder in zip(by_key, by_values, strict=True) if key and holder]
    against = sum(key != holder for key, holder in both)
    fewer = len({key for key, _ in both}) < len({holder for _, holder in both})
    return not (fewer and against * 2 > len(both))
