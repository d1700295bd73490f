"""Spark's names of types in our words. Pure."""

from __future__ import annotations

import re
from typing import Final

from harness.differences import Tally
from harness.model.datatypes import TypeTextError, parse_type

_BIGINT: Final = re.compile(r"(?<![\w$])bigint(?![\w$:])")
"""As a type; a child of a struct may be called so too, then a colon follows."""
_NTZ: Final = re.compile(r"(?<![\w$])timestamp_ntz(?![\w$:])")
"""The same."""


def canonical_type(text: str, tally: Tally) -> str:
    """Give the type that Spark calls `text`, empty when there is none of ours.

    Ours of a timestamp has no zone, which is declared (`harness.differences`).

    >>> from harness.differences import of
    >>> canonical_type("struct<bigint:bigint,d:decimal(10,2)>", Tally(of("spark")))
    'struct<bigint: long, d: decimal(10, 2)>'
    >>> [canonical_type("array<timestamp_ntz>", Tally(each)) for each in (of("spark"), {})]
    ['array<timestamp>', '']
    """
    plain = _BIGINT.sub("long", text)
    plain = tally.take("timestamp-zone", "timestamp", plain, _NTZ.sub("timestamp", plain))
    try:
        return str(parse_type(plain))
    except TypeTextError:
        return ""
