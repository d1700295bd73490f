"""Which catalogs a server of the Trino family holds, and which one answers a question. Pure.

What differs from one version to the next is data in the distribution's `settings`: for each kind of
catalog (`hive`, `hudi`, `iceberg`, `delta`) that there is, its connector (`connectors`), its
properties (`hive_catalog` …), the name of the property that maps columns by name (`column_names`; a
kind that is not named there has none) and of the one that lists files by Hudi's metadata table
(`metadata_table`, likewise); and the kinds among which a reader of Hudi tables may choose
(`hudi_connectors`; none where there is no choice). ORC files have a property of their own, which
all versions have had alike: their default differs from that of Parquet files (notes of the engine).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from types import MappingProxyType
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.engines.api import PlannedReads, ReaderSettings
from harness.engines.format_facts import FormatFacts

COLUMN_NAMES: Final = "use-column-names"
"""Setting of a reader: whether columns of Parquet files are mapped by name."""
ORC_COLUMN_NAMES: Final = "orc.use-column-names"
"""Setting of a reader: the same of ORC files."""
CONNECTOR: Final = "connector"
"""Setting of a reader: the kind of catalog that reads Hudi tables."""
METADATA: Final = "metadata-table"
"""Setting of a reader: whether the files of a Hudi table are listed by its metadata table."""
SETTINGS: Final = MappingProxyType(
    {
        COLUMN_NAMES: ("true", "false"),
        ORC_COLUMN_NAMES: ("true", "false"),
        CONNECTOR: ("hive", "hudi"),
        METADATA: ("on", "off"),
    }
)

READY: Final = "hive"
"""The catalog through which a new server is tried: the only kind that reads plain Hive tables."""
CHOOSES: Final = "hudi"
"""The family of tables for which CONNECTOR may choose another kind of catalog than their own."""

Catalogs = Mapping[str, Mapping[str, object]]
"""What the template of each catalog is filled with, by the catalog's name."""

_SUFFIXES: Final = MappingProxyType({"": "", "true": "_by_name", "false": "_by_position"})
"""What the setting adds to a catalog's name: one server holds a catalog for each value."""
_METADATA: Final = MappingProxyType({"": "", "on": "_metadata_on", "off": "_metadata_off"})
"""The same of the metadata table."""
_SWITCH: Final = MappingProxyType({"on": "true", "off": "false"})
_PROPERTIES: Final = MappingProxyType({COLUMN_NAMES: "column_names", METADATA: "metadata_table"})
"""Where a distribution says what the property of a setting is called, by kind of catalog."""
_ORC_CATALOG: Final = f"{READY}_orc"
_ORC_PROPERTY: Final = f"hive.{ORC_COLUMN_NAMES}"


def catalog(format_: FormatFacts, settings: ReaderSettings) -> str:
    """Return the name of the catalog for a format and settings.

    >>> hudi, orc = FormatFacts("hudi-mor", "hudi"), FormatFacts("hive-orc", "hive", "orc")
    >>> catalog(hudi, {"use-column-names": "false"})
    'hudi_by_position'
    >>> catalog(hudi, {"connector": "hive", "use-column-names": "true"})
    'hive_by_name'
    >>> catalog(orc, {}), catalog(orc, {"orc.use-column-names": "true"})
    ('hive', 'hive_orc_by_name')
    """
    if _is_plain_orc(format_) and ORC_COLUMN_NAMES in settings:
        return _ORC_CATALOG + _SUFFIXES[settings[ORC_COLUMN_NAMES]]
    metadata = _METADATA[settings.get(METADATA, "")]
    return _kind(format_, settings) + _SUFFIXES[settings.get(COLUMN_NAMES, "")] + metadata


def cannot(distribution: Distribution, settings: ReaderSettings, format_: FormatFacts) -> str:
    """Return why a reader cannot be asked about tables of a format; empty when it can.

    `settings` have names and values of SETTINGS. See `harness.engines.api.Engine.cannot`.
    """
    name, connector = distribution.name, settings.get(CONNECTOR)
    if connector and connector not in distribution.texts("hudi_connectors"):
        return f"{name} has one connector for Hudi tables: leave out {CONNECTOR}={connector}"
    if format_.family not in distribution.options("connectors"):
        return f"{name} has no connector for {format_.family} tables"
    if connector and format_.family not in {CHOOSES, connector}:
        return f"{CONNECTOR}={connector} does not read {format_.family} tables"
    other = COLUMN_NAMES if _is_plain_orc(format_) else ORC_COLUMN_NAMES
    if other in settings:
        return f"{other} says nothing of {format_.name} tables"
    kind = _kind(format_, settings)
    for setting, key in _PROPERTIES.items():
        if setting in settings and kind not in _options(distribution, key):
            return f"the {kind} connector of {name} has no setting {setting}"
    return ""


def connectors(distribution: Distribution) -> dict[str, str]:
    values = catalog_values(distribution, "")
    return {name: str(value["connector"]) for name, value in values.items()}


def needed(catalogs: Catalogs, planned: PlannedReads) -> Catalogs:
    """Return the catalogs that are asked, and the one through which a new server is tried.

    Each catalog loads the classes of its connector anew: with seven of them, 53,171 classes were
    half of the CPU seconds that Trino 476 took to start.
    """
    if planned is None:
        return catalogs
    names = {READY, *(catalog(format_, dict(settings)) for format_, settings in planned)}
    return {name: values for name, values in catalogs.items() if name in names}


def catalog_values(distribution: Distribution, metastore_uri: str) -> Catalogs:
    """Return what the template of a catalog is filled with, by the catalog's name."""
    by_kind = distribution.options("connectors")
    catalogs: dict[str, dict[str, object]] = {}
    for name, kind, mapping in _catalogs(distribution):
        properties: Mapping[str, str] = distribution.options(f"{kind}_catalog")
        catalogs[name] = {
            "connector": by_kind[kind],
            "metastore_uri": metastore_uri,
            "properties": {**properties, **mapping},
        }
    return catalogs


def _catalogs(distribution: Distribution) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Yield each catalog's name, its kind, and the properties that the settings of readers are."""
    names, metadata = (_options(distribution, key) for key in _PROPERTIES.values())
    for kind in distribution.options("connectors"):
        mapped = _SUFFIXES if kind in names else ("",)
        listed = _METADATA if kind in metadata else ("",)
        for by_name, by_metadata in product(mapped, listed):
            properties = {names[kind]: by_name} if by_name else {}
            properties |= {metadata[kind]: _SWITCH[by_metadata]} if by_metadata else {}
            yield kind + _SUFFIXES[by_name] + _METADATA[by_metadata], kind, properties
    for value in SETTINGS[ORC_COLUMN_NAMES]:
        yield _ORC_CATALOG + _SUFFIXES[value], READY, {_ORC_PROPERTY: value}


def _options(distribution: Distribution, key: str) -> Mapping[str, str]:
    return distribution.options(key) if key in distribution.settings else {}


def _is_plain_orc(format_: FormatFacts) -> bool:
    return (format_.family, format_.files) == (READY, "orc")


def _kind(format_: FormatFacts, settings: ReaderSettings) -> str:
    chosen = settings.get(CONNECTOR, format_.family)
    return chosen if format_.family == CHOOSES else format_.family
