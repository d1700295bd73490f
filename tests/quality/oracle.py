"""What each wrong place of an answer has to be called, by the definitions and the tokens alone.

The token says whose value was read: another field's (resurrected where it is dropped and ever had
this name, else misaligned), an older step's (stale) or a newer one's (premature), nobody's or
another row's (unexplained); or nothing was read (missing rename where a file holds the value under
another name, else lost value). Beside each name stand the others that would give the same values.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property

from harness.core.records import FindingKind, Origin
from harness.judge.expected_state import Index
from harness.model import past_views
from harness.model.canonical import Look, MapValue, Value, look_of, same, text_of
from harness.model.commit import AS_OF, INCREMENTAL
from harness.model.query import at
from harness.model.schema import Field
from harness.model.truth import History, Row, Truth, named
from tests.builders.simulated_disk import Disk
from tests.builders.table_story import Story
from tests.builders.traced_answer import Line, Seen, Token, shadowed, tokens_in
from tests.quality import asked

Kinds = frozenset[FindingKind]
Position = tuple[str, str]
"""Key and dotted path, either may be empty."""


@dataclass(frozen=True, slots=True)
class Wrong:
    position: Position
    names: Kinds
    """The right names: one, or two where the reader made two mistakes at once."""
    actual: Value = None
    column: Field | None = None
    token: Value = None
    line: Line | None = None


@dataclass
class Oracle:
    seen: Seen
    story: Story = field(init=False)
    """As it was after the step that the view is of."""
    later: History = field(init=False)
    """What came after that."""

    def __post_init__(self) -> None:
        whole, back = self.seen.story, past_views.past(self.seen.view)
        self.story = whole.until(back.step) if back and back.name == AS_OF else whole
        self.later = whole.history[self.story.truth.step + 1 :]

    @property
    def history(self) -> History:
        """All that ever was, also after the step that the view is of."""
        return self.seen.story.history

    @property
    def index(self) -> Index:
        return self.seen.story.index

    @cached_property
    def rows(self) -> dict[str, Row]:
        truth, back = self.story.truth, past_views.past(self.seen.view)
        rows = truth.base if self.seen.view == "read_optimized" else truth.rows
        if back and back.name == INCREMENTAL:
            before = self.history[back.step].rows
            rows = {key: row for key, row in rows.items() if before.get(key) != row}
        return {text_of(key): row for key, row in rows.items() if self._asked(row)}

    def _asked(self, row: Row) -> bool:
        return self.seen.query.takes(self.expected(row))

    def expected(self, row: Row) -> dict[str, Value]:
        """Return what should be shown of a row; what the types of then cannot hold as it is."""
        fields = self.story.truth.schema.fields
        return {field.name: _shown(row.values.get(field.id), field) for field in fields}

    @cached_property
    def wrong(self) -> dict[Position, Wrong]:
        if self.seen.query.label:
            return _aggregate_wrong(self)
        return {row.position: row for row in (*self._rows(), *self._columns())}

    def _rows(self) -> Iterator[Wrong]:
        by_key: dict[str, list[Line]] = {}
        empty: list[Line] = []
        for line in self.seen.lines:
            shown = self._shown_key(line)
            if line.values and all(value is None for value in line.values):
                empty.append(line)
            elif self._recognisable(line):
                by_key.setdefault(line.key, []).append(line)
            elif shown in self._ever:
                by_key.setdefault(shown, []).append(replace(line, key=shown))
            else:
                yield Wrong((shown, ""), _UNEXPLAINED)
        for key, lines in by_key.items():
            if key not in self.rows:
                yield Wrong((key, ""), frozenset({self._extra(key, lines)}))
                continue
            if len(lines) > 1:
                yield Wrong((key, ""), frozenset({FindingKind.DUPLICATE}))
            yield from self._cells(max(lines, key=self._right))
        missing = self.rows.keys() - by_key.keys()
        if empty and len(empty) == len(missing):
            yield from (wrong for key in missing for wrong in self._empty(key))
            return
        yield from (Wrong((_NULL, ""), _UNEXPLAINED) for _ in empty[:1])
        for key in missing:
            yield Wrong((key, ""), frozenset({self._absent(key, by_key.keys())}))

    def _empty(self, key: str) -> Iterator[Wrong]:
        schema, row = self.story.truth.schema, self.expected(self.rows[key])
        for name in (column for column in dict.fromkeys(self.seen.names) if schema.has(column)):
            value = at(row, name)
            leaves = _leaves(value, schema.find(name), name) if value is not None else ()
            parts = [where for where, _, leaf in leaves if leaf is not None]
            for where in parts or ([name] if value is not None else []):
                yield Wrong((key, where), frozenset({FindingKind.LOST_VALUE}))

    def _absent(self, key: str, there: AbstractSet[str]) -> FindingKind:
        """Tell a row that is gone by now from a lost one, of whose file nothing came."""
        stays = frozenset.intersection(*self._newer) if self._newer else self.rows.keys()
        if key in stays:
            return FindingKind.LOST_ROW
        disk, truth = self.story.disk, self.story.truth
        mine = {text_of(k): disk.group_of(k) for k in {**truth.base, **truth.rows}}
        remaining = [row for row in self.rows if row in stays]
        beside = [row for row in remaining if mine[row] == mine[key]] or remaining
        seen = not beside or bool(there & set(beside))
        return FindingKind.PREMATURE if seen else FindingKind.LOST_ROW

    @cached_property
    def _newer(self) -> list[frozenset[str]]:
        """The rows that newer files would show to the same question, table by table."""
        newest = [self.story.truth] if self.seen.view == "read_optimized" else []
        return [
            frozenset(text_of(key) for key, row in truth.rows.items() if self._asked(row))
            for truth in (*newest, *self.later)
        ]

    def _recognisable(self, line: Line) -> bool:
        """Return whether a row shows its key, or a value that only rows of this key ever had."""
        shown = self._shown_key(line)
        if shown == line.key or not (shown or line.values):
            return True
        if any(isinstance(token, Token) and token.field_id < 0 for token in line.tokens):
            return True  # the whole answer is what a way of reading gives
        looks = [look_of(value) for value in line.values if value is not None]
        return any(self._keys_of.get(look) == {line.key} for look in looks)

    def _shown_key(self, line: Line) -> str:
        key = self.story.history[0].table.key
        names = self.seen.names
        return text_of(line.values[names.index(key)]) if key in names else ""

    @cached_property
    def _keys_of(self) -> dict[Look, set[str]]:
        """The keys of the rows that ever had a value, by its look; keys themselves left out."""
        result: dict[Look, set[str]] = {}
        key_field = self.story.history[0].column_id(self.story.history[0].table.key)
        for (field_id, key), steps in self.index.cells.items():
            for looks in steps.values() if field_id != key_field else ():
                for look in looks:
                    result.setdefault(look, set()).add(key)
        return result

    def _extra(self, key: str, lines: Sequence[Line]) -> FindingKind:
        if any(key in newer for newer in self._newer):
            since = self.story.truth.step
            if self.seen.view == "read_optimized":
                since = self.story.disk.slices(10**6)[lines[0].file.rpartition("_")[0]][0].step
            if all(line.step > since for line in lines):
                return FindingKind.PREMATURE
        return FindingKind.GHOST_ROW if key in self._ever else FindingKind.UNEXPLAINED

    @cached_property
    def _ever(self) -> set[str]:
        history = self.story.history
        failed = {text_of(row.key) for truth in history for row in truth.failed}
        return failed | {text_of(row) for truth in history for row in truth.rows}

    def _right(self, line: Line) -> int:
        row = self.expected(self.rows[line.key])
        pairs = zip(self.seen.names, line.values, strict=True)
        return sum(name in row and same(row[name], value) for name, value in pairs)

    def _columns(self) -> Iterator[Wrong]:
        schema, names = self.story.truth.schema, self.seen.names
        expected = self.seen.query.columns or schema.names
        odd = self._odd(names, lambda truth: truth.schema.names)
        of_no_step = not any(
            sorted(truth.schema.names) == sorted(names)
            for truth in (*self.story.history, *self.later)
        )
        fewer = len(set(names)) == len(names) and set(names) < set(expected)
        lost = fewer and of_no_step and bool(names)
        for name in expected:
            if name not in names:
                yield Wrong(("", name), frozenset({FindingKind.LOST_VALUE}) if lost else odd)
        for column in self.seen.columns:
            if column.name not in expected:
                yield Wrong(("", column.name), odd)
            elif names.count(column.name) > 1:
                yield Wrong(("", column.name), frozenset({FindingKind.DUPLICATE}))
            elif column.canonical != str(schema.find(column.name).type):
                yield Wrong(("", column.name), frozenset({FindingKind.TYPE_DRIFT}))

    def _odd(self, names: Iterable[str], had: Callable[[Truth], tuple[str, ...]]) -> Kinds:
        """Name columns, or parts of a struct, that are not those of the view: by who had them."""
        older = _naming([had(truth) for truth in self.story.history[:-1]], names)
        newer = _naming([had(fields) for fields in self.later], names)
        kinds = {FindingKind.STALE: older, FindingKind.PREMATURE: newer}
        had_them = frozenset(kind for kind, there in kinds.items() if there)
        # Where an earlier and a later step had them, nothing tells which of the two is answered.
        return had_them if len(had_them) == 1 else _UNEXPLAINED

    def _cells(self, line: Line) -> Iterator[Wrong]:
        row = self.expected(self.rows[line.key])
        schema, done = self.story.truth.schema, set()
        for name, value, token in zip(self.seen.names, line.values, line.tokens, strict=True):
            if name in done or not schema.has(name):
                continue
            done.add(name)
            yield from self._cell(line, name, schema.find(name), at(row, name), value, token)

    def _cell(
        self, line: Line, path: str, field: Field, expected: Value, actual: Value, token: Value
    ) -> Iterator[Wrong]:
        if same(expected, actual):
            return
        match expected, actual:
            case dict(), dict():
                yield from self._struct(line, path, field, expected, actual, token)
            case tuple(), tuple() if len(expected) == len(actual):
                for n, (left, right) in enumerate(zip(expected, actual, strict=True)):
                    inner, part = field.children[0], _inside(token, n)
                    yield from self._cell(line, f"{path}[{n}]", inner, left, right, part)
            case MapValue(), MapValue() if _keys(expected) == _keys(actual):
                for n, ((key, left), (_, right)) in enumerate(
                    zip(expected.pairs, actual.pairs, strict=True)
                ):
                    inner, part = field.children[1], _inside(token, n)
                    where = f"{path}[{text_of(key)}]"
                    yield from self._cell(line, where, inner, left, right, part)
            case ((dict() | tuple() | MapValue()), None):
                yield from self._nothing(line, path, field, expected, token)
            case _:
                names = self._names(line, field, expected, actual, token)
                yield Wrong((line.key, path), names, actual, field, token, line)

    def _nothing(
        self, line: Line, path: str, field: Field, expected: Value, token: Value
    ) -> Iterator[Wrong]:
        parts = [leaf for leaf in _leaves(expected, field, path) if leaf[2] is not None]
        for where, leaf, value in parts or [(path, field, expected)]:
            names = self._names(line, leaf, value, None, token)
            yield Wrong((line.key, where), names, None, leaf, token, line)

    def _struct(
        self, line: Line, path: str, field: Field, expected: Value, actual: Value, token: Value
    ) -> Iterator[Wrong]:
        def parts(truth: Truth) -> tuple[str, ...]:
            there = truth.schema.by_id(field.id)
            return tuple(child.name for child in there.children) if there else ()

        odd = self._odd(actual, parts)
        for child in field.children:
            where = f"{path}.{child.name}"
            if child.name in actual:
                part = token[child.name] if isinstance(token, dict) else token
                pair = expected[child.name], actual[child.name]
                yield from self._cell(line, where, child, *pair, part)
            else:
                yield Wrong((line.key, where), odd)
        for name in actual:
            if name not in expected:
                yield Wrong((line.key, f"{path}.{name}"), odd)
        if actual.keys() == expected.keys() and list(actual) != list(expected):
            yield Wrong((line.key, path), frozenset({FindingKind.TYPE_DRIFT}))

    def _names(
        self, line: Line, field: Field, expected: Value, actual: Value, token: Value
    ) -> Kinds:
        tokens = set(tokens_in(token))
        if not tokens:
            return self._unread(line, field, actual)
        roots = {(self.root(token.field_id), token.key, token.step) for token in tokens}
        if any(token.spoilt for token in tokens) or len(roots) > 1:
            return frozenset(token.spoilt or FindingKind.UNEXPLAINED for token in tokens)
        one = tokens.pop()
        if one.key != line.key:
            return self._unread(line, field, actual) if one.null else _UNEXPLAINED
        whose = self._whole(token, one.field_id), one.step
        return frozenset({self.name_of(field, *whose, line.key, expected, actual)})

    def _whole(self, token: Value, field_id: int) -> int:
        """Return field of a whole array, map or struct from a part's: as far up as it is deep."""
        while not isinstance(token, Token):
            parts = token.values() if isinstance(token, dict) else _parts(token)
            token = next(part for part in parts if part is not None)
            field_id = self._parents.get(field_id, field_id)
        return field_id

    @cached_property
    def _parents(self) -> dict[int, int]:
        return _parents(self.history)

    def _unread(self, line: Line, field: Field, actual: Value) -> Kinds:
        if actual is not None:
            return _UNEXPLAINED
        renamed = self.under_another_name(line.key, field.id)
        name = FindingKind.MISSING_RENAME if renamed else FindingKind.LOST_VALUE
        read = {text_of(k): row for k, row in self.history[line.step].rows.items()}[line.key]
        expected = self.rows[line.key].written.get(self.root(field.id), -1)
        if read.written.get(self.root(field.id), -1) < expected:
            return frozenset({name, FindingKind.STALE})
        return frozenset({name})

    def name_of(
        self, field: Field, whose: int, step: int, key: str, expected: Value, shown: Value
    ) -> FindingKind:
        """Name the value of a field (a whole column where the place is one) in the same row."""
        root = self.root(field.id)
        part = root == field.id and self.root(whose) == root
        same_field = part or whose in _upwards(field.id, self._parents)
        if same_field:
            actual = self.rows[key].written.get(root, -1)
            if self._older(step, actual, key):
                return FindingKind.STALE
            if step > actual and self._newer:
                return FindingKind.PREMATURE
            same_text = text_of(shown).removesuffix(" 00:00:00") == text_of(expected)
            drifted = step == actual and same_text and expected is not None
            return FindingKind.TYPE_DRIFT if drifted else FindingKind.UNEXPLAINED
        if not any(truth.schema.by_id(whose) for truth in self.story.history) and whose > 0:
            return FindingKind.PREMATURE
        gone = self.story.truth.schema.by_id(whose) is None
        name = self.story.truth.schema.path_of(field.id)
        if gone and name in self._names_in(whose):
            return FindingKind.RESURRECTED
        return FindingKind.MISALIGNED

    def _older(self, step: int, expected: int, key: str) -> bool:
        """Return whether what a step wrote of a row is older, came late, or was taken back."""
        late = step > expected and key in map(text_of, self.story.truth.contested.get(step, {}))
        return step < expected or late or step in self.story.truth.undone

    def _names_in(self, field_id: int) -> set[str | None]:
        """Return names that a field and its parts have had: a NULL whole stands for its parts."""
        result = ((truth.schema, truth.schema.by_id(field_id)) for truth in self.story.history)
        return {
            names.path_of(field.id) for names, whole in result if whole for field in whole.walk()
        }

    def root(self, field_id: int) -> int:
        return self._roots.get(field_id, field_id)

    @cached_property
    def _roots(self) -> dict[int, int]:
        return _roots(self.history)

    def under_another_name(self, key: str, field_id: int) -> bool:
        """Return whether a file that is read holds the row's value under a name not of today."""
        now = self.story.truth.schema.path_of(field_id)
        base_only = self.seen.view == "read_optimized"
        return any(
            text_of(value) == key
            and file.schema.path_of(field_id) != now
            and any(_has(record[c.name], c, field_id) for c in file.schema.fields)
            for base, logs in self._shadow.slices(10**6).values()
            for file in (base, *(() if base_only else logs))
            for value, record in file.records.items()
        )

    @cached_property
    def _shadow(self) -> Disk:
        return shadowed(self.story, self.story.disk)


