"""Which columns and parts of two tables are compared by their hashes. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.engines.fingerprint_sql import FingerprintWords
from harness.model.datatypes import DataType, Struct, fold, parse_type
from harness.model.fingerprint import ComparedPart, kind

Columns = Sequence[tuple[str, str]]
"""Names with types in our words; the type is empty where there is none of ours."""


@dataclass(frozen=True, slots=True)
class ComparedColumns:
    parts: tuple[ComparedPart, ...]
    left_out: tuple[str, ...] = ()
    """Columns and parts that are not compared, with the types that are not."""


def in_common(
    columns: Columns, shown: Columns, words: FingerprintWords, *, lower: bool
) -> ComparedColumns:
    """Return what a table and a reader have in common.

    `lower`: whether the reader has all names of columns in lower case.
    """
    types = dict(shown)
    parts = list[ComparedPart]()
    left_out = list[str]()
    for name, type_ in columns:
        called = name.lower() if lower else name
        if called not in types:
            continue
        if not type_ or not types[called]:
            left_out.append(f"{name} (a type that is none of ours)")
            continue
        column = ComparedPart((name,), (called,), parse_type(types[called]))
        for part in _parts(column, parse_type(type_)):
            # Where a reader has no words for bytes, its texts may be some.
            if words.has(part.type) and (not part.other or words.has(parse_type(type_))):
                parts.append(part)
            else:
                about = "whether it is NULL" if part.type == Struct(()) else part.type
                left_out.append(f"{'.'.join(part.path)} ({about})")
    return ComparedColumns(tuple(parts), tuple(left_out))


def _parts(part: ComparedPart, type_: DataType) -> Iterator[ComparedPart]:
    """Yield a part, or the parts of a struct; `type_`: the table's."""
    if not _alike(part.type, type_):
        yield ComparedPart(part.path, part.shown, part.type, other=True)
    elif isinstance(part.type, Struct) and isinstance(type_, Struct):
        yield ComparedPart(part.path, part.shown, Struct(()))
        for (name, shown), (_, inner) in zip(part.type.fields, type_.fields, strict=True):
            path, called = (*part.path, name), (*part.shown, name)
            yield from _parts(ComparedPart(path, called, shown), inner)
    else:
        yield part


def _alike(one: DataType, other: DataType) -> bool:
    """Return whether equal values of two types have equal texts."""
    if isinstance(one, Struct) and isinstance(other, Struct):
        # The parts are compared each for itself.
        return [name for name, _ in one.fields] == [name for name, _ in other.fields]
    return _form(one) == _form(other)


def _form(type_: DataType) -> str:
    return fold(type_, kind, str, "array<{}>".format, "map<{}, {}>".format)
