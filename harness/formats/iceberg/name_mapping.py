"""The ids of columns of files that say none, by the table's name mapping.

Source: Iceberg table specification, "Name Mapping Serialization".
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from harness.formats.files.column_parts import in_path


def mapped(stored: str) -> Mapping[str, int]:
    """Return the ids by dotted names; a part stands below every name of its struct.

    Raises ValueError where the text is no mapping.
    """
    try:
        return dict(_mapped(json.loads(stored), ""))
    except (KeyError, TypeError, AttributeError) as problem:
        raise ValueError(f"it is not a list of names and ids: {problem!r}") from problem


def _mapped(fields: Any, above: str) -> Iterator[tuple[str, int]]:  # noqa: ANN401 - JSON
    if not isinstance(fields, list):
        raise TypeError(f"{fields!r:.40}")
    for field in fields:
        for name in field["names"]:
            if field.get("field-id") is not None:
                yield above + in_path(name), int(field["field-id"])
            yield from _mapped(field.get("fields") or [], f"{above}{in_path(name)}.")
