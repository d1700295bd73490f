"""Fingerprints of rows: what tells tables from each other without their rows. Pure.

The hash of a value is the MD5 (RFC 1321) of its text in UTF-8, in lower-case hexadecimal digits;
that of NULL is `-`. Every engine has that function. Texts are the same whoever makes them:

| type | text |
| --- | --- |
| boolean | `true`, `false` |
| integers | in decimal digits |
| float, double | `NaN`, or the bits of the double that it is, as a whole number (`FloatText`) |
| decimal | with all digits of its scale, no exponent |
| date, timestamps | days, microseconds since 1970-01-01 in UTC, as integers |
| string | as it is |
| binary | in hexadecimal digits, lower case |
| struct | the hashes of its parts, one behind the other |
| array | the hashes of its elements, one behind the other |
| map | for each entry the hashes of key and value, one behind the other; these texts sorted |

Parts of a struct are compared as columns are, beside whether the struct is there (the text of one
without parts). The hash of a row is that of the texts of all its parts, with commas between them;
what may have a comma in its text stands there as its hash, and NULL as `-`. A sum is of the numbers
of hashes: the first 16 digits, with 0 to 5 for a to f, in decimal. Two values have the same number
once in 10^15 pairs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from harness.model.datatypes import Array, DataType, Decimal, Map, Struct, Text

NULL_HASH: Final = "-"
OTHER: Final = "other: "
"""Stands before the texts of values whose type is of another kind than the table's."""
BETWEEN: Final = ","
"""Stands between the texts of a row's parts."""
NUMBER_DIGITS: Final = 16
PLAIN_SCALE: Final = 6
"""Of more digits behind the point Java and Arrow write small decimals with an exponent."""
DIGITS: Final[Mapping[int, int]] = str.maketrans("abcdef", "012345")


class FloatText(StrEnum):
    """The text of a number that is not NaN."""

    BITS = "bits"
    """IEEE 754's bits as a signed number of 64 bits."""
    SHORTEST = "shortest"
    """The fewest digits that give it, as Rust's `ryu` writes them (its `Buffer::format`)."""


@dataclass(frozen=True, slots=True)
class ComparedPart:
    """A column, or a part of a struct, that is compared by its hashes."""

    path: tuple[str, ...]
    """What the table calls it."""
    shown: tuple[str, ...]
    """What who is asked calls it."""
    type: DataType
    """The one that who is asked shows; a struct has no parts here."""
    other: bool = False
    """Whether that is of another kind than the table's, see `kind`."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What is asked: the number of rows, and the sum of their hashes.

    For each group of rows, if there are `digits`; or the rows of groups themselves.
    """

    parts: tuple[ComparedPart, ...]
    of_parts: bool = False
    """Whether the sum of each part's hashes is asked for as well."""
    by: tuple[int, ...] = ()
    """The numbers of the parts by whose hashes rows are in groups; all if none."""
    digits: int = 0
    """So many first digits of the hash are the same in a group."""
    within: tuple[str, ...] = ()
    """The first digits of the only hashes that count, equally many of each; all if none."""
    rows: bool = False
    floats: FloatText = FloatText.BITS
    milliseconds: bool = False
    """Whether moments of the table are cut to milliseconds; those of a reader are as they are."""

    @property
    def grouped_by(self) -> tuple[int, ...]:
        return self.by or tuple(range(len(self.parts)))


Sums = tuple[int, ...]
"""The number of rows, the sum of the rows' numbers, and of each part, if asked for, its numbers."""


def has_no_comma(part: ComparedPart) -> bool:
    """Return whether the text of a value stands as it is in that of its row."""
    return not part.other and kind(part.type) in {*_KINDS.values(), *_WITHOUT_COMMAS}


def kind(type_: DataType) -> str:
    """Return what types have in common whose equal values have equal texts."""
    match type_:
        case Struct():
            return "struct"
        case Array():
            return "array"
        case Map():
            return "map"
        case Decimal():
            return "decimal"
        case Text():
            return "string"
    return _KINDS.get(str(type_), str(type_))


_WITHOUT_COMMAS: Final = ("boolean", "date", "decimal", "struct")
_KINDS: Final = {
    **dict.fromkeys(("tinyint", "smallint", "int", "long"), "integer"),
    "double": "float",
    "timestamp_ntz": "timestamp",
}
