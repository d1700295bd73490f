"""The same table with a token in place of every value, which shows whose value a reader shows.

A defective reader is run twice, over the files and over their shadow. What it does with files,
columns and rows it does to both alike, so each token of the second answer says where the value at
the same place of the first one came from. Nothing of the product's diagnosis is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from harness.core.records import Column, FindingKind
from harness.model.canonical import MapValue, Value, look_of, text_of
from harness.model.conversion import convert
from harness.model.datatypes import DataType, Decimal, Primitive, Text, parse_type
from harness.model.query import ALL, Query
from harness.model.schema import Field, Schema
from tests.builders import simulated_reader
from tests.builders.simulated_disk import META, Disk, File
from tests.builders.simulated_reader import Reader, Reply, columns_of
from tests.builders.table_story import Story


@dataclass(frozen=True, slots=True)
class Token:
    field_id: int
    step: int
    """The step that wrote it, -1 where none did."""
    key: str
    null: bool = False
    spoilt: FindingKind | None = None
    """What the definitions call it, where a defect changed the value itself."""


@dataclass(frozen=True, slots=True)
class Line:
    key: str
    step: int
    """The step that wrote the file it was read from."""
    file: str
    """That file."""
    values: tuple[Value, ...]
    tokens: tuple[Value, ...]
    """Shaped like the values; None where nothing was read at all."""


@dataclass(frozen=True, slots=True)
class Seen:
    story: Story
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    view: str = "snapshot"
    query: Query = field(default=ALL)
    files: Files | None = None
    """What happened to the files before they were read."""
    bare: bool = False
    """Whether the catalog lists no meta columns of Hudi's."""
    catalog: int | None = None
    """The step that made the schema by which it was read, where that is an older one."""

    @property
    def reply(self) -> Reply:
        return Reply(self.columns, tuple(line.values for line in self.lines))

    @property
    def typed(self) -> bool:
        """Whether each plain value has a form in the type that its column is shown with."""
        types = [parse_type(column.canonical) for column in self.columns]
        return all(
            _has_form(value, type_)
            for line in self.lines
            for value, type_ in zip(line.values, types, strict=True)
        )

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]


def _has_form(value: Value, type_: DataType) -> bool:
    if not isinstance(type_, Primitive | Decimal | Text):
        return True
    try:
        return look_of(convert(value, type_)) == look_of(value)
    except ValueError:
        return False


def shadowed(story: Story, disk: Disk) -> Disk:
    return replace(disk, files=[_shadow(story, file) for file in disk.files])


def _shadow(story: Story, file: File) -> File:
    records, truth = {}, story.history[file.step]
    failed = truth.failed if truth.step in truth.undone else ()
    rows = {**truth.rows, **{row.key: row for row in failed}}
    for key, record in file.records.items():
        late = truth.sent_contested.get(key) if key in file.sent else None
        written = (late or rows[key]).written
        records[key] = {
            field.name: _token(record[field.name], field, written.get(field.id, -1), text_of(key))
            for field in file.schema.fields
        }
    meta = {
        key: {name: Token(-at, file.step, text_of(key)) for at, name in enumerate(META, start=1)}
        for key in file.records
    }
    return replace(file, records=records, meta=meta)


def _token(value: Value, field: Field, step: int, key: str) -> Value:
    match value:
        case dict():
            return {c.name: _token(value[c.name], c, step, key) for c in field.children}
        case tuple() if value:
            return tuple(_token(part, field.children[0], step, key) for part in value)
        case MapValue() if value.pairs:
            part = field.children[1]
            return MapValue(tuple((k, _token(v, part, step, key)) for k, v in value.pairs))
    return Token(field.id, step, key, value is None)


Files = Callable[[File], File | None]
"""What happens to a file before it is read; None for: it is lost."""


def read(
    story: Story,
    reader: Reader | None = None,
    *,
    files: Files | None = None,
    step: int | None = None,
    schema: Schema | None = None,
    asked: Schema | None = None,
) -> Seen:
    """Read files and shadow; `files` is done to both, so it may not look at values.

    `schema`: the columns that are shown; `asked`: those of the view, where they are not of now.
    """
    shown = schema or story.truth.schema
    expected = asked or story.truth.schema
    at, reader = story.truth.step if step is None else step, reader or Reader("id")
    plain, shadow = (
        simulated_reader.rows_of(changed_disk(disk, files), at, shown, reader)
        for disk in (story.disk, shadowed(story, story.disk))
    )
    lines = tuple(
        Line(
            text_of(left.key),
            left.file.step,
            f"{left.file.group}_{left.file.step}",
            left.values,
            _nulls(expected, shown, text_of(left.key), right.values),
        )
        for left, right in zip(plain, shadow, strict=True)
    )
    bare = reader.meta_counts or reader.overlaid or reader.rekeyed
    return Seen(story, columns_of(shown), lines, files=files, bare=bare)


def _nulls(
    expected: Schema, shown: Schema, key: str, tokens: tuple[Value, ...]
) -> tuple[Value, ...]:
    """Say whose the NULLs are under the name of a column that is another one in this schema."""
    today = {field.name: field.id for field in expected.fields}
    pairs = zip(tokens, shown.fields, strict=True)
    return tuple(
        Token(pair.id, -1, key, null=True)
        if token is None and today.get(pair.name, pair.id) != pair.id
        else token
        for token, pair in pairs
    )


def changed_disk(disk: Disk, files: Files | None) -> Disk:
    changed = ((files(file) if files else file) for file in disk.files)
    return replace(disk, files=[change for change in changed if change is not None])


def tokens_in(token: Value) -> Iterator[Token]:
    match token:
        case Token():
            yield token
        case dict():
            for part in token.values():
                yield from tokens_in(part)
        case tuple():
            for pair in token:
                yield from tokens_in(pair)
        case MapValue():
            for _, part in token.pairs:
                yield from tokens_in(part)


Kind = FindingKind | Callable[[Value, Value], FindingKind]
"""What a changed value is called, or how to tell that of the old value and the new one."""


def spoil(seen: Seen, types: Sequence[str], kind: Kind, change: Callable[[Value], Value]) -> Seen:
    """Change the values of the columns of these types (prefixes), and say so in their tokens."""
    at = {n for n, c in enumerate(seen.columns) if c.canonical.startswith(tuple(types))}
    fixed = {seen.story.history[0].table.key}
    chosen = {n for n in at if seen.columns[n].name not in fixed}
    lines = tuple(_spoilt(line, chosen, kind, change) for line in seen.lines)
    return replace(seen, lines=lines)


def _spoilt(line: Line, chosen: set[int], kind: Kind, change: Callable[[Value], Value]) -> Line:
    values, tokens = list(line.values), list(line.tokens)
    for at in chosen:
        old, new = values[at], change(values[at])
        if new is not old:
            values[at] = new
            name = kind if isinstance(kind, FindingKind) else kind(old, new)
            tokens[at] = Token(0, 0, line.key, new is None, name)
    return replace(line, values=tuple(values), tokens=tuple(tokens))
