"""One file per format: wording, views, fork and catalog entries.

A format's name is its file's, with hyphens for underscores: `hudi-cow` is `hudi_cow.py`. Other
modules here are shared by several formats.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from harness.core.errors import UsageProblem
from harness.formats.api import Format

SHARED = frozenset(
    {
        "api",
        "data_files",
        "statements",
        "hudi",
        "hudi_files",
        "hudi_log",
        "timeline",
        "parquet",
        "orc",
        "hive_files",
        "avro_types",
        "iceberg_files",
    }
)


@cache
def names() -> tuple[str, ...]:
    """Return the names of all formats, sorted."""
    files = (each.name for each in pkgutil.iter_modules(__path__))
    return tuple(sorted(name.replace("_", "-") for name in files if name not in SHARED))


def load(name: str) -> Format:
    """Return the format of that name.

    Raises:
        UsageProblem: there is none; the message names what is there.

    """
    if name not in names():
        raise UsageProblem(f"unknown format '{name}'; allowed: {', '.join(names())}")
    found: Format = importlib.import_module(f"{__name__}.{name.replace('-', '_')}").FORMAT
    return found
