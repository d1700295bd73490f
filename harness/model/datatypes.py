"""The types a column can have, and their canonical text.

>>> parse_type("struct<a: int, b: array<string>>")
Struct(fields=(('a', Primitive(name='int')), ('b', Array(element=Primitive(name='string')))))
>>> str(parse_type("map<string,decimal(10,2)>"))
'map<string, decimal(10, 2)>'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

SPATIAL: Final = ("geometry", "geography")
NULL_ALONE: Final = ("unknown", *SPATIAL)
"""Types of Iceberg's format version 3 whose columns have no value here but NULL: all of the first
("Primitive Types"), and what no writer here has words for."""
PRIMITIVES: Final = (
    "boolean",
    "tinyint",
    "smallint",
    "int",
    "long",
    "float",
    "double",
    "string",
    "binary",
    "date",
    "timestamp",
    "timestamp_ntz",
    "variant",
    *NULL_ALONE,
)
"""Names of the types without parameters.

A `timestamp` is a moment, its microseconds counted in UTC; a `timestamp_ntz` is a day and a time of
day in no zone, the same wherever it is read (SQL:2016, 4.6.2; Parquet's `isAdjustedToUTC=false`).
A `variant` holds a value of any type, which is known here by its JSON (Parquet, "Variant Binary
Encoding").
"""

MAX_DECIMAL_PRECISION: Final = 38
MAX_LENGTH: Final = {"char": 255, "varchar": 65_535}
"""The most characters of a text (Hive language manual, "Hive Data Types")."""

FORMS: Final = {
    "decimal": '"decimal(10, 2)"',
    "char": "char(10)",
    "varchar": "varchar(20)",
    "struct": '"struct<a: int, b: string>"',
    "array": "array<int>",
    "map": '"map<string, int>"',
}
"""An example of each type with parameters, quoted where braces around it would cut it."""
ALIASES: Final = {
    "byte": "tinyint",
    "short": "smallint",
    "integer": "int",
    "bigint": "long",
    "real": "float",
    "bool": "boolean",
    "text": "string",
    "bytes": "binary",
    "varbinary": "binary",
    "void": "unknown",
    "datetime": "timestamp",
    "timestamp_ltz": "timestamp",
    "dec": FORMS["decimal"],
    "numeric": FORMS["decimal"],
    "character": FORMS["char"],
    "row": FORMS["struct"],
    "list": FORMS["array"],
}
"""What others call types: Spark SQL, Hive, Trino and Iceberg ("Data types"), and their users."""

MAX_NESTING: Final = 10
"""Arrays in arrays: a generated one has two elements at each level."""
MAX_TEXT: Final = 10_000
"""Characters of a type's text; the 63 parts that a table may have need fewer."""
SHOWN: Final = 60
"""Errors quote so many characters of a text that is no type."""


class TypeTextError(ValueError):
    """The text is not a type; the message says what is allowed."""


@dataclass(frozen=True, slots=True)
class Primitive:
    """A type without parameters, one of `PRIMITIVES`."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Decimal:
    """Exact numbers of `precision` digits in all, `scale` of them behind the point."""

    precision: int
    scale: int

    def __str__(self) -> str:
        return f"decimal({self.precision}, {self.scale})"


@dataclass(frozen=True, slots=True)
class Text:
    """Texts of `length` characters: exactly so many in a `char`, at most in a `varchar`."""

    name: str
    length: int

    def __str__(self) -> str:
        return f"{self.name}({self.length})"


@dataclass(frozen=True, slots=True)
class Struct:
    fields: tuple[tuple[str, DataType], ...]

    def __str__(self) -> str:
        return f"struct<{', '.join(f'{name}: {child}' for name, child in self.fields)}>"


@dataclass(frozen=True, slots=True)
class Array:
    element: DataType

    def __str__(self) -> str:
        return f"array<{self.element}>"


@dataclass(frozen=True, slots=True)
class Map:
    key: DataType
    value: DataType

    def __str__(self) -> str:
        return f"map<{self.key}, {self.value}>"


VARIANT: Final = Primitive("variant")
DataType = Primitive | Decimal | Text | Struct | Array | Map
PlainType = Primitive | Decimal | Text
"""A type without parts."""

ELEMENT: Final = "element"
KEY: Final = "key"
VALUE: Final = "value"
"""What the parts of arrays and maps are called (as in the Iceberg specification, "Schemas")."""

T = TypeVar("T")


def parts_of(type_: DataType) -> tuple[tuple[str, DataType], ...]:
    """Return the parts of a type with their names, none of a type without parts."""
    match type_:
        case Struct(fields):
            return fields
        case Array(element):
            return ((ELEMENT, element),)
        case Map(key, value):
            return ((KEY, key), (VALUE, value))
    return ()


def with_parts(type_: DataType, parts: Iterable[tuple[str, DataType]]) -> DataType:
    """Return a type of the same kind with other parts, a type without parts as it is."""
    match type_, tuple(parts):
        case Struct(), fields:
            return Struct(fields)
        case Array(), ((_, element),):
            return Array(element)
        case Map(), ((_, key), (_, value)):
            return Map(key, value)
    return type_


def every_type(type_: DataType) -> Iterator[DataType]:
    """Yield a type and those of all its parts, each before its own parts."""
    yield type_
    for _, part in parts_of(type_):
        yield from every_type(part)


def plain_types(type_: DataType) -> Iterator[PlainType]:
    for part in every_type(type_):
        if not isinstance(part, Struct | Array | Map):
            yield part


def map_plain(type_: DataType, change: Callable[[PlainType], DataType]) -> DataType:
    return fold(type_, change, lambda parts: Struct(tuple(parts)), Array, Map)


def fold(
    type_: DataType,
    plain: Callable[[PlainType], T],
    struct: Callable[[Sequence[tuple[str, T]]], T],
    array: Callable[[T], T],
    map_: Callable[[T, T], T],
) -> T:
    """Build what stands for a type elsewhere, from the innermost parts outwards."""

    def build(part: DataType) -> T:
        match part:
            case Struct(fields):
                return struct([(name, build(child)) for name, child in fields])
            case Array(element):
                return array(build(element))
            case Map(key, value):
                return map_(build(key), build(value))
        return plain(part)

    return build(type_)


@dataclass(frozen=True, slots=True)
class TypeNames:
    """How a dialect writes types; it says only what differs from ours.

    >>> hive = TypeNames({"long": "bigint"}, child="{}:{}", between=",")
    >>> hive.text(parse_type("struct<a: long, b: map<string, int>>"))
    'struct<a:bigint,b:map<string,int>>'
    >>> str(hive.parse("struct<bigint:bigint>"))
    'struct<bigint: long>'
    """

    names: Mapping[str, str] = field(default_factory=dict)
    """The dialect's names of types without parameters, by ours."""
    quote: Callable[[str], str] = str
    """Quotes the name of a struct's child."""
    struct: str = "struct<{}>"
    child: str = "{}: {}"
    array: str = "array<{}>"
    map: str = "map<{}>"
    between: str = ", "
    """What stands between the children of a struct, the parts of a map, and two numbers."""

    def text(self, type_: DataType) -> str:
        return fold(type_, self._plain, self._struct, self.array.format, self._map)

    def parse(self, text: str) -> DataType:
        """Read a type of a dialect that writes nested types as we do, but for names and blanks."""
        ours = {name: our for our, name in self.names.items() if name not in PRIMITIVES}
        return parse_type(text, ours)

    def _plain(self, type_: PlainType) -> str:
        if isinstance(type_, Decimal):
            return f"decimal({type_.precision}{self.between}{type_.scale})"
        return self.names.get(str(type_), str(type_))

    def _struct(self, fields: Sequence[tuple[str, str]]) -> str:
        children = (self.child.format(self.quote(name), text) for name, text in fields)
        return self.struct.format(self.between.join(children))

    def _map(self, key: str, value: str) -> str:
        return self.map.format(f"{key}{self.between}{value}")


_TOKEN = re.compile(r"\s*([A-Za-z_][\w$]*|[0-9]+|[<>(),:])")


def parse_type(text: str, ours: Mapping[str, str] | None = None) -> DataType:
    """Read a type from its text, as scenario files write it.

    `ours`: our names of types that the text calls otherwise.

    Raises TypeTextError: the text is no type.
    """
    if len(text) > MAX_TEXT:
        raise TypeTextError(f"'{text[:20]}…' is not a type: it is longer than {MAX_TEXT}")
    parser = _Parser(text, ours or {})
    parsed = parser.type()
    if parser.peek() != "":
        raise TypeTextError(f"'{parser.text}' is not a type: nothing may follow '{parsed}'")
    return parsed


class _Parser:
    def __init__(self, text: str, ours: Mapping[str, str]) -> None:
        self.ours = ours
        self.text = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
        self.tokens = _tokens(text)
        self.at = 0
        self.depth = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def expect(self, *allowed: str) -> str:
        token = self.next()
        if token not in allowed:
            expected = " or ".join(f"'{sign}'" for sign in allowed)
            raise TypeTextError(
                f"'{self.text}' is not a type: {expected} expected, found '{token or 'the end'}'"
            )
        return token

    def type(self) -> DataType:
        if self.depth > MAX_NESTING:
            raise TypeTextError(f"'{self.text}' is not a type: more than {MAX_NESTING} in another")
        self.depth += 1
        parsed = self.any_type()
        self.depth -= 1
        return parsed

    def any_type(self) -> DataType:
        token = self.next()
        name = self.ours.get(token, token)
        if name in PRIMITIVES:
            return Primitive(name)
        if name in FORMS and self.peek() not in ("(", "<"):
            raise TypeTextError(f"'{name}' is not a whole type; write {FORMS[name]}")
        match name:
            case "decimal":
                return self.decimal()
            case "char" | "varchar":
                (length,) = self.parts("()", self.number, 1)
                if not 0 < length <= MAX_LENGTH[name]:
                    raise TypeTextError(f"{name}({length}): allowed is 1 to {MAX_LENGTH[name]}")
                return Text(name, length)
            case "struct":
                return self.struct()
            case "array":
                return Array(*self.parts("<>", self.type, 1))
            case "map":
                return Map(*self.parts("<>", self.type, 2))
        plain = name.lower()
        if ours := ALIASES.get(plain) or FORMS.get(plain) or (plain if plain in PRIMITIVES else ""):
            raise TypeTextError(f"'{name}' is not a type here; write {ours}")
        with_parts = ("decimal(p, s)", "char(n)", "varchar(n)", "struct<…>", "array<…>", "map<…>")
        allowed = ", ".join((*PRIMITIVES, *with_parts))
        raise TypeTextError(f"'{name or self.text}' is not a type; allowed: {allowed}")

    def parts(self, brackets: str, part: Callable[[], T], count: int) -> list[T]:
        result = []
        for at in range(count):
            self.expect("," if at else brackets[0])
            result.append(part())
        self.expect(brackets[1])
        return result

    def decimal(self) -> Decimal:
        precision, scale = self.parts("()", self.number, 2)
        if not 0 <= scale <= precision <= MAX_DECIMAL_PRECISION or precision == 0:
            raise TypeTextError(
                f"decimal({precision}, {scale}): allowed is 0 <= scale <= precision <= "
                f"{MAX_DECIMAL_PRECISION}"
            )
        return Decimal(precision, scale)

    def number(self) -> int:
        token = self.next()
        if not token.isdigit():
            raise TypeTextError(f"'{self.text}' is not a type: a number expected, found '{token}'")
        return int(token)

    def struct(self) -> Struct:
        self.expect("<")
        fields = [self.field()]
        while self.expect(",", ">") == ",":
            fields.append(self.field())
        names = [name for name, _ in fields]
        if len(set(names)) < len(names):
            raise TypeTextError(f"'{self.text}': a struct names each child once")
        return Struct(tuple(fields))

    def field(self) -> tuple[str, DataType]:
        name = self.next()
        if not re.match(r"[A-Za-z_]", name):
            raise TypeTextError(f"'{self.text}': a child's name expected, found '{name}'")
        self.expect(":")
        return name, self.type()


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise TypeTextError(f"'{text[:SHOWN]}' is not a type: '{text[at]}' has no place in one")
        tokens.append(match[1])
        at = match.end()
    return tokens
