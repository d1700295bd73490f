"""What somebody tells an engine by hand before a query, to have the settings of a reader. Pure.

Lines of SQL where a session can be told; else what stands in a file, as a comment of SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.engines.api import Settings
from harness.engines.hive import engine as hive
from harness.engines.spark import engine as spark
from harness.engines.trino import connector_catalogs
from harness.runtime import template

METASTORE: Final = "thrift://METASTORE:9083"
"""Stands for the metastore of whoever does it."""


def before(distribution: Distribution, settings: Settings, format_name: str) -> tuple[str, ...]:
    """Return the lines that come before a query on a table of a format."""
    told = _ENGINES.get(distribution.engine)
    if told is None:
        named = (f"-- {name} = {value}" for name, value in settings.items())
        return ("-- with these settings, by the engine's own names:", *named) if settings else ()
    return told(distribution, settings, format_name)


def _trino(distribution: Distribution, settings: Settings, format_name: str) -> tuple[str, ...]:
    name = connector_catalogs.catalog(format_name, settings)
    values = connector_catalogs.catalog_values(distribution, METASTORE)[name]
    text = template.render("trino", "catalog.properties", values)
    return (f"-- etc/catalog/{name}.properties:", *(f"--   {each}" for each in text.splitlines()))


def _hive(_: Distribution, settings: Settings, __: str) -> tuple[str, ...]:
    return tuple(f"{each};" for each in hive.statements(settings))


def _spark(_: Distribution, settings: Settings, __: str) -> tuple[str, ...]:
    told = spark.session_settings(settings)
    return tuple(f"set {name}={value};" for name, value in told.items())


_ENGINES: Final[Mapping[str, Callable[[Distribution, Settings, str], tuple[str, ...]]]] = (
    MappingProxyType({"trino": _trino, "presto": _trino, "hive": _hive, "spark": _spark})
)