def _aggregate_wrong(oracle: Oracle) -> dict[Position, Wrong]:
    query, result = oracle.seen.query, oracle.seen.lines[0].values[0]
    expected = asked.aggregate(query, map(oracle.expected, oracle.rows.values()))
    if same(expected, result):
        return {}
    kinds = _count(expected, result) if query.count else _extreme(oracle, query.columns[0], result)
    position = ("", query.label)
    return {position: Wrong(position, kinds)}


def _count(expected: Value, actual: Value) -> Kinds:
    assert isinstance(expected, int)
    assert isinstance(actual, int)
    return frozenset({FindingKind.LOST_ROW if actual < expected else FindingKind.GHOST_ROW})


def _extreme(oracle: Oracle, path: str, actual: Value) -> Kinds:
    """Name an extreme by whose value it is; where several fields could have written it, by none.

    Of several rows of one field it is one that the table still shows.
    """
    one, field = oracle.seen.lines[0].tokens[0], oracle.story.truth.schema.find(path)
    row = oracle.rows.get(one.key) if isinstance(one, Token) else None
    if not isinstance(one, Token):
        return frozenset({FindingKind.LOST_VALUE})
    same_column = one.field_id == field.id
    if same_column and row and one.step == row.written.get(oracle.root(field.id)):
        return frozenset({FindingKind.LOST_VALUE})
    origins = oracle.index.looks.get(look_of(actual), ())
    shown = any(_still_shown(oracle, origin) for origin in origins)
    if {origin.field_id for origin in origins} != {one.field_id} or not (
        shown or len(origins) == 1
    ):
        return frozenset({FindingKind.UNEXPLAINED})
    if row is None:
        return frozenset({FindingKind.GHOST_ROW if same_column else FindingKind.MISALIGNED})
    return frozenset({oracle.name_of(field, one.field_id, one.step, one.key, None, actual)})


