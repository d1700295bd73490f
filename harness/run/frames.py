"""Records as pandas tables: every column has its type, also where there is no row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

if TYPE_CHECKING:
    import pandas as pd

Row = TypeVar("Row")
TEXT: Final = "str"
WORD: Final = "category"
"""A text that many rows have in common."""
NUMBER: Final = "int64"
SECONDS: Final = "Float64"
"""May be missing."""
FLAG: Final = "bool"
TIME: Final = "datetime64[us, UTC]"


@dataclass(frozen=True, slots=True)
class FrameColumn(Generic[Row]):
    """What a column of a table holds, and how it comes of a row's record."""

    kind: str | tuple[str, ...]
    """A type of the above; or all words that there can be, in their order (None: none of them)."""
    of: Callable[[Row], Any]


def of_names(names: Sequence[str], inside: str = "") -> dict[str, FrameColumn[Any]]:
    """Return the columns that are attributes of a record, or of one `inside` of it."""
    return {name: FrameColumn(_KINDS.get(name, WORD), attrgetter(inside + name)) for name in names}


_KINDS: Final = {"case": TEXT, "step": NUMBER, "because": TEXT, "known": TEXT, "reused": FLAG}


def frame(rows: Sequence[Row], columns: Mapping[str, FrameColumn[Row]]) -> pd.DataFrame:
    """Return a table with a row for each record.

    It is made column by column: a million rows as dictionaries would take gigabytes.
    """
    import pandas as pd  # noqa: PLC0415 - dear to load, and only this needs it

    result: dict[str, pd.Series[Any]] = {}
    for name, column in columns.items():
        values, kind = [column.of(row) for row in rows], column.kind
        if isinstance(kind, str) and kind != WORD:
            result[name] = pd.Series(values, dtype=kind)
            continue
        words = sorted(set(values)) if isinstance(kind, str) else list(kind)
        known = pd.CategoricalDtype(pd.Index(words, dtype="str"), ordered=not isinstance(kind, str))
        texts = [None if value is None else str(value) for value in values]
        result[name] = pd.Series(texts, dtype=known)
    return pd.DataFrame(result)
