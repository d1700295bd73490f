"""Fingerprints of the rows that a table's files give, see `model.fingerprint`: file by file."""

from __future__ import annotations

import decimal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import md5
from itertools import compress, pairwise
from operator import add, and_
from typing import Final, Protocol, TypeAlias

from harness.audit import table_rows
from harness.audit.file_rows import FileTable
from harness.audit.table_rows import TableRows
from harness.core.arrow import kinds, pa, pc
from harness.engines.arrow_values import canonical
from harness.formats.read_plan import ReadPlan
from harness.model.datatypes import Struct
from harness.model.fingerprint import (
    BETWEEN,
    DIGITS,
    NULL_HASH,
    NUMBER_DIGITS,
    OTHER,
    PLAIN_SCALE,
    ComparedPart,
    Fingerprint,
    FloatText,
    Sums,
    has_no_comma,
)
from harness.model.query import Condition, Query

Groups: TypeAlias = Mapping[str, Sums]
"""The sums of each group by the first digits of its hashes; of all rows by the empty text."""
MILLISECOND: Final = 1000
MOST_HASHED: Final = 100_000
"""Of so many rows the hashes are in memory."""


class ExpectedFingerprints(Protocol):
    """Who carries out a read plan, and tells what the sums of its rows are."""

    @property
    def size(self) -> int | None:
        """The number of rows; None where it is not known before they are read."""

    def sums(self, asked: Fingerprint, queries: Sequence[Query]) -> Sequence[Groups]:
        """Return what comes out of the rows that each query takes; raises FileFactError.

        Of a part, `path` says which it is; types are the plan's own.
        """

    def rows(self, asked: Fingerprint, query: Query, sums: Groups) -> TableRows:
        """Return the rows that are asked for, with their files and positions; raises as `sums`.

        `sums`: what came out of these rows; raises FileFactError where they are other ones.
        """


@dataclass(frozen=True, slots=True)
class PlanFingerprints:
    """The plan carried out in this process: of each file group the rows are in memory once."""

    plan: ReadPlan
    size = None

    def sums(self, asked: Fingerprint, queries: Sequence[Query]) -> Sequence[Groups]:
        return sums_of(table_rows.files(self.plan), asked, queries)

    def rows(self, asked: Fingerprint, query: Query, sums: Groups) -> TableRows:
        del sums  # they come from here
        taken = (taken_of(file, asked, query) for file in table_rows.files(self.plan))
        return TableRows(self.plan, tuple(file for file in taken if file.positions))


def sums_of(
    files: Iterable[FileTable], asked: Fingerprint, queries: Sequence[Query]
) -> Sequence[Groups]:
    """Return what comes out of the rows of files that each query takes."""
    groups: list[dict[str, list[int]]] = [{} for _ in queries]
    for file in files:
        for begin in range(0, file.rows.num_rows, MOST_HASHED):
            hashed = HashedRows(file.rows.slice(begin, MOST_HASHED), asked)
            for query, sums in zip(queries, groups, strict=True):
                hashed.add(query, sums)
    return [{first: tuple(sums) for first, sums in some.items()} for some in groups]


def taken_of(file: FileTable, asked: Fingerprint, query: Query) -> FileTable:
    """Return the rows of a file that are asked for."""
    rows = [*compress(range(file.rows.num_rows), HashedRows(file.rows, asked).taken(query))]
    taken = file.rows.take(pa.array(rows, pa.int64()))
    return replace(file, rows=taken, positions=[file.positions[at] for at in rows])


class HashedRows:
    """Rows of Arrow with the hashes of their parts.

    `shown`: they are what a reader shows, and no table's.
    """

    def __init__(self, rows: pa.Table, asked: Fingerprint, *, shown: bool = False) -> None:
        self._rows, self._asked = rows, asked
        self._parts = []
        for part in asked.parts:
            texts = _in_row(_part(rows, part.shown if shown else part.path), part, asked)
            if shown and part.other:
                texts = _arrow(t and _hash(OTHER + t) for t in texts.to_pylist())
            self._parts.append(texts)
        self._hashes = self._joined(range(len(self._parts)))
        self._groups = self._joined(asked.by) if asked.by else self._hashes

    def taken(self, query: Query) -> list[bool]:
        """Return whether each row is asked for."""
        within = self._asked.within
        length = len(within[0]) if within else 0
        taken = [group[:length] in within for group in self._groups] if within else []
        for condition in query.conditions:
            holds = _holds(condition, self._rows[condition.path])
            taken = list(map(and_, taken, holds)) if taken else holds
        return taken or [True] * self._rows.num_rows

    def add(self, query: Query, groups: dict[str, list[int]]) -> None:
        """Add the rows that are asked for to the sums of their groups."""
        taken, digits = self.taken(query), self._asked.digits
        columns = [list(compress(numbers, taken)) for numbers in self._numbers]
        empty = [0] * (len(columns) + 1)
        if not any(taken):
            return
        if not digits:
            sums = groups.setdefault("", empty)
            sums[:] = map(add, sums, (sum(taken), *map(sum, columns)))
            return
        firsts = (group[:digits] for group in compress(self._groups, taken))
        for first, *numbers in zip(firsts, *columns, strict=True):
            sums = groups.setdefault(first, [*empty])
            sums[:] = map(add, sums, (1, *numbers))

    @cached_property
    def _numbers(self) -> list[list[int]]:
        """Of the rows, and of each part that is asked for; NULL adds nothing."""
        numbers = [list(map(_number, self._hashes))]
        for part, texts in zip(self._asked.parts, self._parts, strict=True):
            if self._asked.of_parts:
                hash_ = _hash if has_no_comma(part) else str
                numbers.append([0 if t is None else _number(hash_(t)) for t in texts.to_pylist()])
        return numbers

    def _joined(self, parts: Iterable[int]) -> list[str]:
        if not (texts := [self._parts[part] for part in parts]):
            return [_hash("")] * self._rows.num_rows
        joined = pc.binary_join_element_wise(
            *texts,
            pa.scalar(BETWEEN, pa.large_string()),
            null_handling="replace",
            null_replacement=NULL_HASH,
        )
        return list(map(_hash, joined.to_pylist()))