def _still_shown(oracle: Oracle, origin: Origin) -> bool:
    row = oracle.rows.get(origin.key)
    return row is not None and origin.step == row.written.get(oracle.root(origin.field_id))


def _parts(token: Value) -> tuple[Value, ...]:
    return tuple(part for _, part in token.pairs) if isinstance(token, MapValue) else token


def _shown(value: Value, field: Field) -> Value:
    """Return a stored value as readers should show it; what its type cannot hold as it is."""
    try:
        return named(value, field)
    except ValueError:
        return value


def _has(token: Value, field: Field, id_: int) -> bool:
    """Return whether a field has a value here; an array of NULLs is one."""
    if field.id == id_:
        return not (isinstance(token, Token) and token.null)
    match token:
        case dict():
            return any(_has(token[child.name], child, id_) for child in field.children)
        case tuple():
            return any(_has(pair, field.children[0], id_) for pair in token)
        case MapValue():
            return any(_has(pair, field.children[1], id_) for _, pair in token.pairs)
    return False


def _parents(history: History) -> dict[int, int]:
    every = [field for truth in history for field in truth.schema.walk()]
    return {child.id: parent.id for parent in every for child in parent.children}


def _roots(history: History) -> dict[int, int]:
    """Return the column that each field is, or is a part of, by their ids."""
    columns = [field for truth in history for field in truth.schema.fields]
    return {field.id: column.id for column in columns for field in column.walk()}


