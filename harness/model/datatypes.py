"""The types a column can have, and their canonical text.

>>> parse_type("struct<a: int, b: array<string>>")
Struct(fields=(('a', Primitive(name='int')), ('b', Array(element=Primitive(name='string')))))
>>> str(parse_type("map<string,decimal(10,2)>"))
'map<string, decimal(10, 2)>'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

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
)
"""Names of the types without parameters.

A `timestamp` is a moment, its microseconds counted in UTC; a `timestamp_ntz` is a day and a time of
day in no zone, the same wherever it is read (SQL:2016, 4.6.2; Parquet's `isAdjustedToUTC=false`).
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
"""So much of a text that is no type is told."""


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
    """Named children in an order."""

    fields: tuple[tuple[str, DataType], ...]

    def __str__(self) -> str:
        return f"struct<{', '.join(f'{name}: {child}' for name, child in self.fields)}>"


@dataclass(frozen=True, slots=True)
class Array:
    """A list of elements of one type."""

    element: DataType

    def __str__(self) -> str:
        return f"array<{self.element}>"


@dataclass(frozen=True, slots=True)
class Map:
    """Keys of one type to values of one type."""

    key: DataType
    value: DataType

    def __str__(self) -> str:
        return f"map<{self.key}, {self.value}>"


DataType = Primitive | Decimal | Text | Struct | Array | Map


def plain_types(type_: DataType) -> Iterator[Primitive | Decimal | Text]:
    """Yield the types of the innermost parts, which have none themselves.

    >>> [str(each) for each in plain_types(parse_type("map<string, array<struct<a: char(2)>>>"))]
    ['string', 'char(2)']
    """
    for each in every_type(type_):
        if not isinstance(each, Struct | Array | Map):
            yield each


def every_type(type_: DataType) -> Iterator[DataType]:
    """Yield a type and those of all its parts, each before its own parts.

    >>> [str(each) for each in every_type(parse_type("map<string, array<int>>"))]
    ['map<string, array<int>>', 'string', 'array<int>', 'int']
    """
    yield type_
    match type_:
        case Struct(fields):
            inner: tuple[DataType, ...] = tuple(child for _, child in fields)
        case Array(element):
            inner = (element,)
        case Map(key, value):
            inner = (key, value)
        case _:
            inner = ()
    for each in inner:
        yield from every_type(each)


_TOKEN = re.compile(r"\s*([A-Za-z_][\w$]*|[0-9]+|[<>(),:])")


def parse_type(text: str) -> DataType:
    """Read a type from its text, as scenario files write it.

    Raises:
        TypeTextError: the text is no type.

    """
    if len(text) > MAX_TEXT:
        raise TypeTextError(f"'{text[:20]}…' is not a type: it is longer than {MAX_TEXT}")
    parser = _Parser(text)
    parsed = parser.type()
    if parser.peek() != "":
        raise TypeTextError(f"'{parser.text}' is not a type: nothing may follow '{parsed}'")
    return parsed


class _Parser:
    """A recursive-descent reader over the tokens of one type text."""

    def __init__(self, text: str) -> None:
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
            wanted = " or ".join(f"'{each}'" for each in allowed)
            raise TypeTextError(
                f"'{self.text}' is not a type: {wanted} expected, found '{token or 'the end'}'"
            )
        return token

    def type(self) -> DataType:
        if self.depth > MAX_NESTING:
            raise TypeTextError(f"'{self.text}' is not a type: more than {MAX_NESTING} in another")
        self.depth += 1
        found = self.any_type()
        self.depth -= 1
        return found

    def any_type(self) -> DataType:
        name = self.next()
        if name in PRIMITIVES:
            return Primitive(name)
        if name in FORMS and self.peek() not in ("(", "<"):
            raise TypeTextError(f"'{name}' is not a whole type; write {FORMS[name]}")
        match name:
            case "decimal":
                return self.decimal()
            case "char" | "varchar":
                return self.bounded(name)
            case "struct":
                return self.struct()
            case "array":
                self.expect("<")
                element = self.type()
                self.expect(">")
                return Array(element)
            case "map":
                return self.map()
        plain = name.lower()
        if own := ALIASES.get(plain) or FORMS.get(plain) or (plain if plain in PRIMITIVES else ""):
            raise TypeTextError(f"'{name}' is not a type here; write {own}")
        with_parts = ("decimal(p, s)", "char(n)", "varchar(n)", "struct<…>", "array<…>", "map<…>")
        allowed = ", ".join((*PRIMITIVES, *with_parts))
        raise TypeTextError(f"'{name or self.text}' is not a type; allowed: {allowed}")

    def decimal(self) -> Decimal:
        self.expect("(")
        precision = self.number()
        self.expect(",")
        scale = self.number()
        self.expect(")")
        if not 0 <= scale <= precision <= MAX_DECIMAL_PRECISION or precision == 0:
            raise TypeTextError(
                f"decimal({precision}, {scale}): allowed is 0 <= scale <= precision <= "
                f"{MAX_DECIMAL_PRECISION}"
            )
        return Decimal(precision, scale)

    def bounded(self, name: str) -> Text:
        self.expect("(")
        length = self.number()
        self.expect(")")
        if not 0 < length <= MAX_LENGTH[name]:
            raise TypeTextError(f"{name}({length}): allowed is 1 to {MAX_LENGTH[name]}")
        return Text(name, length)

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

    def map(self) -> Map:
        self.expect("<")
        key = self.type()
        self.expect(",")
        value = self.type()
        self.expect(">")
        return Map(key, value)


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