def _holds(condition: Condition, column: pa.ChunkedArray) -> list[bool]:
    """Return whether a condition holds for each value; it is tried once of equal ones."""
    values = column.combine_chunks().dictionary_encode()
    nothing = condition.holds(None)
    holds = [condition.holds(canonical(value)) for value in values.dictionary]
    return [nothing if at is None else holds[at] for at in values.indices.to_pylist()]


def _hash(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def _number(hash_: str) -> int:
    return int(hash_[:NUMBER_DIGITS].translate(DIGITS))


def _part(rows: pa.Table, path: Sequence[str]) -> pa.Array:
    name, *inner = path
    column = rows.column(name)
    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return pc.struct_field(values, inner) if inner else values


def _arrow(texts: Iterable[str | None]) -> pa.Array:
    return pa.array(texts, pa.large_string())


def _hashes(values: pa.Array, asked: Fingerprint) -> list[str | None]:
    return [None if text is None else _hash(text) for text in _texts(values, asked)]


def _in_row(values: pa.Array, part: ComparedPart, asked: Fingerprint) -> pa.Array:
    """Return the texts of a part as they stand in those of rows."""
    if part.type == Struct(()) and not part.other:  # only whether it is there
        return pc.if_else(values.is_valid(), "", None).cast(pa.large_string())
    if has_no_comma(part):
        return _plain(values, asked).cast(pa.large_string())
    return _arrow(_hashes(values, asked))


def _texts(values: pa.Array, asked: Fingerprint) -> Iterable[str | None]:
    type_ = values.type
    if kinds.is_struct(type_):
        inside = [_hashes(part, asked) for part in values.flatten()]
        rows = zip(*inside, strict=True) if inside else iter([()] * len(values))
        return _where_valid(values, map(_listed, rows))
    if kinds.is_map(type_):
        keys, items = _hashes(values.keys, asked), _hashes(values.items, asked)
        entries = [_listed(entry) for entry in zip(keys, items, strict=True)]
        spans = pairwise(values.offsets.to_pylist())
        return _where_valid(values, ("".join(sorted(entries[a:b])) for a, b in spans))
    if kinds.is_list(type_) or kinds.is_large_list(type_):
        elements = _hashes(values.values, asked)
        spans = pairwise(values.offsets.to_pylist())
        return _where_valid(values, (_listed(elements[a:b]) for a, b in spans))
    return list(_plain(values, asked).to_pylist())


def _listed(hashes: Iterable[str | None]) -> str:
    return "".join([hash_ or NULL_HASH for hash_ in hashes])


def _where_valid(values: pa.Array, texts: Iterable[str]) -> Iterator[str | None]:
    there = values.is_valid().to_pylist()
    return (text if valid else None for valid, text in zip(there, texts, strict=True))


def _plain(values: pa.Array, asked: Fingerprint) -> pa.Array:
    type_ = values.type
    if kinds.is_floating(type_):
        return _arrow(_floats(values.cast(pa.float64()), asked.floats))
    if kinds.is_timestamp(type_):
        micros = values.cast(pa.timestamp("us", type_.tz)).cast(pa.int64())
        if asked.milliseconds:
            cut = (v if v is None else v // MILLISECOND * MILLISECOND for v in micros.to_pylist())
            micros = pa.array(cut, pa.int64())
        return micros.cast(pa.string())
    if kinds.is_date(type_):
        return values.cast(pa.date32()).cast(pa.int32()).cast(pa.string())
    if kinds.is_decimal(type_) and type_.scale > PLAIN_SCALE:
        return _arrow(v if v is None else f"{v:f}" for v in values.to_pylist())
    if kinds.is_binary(type_) or kinds.is_large_binary(type_):
        return _arrow(v if v is None else v.hex() for v in values.to_pylist())
    return values.cast(pa.string())


def _floats(values: pa.Array, form: FloatText) -> Iterator[str | None]:
    bits = values.view(pa.int64()).to_pylist()
    for number, whole in zip(values.to_pylist(), bits, strict=True):
        if number is None:
            yield None
        elif number != number:  # noqa: PLR0124 - NaN
            yield "NaN"
        else:
            yield str(whole) if form is FloatText.BITS else shortest(number)


def shortest(number: float) -> str:
    """Return the text of a number as `FloatText.SHORTEST`.

    >>> [shortest(number) for number in (1e15, 1e16, 1.5e-5, 1.5e-6, -0.0, float("-inf"))]
    ['1000000000000000.0', '1e16', '0.000015', '1.5e-6', '-0.0', '-inf']
    """
    text = repr(number)
    if "e" not in text:
        return text
    digits = decimal.Decimal(text)
    if digits.adjusted() == LAST_PLAIN:
        return f"{digits:f}"
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}"


LAST_PLAIN: Final = -5
"""The exponent at which Python writes one already, and `ryu` not yet."""
