"""Spark's names of types in our words. Pure."""

from __future__ import annotations

import re
from typing import Final

from harness.model.datatypes import TypeTextError, parse_type

_BIGINT: Final = re.compile(r"(?<![\w$])bigint(?![\w$:])")
"""As a type; a child of a struct may be called so too, then a colon follows."""
_NTZ: Final = re.compile(r"(?<![\w$])timestamp_ntz(?![\w$:])")
"""The same."""


def canonical_type(text: str) -> str:
    """Give the type that Spark calls `text`, empty when there is none of ours.

    Ours of a timestamp has no zone; Spark's own is shown in the session's, which is UTC.

    >>> canonical_type("struct<bigint:bigint,d:decimal(10,2)>")
    'struct<bigint: long, d: decimal(10, 2)>'
    >>> canonical_type("array<timestamp_ntz>"), canonical_type("interval day")
    ('array<timestamp>', '')
    """
    try:
        return str(parse_type(_NTZ.sub("timestamp", _BIGINT.sub("long", text))))
    except TypeTextError:
        return ""
