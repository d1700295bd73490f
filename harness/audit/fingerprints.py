"""Fingerprints of the rows that a table's files give, see `model.fingerprint`: file by file."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import md5
from itertools import compress, pairwise, repeat
from operator import add, and_
from typing import Any, Final, Protocol, TypeAlias

from harness.audit import table_rows
from harness.audit.file_rows import FileTable
from harness.audit.table_rows import TableRows
from harness.core.arrow import kinds, pa, pc
from harness.engines.arrow_values import canonical
from harness.formats.read_plan import ReadPlan
from harness.model.datatypes import Struct
from harness.model.fingerprint import (
    DIGITS,
    NULL_HASH,
    NUMBER_DIGITS,
    OTHER,
    ComparedPart,
    Fingerprint,
    FloatText,
    Sums,
)
from harness.model.query import Condition, Query

Groups: TypeAlias = Mapping[str, Sums]
"""The sums of each group by the first digits of its hashes; of all rows by the empty text."""
MILLISECOND: Final = 1000


class ExpectedFingerprints(Protocol):
    """Who carries out a read plan, and tells what the sums of its rows are."""

    def sums(self, asked: Fingerprint, queries: Sequence[Query]) -> Sequence[Groups]:
        """Return what comes out of the rows that each query takes; raises FileFactError.

        Of a part, `path` says which it is; types are the plan's own.
        """

    def rows(self, asked: Fingerprint, query: Query) -> TableRows:
        """Return the rows that are asked for, with their files and positions; raises as `sums`."""


@dataclass(frozen=True, slots=True)
class PlanFingerprints:
    """The plan carried out in this process: of each file group the rows are in memory once."""

    plan: ReadPlan

    def sums(self, asked: Fingerprint, queries: Sequence[Query]) -> Sequence[Groups]:
        groups: list[dict[str, list[int]]] = [{} for _ in queries]
        for file in table_rows.files(self.plan):
            hashed = HashedRows(file.rows, asked)
            for query, sums in zip(queries, groups, strict=True):
                hashed.add(query, sums)
        return [{first: tuple(sums) for first, sums in some.items()} for some in groups]

    def rows(self, asked: Fingerprint, query: Query) -> TableRows:
        taken = (taken_of(file, asked, query) for file in table_rows.files(self.plan))
        return TableRows(self.plan, tuple(file for file in taken if file.positions))


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
            hashes = _hashes(_part(rows, part, part.shown if shown else part.path), asked)
            if shown and part.other:
                hashes = [hash_ and _hash(OTHER + hash_) for hash_ in hashes]
            self._parts.append(hashes)
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
        """Of the rows, and of each part; NULL adds nothing."""
        parts = ([_number(hash_) if hash_ else 0 for hash_ in part] for part in self._parts)
        return [list(map(_number, self._hashes)), *parts]

    def _joined(self, parts: Iterable[int]) -> list[str]:
        hashes = [self._parts[part] for part in parts]
        rows = zip(*hashes, strict=True) if hashes else repeat((), self._rows.num_rows)
        return [_hash(_listed(row)) for row in rows]


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


def _part(rows: pa.Table, part: ComparedPart, path: Sequence[str]) -> pa.Array:
    name, *inner = path
    column = rows.column(name)
    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    values = pc.struct_field(values, inner) if inner else values
    if part.type == Struct(()) and not part.other:  # only whether it is there
        return pc.if_else(values.is_valid(), "", None)
    return values


def _hashes(values: pa.Array, asked: Fingerprint) -> list[str | None]:
    known: dict[str, str] = {}
    return [
        None if text is None else known.get(text) or known.setdefault(text, _hash(text))
        for text in _texts(values, asked)
    ]


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
    return _plain(values, asked)


def _listed(hashes: Iterable[str | None]) -> str:
    return "".join([hash_ or NULL_HASH for hash_ in hashes])


def _where_valid(values: pa.Array, texts: Iterable[str]) -> Iterator[str | None]:
    there = values.is_valid().to_pylist()
    return (text if valid else None for valid, text in zip(there, texts, strict=True))


def _plain(values: pa.Array, asked: Fingerprint) -> Iterable[str | None]:
    type_ = values.type
    text: Callable[[Any], str] = str
    if kinds.is_floating(type_):
        return _floats(values.cast(pa.float64()), asked.floats)
    if kinds.is_timestamp(type_):
        values = values.cast(pa.timestamp("us", type_.tz)).cast(pa.int64())
        text = _cut if asked.milliseconds else str
    elif kinds.is_date(type_):
        values = values.cast(pa.date32()).cast(pa.int32())
    elif kinds.is_boolean(type_):
        text = _lower
    elif kinds.is_decimal(type_):
        text = "{:f}".format
    elif kinds.is_binary(type_) or kinds.is_large_binary(type_):
        text = bytes.hex
    return (None if value is None else text(value) for value in values.to_pylist())


def _lower(value: object) -> str:
    return str(value).lower()


def _cut(micros: int) -> str:
    return str(micros // MILLISECOND * MILLISECOND)


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
