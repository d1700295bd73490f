"""What a column has where a write leaves it out: a default, what others give, or a number."""

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import add, attrgetter
from typing import Final

from harness.model.canonical import Value

_TIMES: Final = {"date", "timestamp", "timestamp_ntz"}
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

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that the expression is of; none where it is none of ours."""
        matches = (re.fullmatch(form, self.generated) for form in _FORMS)
        return next((match.groups() for match in matches if match), ())

    def type_of(self, sources: Sequence[str]) -> str:
        """Return the type of the expression; empty where columns of these types have none."""
        made, _ = self._form
        if made:
            return made if {*sources} <= _TIMES else ""
        return sources[0] if {*sources} in ({"int"}, {"long"}) else ""

    def made(self, values: Sequence[Value]) -> Value:
        """Return what the expression makes of the values of its columns."""
        return None if None in values else self._form[1](*values)

    @property
    def _form(self) -> tuple[str, Callable[..., Value]]:
        forms = (of for form, of in _FORMS.items() if re.fullmatch(form, self.generated))
        return next(forms, ("", add))
