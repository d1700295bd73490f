"""Which tables a query names, for a library that looks none up itself. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_NAMED: Final = re.compile(r'(?:\bfrom|,) "((?:[^"]|"")+)"\."((?:[^"]|"")+)"')
"""Where SQL names a table; a field of a struct looks alike."""


def named(sql: str) -> Iterator[tuple[str, str]]:
    """Yield each database and name that may be those of a table, once.

    >>> list(named('select count(*) from "d"."t" a, "d"."t" b where a.n + b.n < 0'))
    [('d', 't')]
    """
    found = (tuple(each.replace('""', '"') for each in pair) for pair in _NAMED.findall(sql))
    yield from dict.fromkeys((database, table) for database, table in found)
