"""What a column has where a write leaves it out: a default, what others give, or a number."""

import datetime
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import add, attrgetter
from typing import Final

from harness.model.canonical import Value

TIMES: Final = frozenset({"date", "timestamp", "timestamp_ntz"})
_FORMS: Final[Mapping[str, tuple[str, Callable[..., Value]]]] = {
    r"cast\((\w+) as date\)": (
        "date",
        lambda at: at.date() if isinstance(at, datetime.datetime) else at,
    ),
    r"year\((\w+)\)": ("int", attrgetter("year")),
    r"month\((\w+)\)": ("int", attrgetter("month")),
    r"day\((\w+)\)": ("int", attrgetter("day")),
    r"(\w+) \+ (\w+)": ("", add),
}
"""Expressions that mean the same to every engine, as every session is in UTC: type, meaning."""
ALLOWED: Final = "cast(x as date), year(x), month(x), day(x) of times, x + y of two int or long"


@dataclass(frozen=True, slots=True)
class ColumnOption:
    """One of three."""

    default: Value = None
    generated: str = ""
    """An expression of other columns, which each write of the row works out."""
    identity: bool = False
    """Whether the writer numbers rows that come without a number; which one is its own choice."""

    def parsed(self) -> tuple[tuple[str, ...], str, Callable[..., Value]]:
        """Return the columns of the expression, its type, or none for theirs, and its meaning."""
        matches = ((re.fullmatch(form, self.generated), of) for form, of in _FORMS.items())
        return next(((match.groups(), *of) for match, of in matches if match), ((), "", add))
