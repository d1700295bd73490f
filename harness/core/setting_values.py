"""Settings of tables and readers: values, and a meaning that the docs say; names that many know."""

from collections.abc import Iterable
from typing import Final, Self


class SettingValues(tuple[str, ...]):  # noqa: SLOT001 - a tuple has no slots of its own
    """The values that it may have, and what it means, as a row of the documentation says it."""

    meaning: str

    def __new__(cls, values: Iterable[str], meaning: str) -> Self:
        setting = super().__new__(cls, values)
        setting.meaning = meaning
        return setting


TABLE_VERSION: Final = "table_version"
"""Setting of a variant: the version that its table is made in."""
HANDOVER_VERSION: Final = "handover_version"
"""Setting of a variant: the table version to which the first of two writers brings the table before
the other one goes on with it."""
FORMAT_VERSION: Final = "format_version"
DELETE_MODE: Final = "delete_mode"
MERGE_ON_READ: Final = "merge-on-read"
EQUALITY: Final = "equality"
MAPPING: Final = "column_mapping"
VECTORS: Final = "deletion_vectors"
WIDENING: Final = "type_widening"
MOMENTS: Final = "moments"
NANOSECONDS: Final = "timestamp_ns"
