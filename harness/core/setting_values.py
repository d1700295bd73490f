"""A setting of tables or of readers has values, and a meaning that the docs say."""

from collections.abc import Iterable
from typing import Self


class SettingValues(tuple[str, ...]):  # noqa: SLOT001 - a tuple has no slots of its own
    """The values that it may have, and what it means, as a row of the documentation says it."""

    meaning: str

    def __new__(cls, values: Iterable[str], meaning: str) -> Self:
        setting = super().__new__(cls, values)
        setting.meaning = meaning
        return setting