def _upwards(field_id: int, parents: Mapping[int, int]) -> set[int]:
    """Return a field and all that it is a part of: the NULL of a whole is that of its parts.

    `of`: what each is a part of (`parents`).
    """
    result = {field_id}
    while field_id in parents:
        field_id = parents[field_id]
        result.add(field_id)
    return result


def _naming(earlier: list[tuple[str, ...]], names: object) -> bool:
    return sorted(names) in [sorted(names_then) for names_then in earlier]  # type: ignore[call-overload]


def _keys(value: MapValue) -> list[Value]:
    return [key for key, _ in value.pairs]


def _inside(token: Value, number: int) -> Value:
    """Return the token of a part; that of a whole stands for its parts."""
    match token:
        case tuple():
            return token[number]
        case MapValue():
            return token.pairs[number][1]
    return token


def _leaves(value: Value, field: Field, path: str) -> Iterator[tuple[str, Field, Value]]:
    match value:
        case dict():
            for child in field.children:
                yield from _leaves(value[child.name], child, f"{path}.{child.name}")
        case tuple() if field.children:
            for n, element in enumerate(value):
                yield from _leaves(element, field.children[0], f"{path}[{n}]")
        case MapValue():
            for key, pair in value.pairs:
                yield from _leaves(pair, field.children[1], f"{path}[{text_of(key)}]")
        case _:
            yield path, field, value


_UNEXPLAINED = frozenset({FindingKind.UNEXPLAINED})
_NULL = text_of(None)
