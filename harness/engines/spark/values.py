"""Spark's names of types in our words. Pure."""

from __future__ import annotations

import re
from typing import Final

from harness.model.datatypes import TypeTextError, parse_type

_BIGINT: Final = re.compile(r"(?<![\w$])bigint(?![\w$:])")
"""As a type; a child of a struct may be called so too, then a colon follows."""


def canonical_type(text: str) -> str:
    """Return the type that Spark calls `text`, empty when there is none of ours.

    >>> canonical_type("struct<bigint:bigint,d:decimal(10,2)>"), canonical_type("void")
    ('struct<bigint: long, d: decimal(10, 2)>', '')
    """
    try:
        return str(parse_type(_BIGINT.sub("long", text)))
    except TypeTextError:
        return ""
