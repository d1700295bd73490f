"""Which settings give the tables of scenarios a feature that `usage.yaml` knows a table by. Pure.

Sources: as of the readers of tables beside this module, which write the words.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from harness.core.setting_values import (
    DELETE_MODE,
    EQUALITY,
    FORMAT_VERSION,
    MAPPING,
    MERGE_ON_READ,
    TABLE_VERSION,
    VECTORS,
    WIDENING,
)

Settings = Mapping[str, str]
DEFAULTS: Final = "column-defaults"
"""A column has a value for rows that are older; a step of scenarios may name it as well."""
SETTINGS: Final[Mapping[str, Mapping[str, Settings]]] = {
    "iceberg": {
        "merge-on-read": {DELETE_MODE: MERGE_ON_READ},
        "position-deletes": {DELETE_MODE: MERGE_ON_READ},
        "deletion-vectors": {DELETE_MODE: MERGE_ON_READ, FORMAT_VERSION: "3"},
        "equality-deletes": {DELETE_MODE: EQUALITY},
    },
    "delta": {
        "deletion-vectors": {VECTORS: "on"},
        "deletionVectors": {VECTORS: "on"},
        "column-mapping-by-name": {MAPPING: "name"},
        "column-mapping-by-id": {MAPPING: "id"},
        "typeWidening": {WIDENING: "on"},
    },
}
"""Of each format and feature."""

VERSION_SETTING: Final[Mapping[str, str]] = {
    "iceberg": FORMAT_VERSION,
    "hudi-cow": TABLE_VERSION,
    "hudi-mor": TABLE_VERSION,
}
"""The setting that is the version of a format's tables."""


def lacking(
    format_name: str, features: Iterable[str], asked: Iterable[Settings]
) -> Mapping[str, Settings]:
    """Return the features that no table had that was asked about, with the settings for them.

    >>> lacking("delta", ["deletion-vectors"], [{"deletion_vectors": "off"}])
    {'deletion-vectors': {'deletion_vectors': 'on'}}
    """
    every, known = list(asked), SETTINGS.get(format_name, {})
    needed = {feature: known[feature] for feature in features if feature in known}
    return {
        feature: settings
        for feature, settings in needed.items()
        if not any(settings.items() <= other.items() for other in every)
    }


def having(format_name: str, setting: str, values: Iterable[str]) -> Iterator[str]:
    """Yield the features that tables have by any of these values of a setting.

    What a feature needs besides, such as a version, gives none by itself: the first one does.
    """
    some = {(setting, value) for value in values}
    for feature, settings in SETTINGS.get(format_name, {}).items():
        if next(iter(settings.items())) in some:
            yield feature
