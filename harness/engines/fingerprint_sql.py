"""The SQL of a fingerprint (`model.fingerprint`), in the words of an engine."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from harness.model.datatypes import Array, DataType, Decimal, Map, Struct
from harness.model.fingerprint import (
    BETWEEN,
    NULL_HASH,
    NUMBER_DIGITS,
    OTHER,
    PLAIN_SCALE,
    Fingerprint,
    FloatText,
    has_no_comma,
    kind,
)
from harness.model.identifiers import quoted_name

PLAIN: Final = "plain decimal"


@dataclass(frozen=True, slots=True)
class FingerprintWords:
    """How an engine is asked for hashes and texts; `{0}` stands for a value."""

    texts: Mapping[str, str] = field(hash=False)
    """By the kind of a type (`fingerprint.kind`), or a type where it needs words of its own; what
    has none is not compared. `{scale}` is a decimal's; those of at most `PLAIN_SCALE` may have
    words of their own, by `PLAIN`. In lists `{x}` is an element and `{hash}` its hash, in maps an
    entry, and that of `key` and `value`."""
    hash: str = "md5({0})"
    sum: str = (
        f"sum(cast(translate(substr({{0}}, 1, {NUMBER_DIGITS}), 'abcdef', '012345') "
        "as decimal(38, 0)))"
    )
    """Of the numbers of hashes."""
    entry: tuple[str, str] = ("{x}.key", "{x}.value")
    floats: FloatText = FloatText.BITS
    structs: bool = True
    """Whether it can be asked which structs are NULL."""

    def has(self, type_: DataType) -> bool:
        """Return whether values of a type can be compared."""
        match type_:
            case Struct(fields):
                return self.structs and all(self.has(part) for _, part in fields)
            case Array(element):
                return "array" in self.texts and self.has(element)
            case Map(key, value):
                return "map" in self.texts and self.has(key) and self.has(value)
        return str(type_) in self.texts or kind(type_) in self.texts


def select(
    asked: Fingerprint, source: str, conditions: Sequence[str], mark: str, words: FingerprintWords
) -> str:
    """Return the statement; `source` and `conditions` are SQL, `mark` quotes identifiers."""
    sql = FingerprintSql(asked, mark, words)
    parts = range(len(asked.parts))
    inside = f" where {' and '.join(conditions)}" if conditions else ""
    if asked.rows:
        chosen = [*conditions, *sql.chosen(sql.joined(map(sql.part, asked.grouped_by)))]
        return f"select * from {source} where {' and '.join(chosen)}"
    listed = ", ".join(f"{sql.part(at)} as p{at}" for at in parts)
    group, row = (sql.joined(f"p{at}" for at in some) for some in (asked.grouped_by, parts))
    prints = f"select {group} as g, {row} as r, p.* from (select {listed} from {source}{inside}) p"
    hashes = ["r", *(sql.hash_of(at, f"p{at}") for at in parts if asked.of_parts)]
    sums = ", ".join(words.sum.format(hash_) for hash_ in hashes)
    first = f"substr(g, 1, {asked.digits})" if asked.digits else ""
    within = "".join(f" where {test}" for test in sql.chosen("g"))
    shown = f"{first}, " * bool(first)
    return f"select {shown}count(*), {sums} from ({prints}) q{within}" + (
        f" group by {first}" if first else ""
    )


@dataclass(frozen=True, slots=True)
class FingerprintSql:
    asked: Fingerprint
    mark: str
    words: FingerprintWords

    def part(self, at: int) -> str:
        """Return the text of a part as it stands in that of its row; NULL of NULL."""
        part = self.asked.parts[at]
        value = ".".join(quoted_name(name, self.mark) for name in part.shown)
        text = self.text(value, part.type)
        if has_no_comma(part):
            return text
        return self.words.hash.format(f"'{OTHER}' || {text}" if part.other else text)

    def hash_of(self, at: int, text: str) -> str:
        """Return the hash of a part, by its text as `part` has it."""
        return self.words.hash.format(text) if has_no_comma(self.asked.parts[at]) else text

    def joined(self, texts: Iterable[str]) -> str:
        """Return the hash of texts, any of which may be NULL."""
        listed = (f"coalesce({text}, '{NULL_HASH}')" for text in texts)
        return self.words.hash.format(f" || '{BETWEEN}' || ".join(listed))

    def chosen(self, group: str) -> tuple[str, ...]:
        """Return the condition that the hash of a group begins with what is asked for, if any."""
        if not self.asked.within:
            return ()
        digits = ", ".join(f"'{first}'" for first in self.asked.within)
        return (f"substr({group}, 1, {len(self.asked.within[0])}) in ({digits})",)

    def text(self, value: str, type_: DataType, depth: int = 0) -> str:
        texts, x = self.words.texts, f"x{depth}"
        match type_:
            case Struct(fields):
                parts = [
                    self.hash(f"{value}.{quoted_name(name, self.mark)}", part, depth)
                    for name, part in fields
                ]
                return f"case when {value} is not null then {' || '.join(parts) or chr(39) * 2} end"
            case Array(element):
                return texts["array"].format(value, x=x, hash=self.hash(x, element, depth + 1))
            case Map(key, inner):
                both = [
                    self.hash(of.format(x=x), part, depth + 1)
                    for of, part in zip(self.words.entry, (key, inner), strict=True)
                ]
                return texts["map"].format(value, x=x, hash=" || ".join(both))
            case Decimal(_, scale):
                plain = texts.get(PLAIN) if scale <= PLAIN_SCALE else None
                return (plain or texts["decimal"]).format(value, scale=scale)
        return (texts.get(str(type_)) or texts[kind(type_)]).format(value)

    def hash(self, value: str, type_: DataType, depth: int) -> str:
        return f"coalesce({self.words.hash.format(self.text(value, type_, depth))}, '{NULL_HASH}')"
