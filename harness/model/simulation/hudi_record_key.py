"""Record keys that are taken from the third column, as Hive takes them.

Where Hudi's reader for Hive merges log files, it takes the record key of a base row from the place
where it stands if the catalog lists Hudi's columns. Where the catalog lists none of them, one of
the table's own stands there, and its text is taken for the key. So log records hardly ever meet the
rows that they change, and both are shown.

It was seen of MapReduce with schema-on-read. Without MapReduce the third column of the same tables
shows the record key itself (see `model.overlay`), and all rows are merged as they should be.

Source: Hudi 1.0.2, `RealtimeCompactedRecordReader.next`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeVar

from harness.model.canonical import Value, text_of

KEY_AT: Final = 2
"""The place that is taken for the key's (`HoodieInputFormatUtils.HOODIE_RECORD_KEY_COL_POS`)."""
AnyRow = TypeVar("AnyRow")


def rekeyed(
    older: Iterable[tuple[Value, AnyRow]], newer: Mapping[str, AnyRow | None]
) -> Iterator[AnyRow]:
    """Merge base rows, each with the value that is taken for its key, with what log files hold.

    `newer`: by the text of a record key; None for a row that is deleted.

    Raises:
        ValueError: a value is NULL. Hive ends such a query with an error.

    """
    met = set()
    for value, row in older:
        key = _text(value)
        met.add(key)
        if (now := newer.get(key, row)) is not None:
            yield now
    yield from (row for key, row in newer.items() if key not in met and row is not None)


def _text(value: Value) -> str:
    if value is None:
        raise ValueError("NULL is taken for a record key")
    # As Java writes it: 1.0 is not the key 1.
    return str(value) if isinstance(value, float) else text_of(value)
