"""One folder per family of formats: wording, views, fork and catalog entries.

In: an operation and the truth around it, or a table's folder. Out: the statements for a writer, and
what data files say of themselves; not what any engine answered. A folder with a module `format` is
a family, and its `FORMATS` are the formats. A package adds one by an entry point of the group
`lake_table_harness.formats`.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from pathlib import Path

from harness.core.registry import Registry
from harness.engines.format_facts import FormatFacts
from harness.formats.api import Format


def _ours() -> Mapping[str, Format]:
    families = (
        module.name
        for module in pkgutil.iter_modules(__path__)
        if module.ispkg and Path(__file__).with_name(module.name).joinpath("format.py").is_file()
    )
    formats: list[Format] = []
    for family in families:
        formats += importlib.import_module(f"{__name__}.{family}.format").FORMATS
    return {format_.NAME: format_ for format_ in formats}


FORMATS: Registry[Format] = Registry("format", _ours, Format)
names, load = FORMATS.names, FORMATS.load


def facts(name: str) -> FormatFacts:
    return load(name).reader_facts


def keeping_case() -> frozenset[str]:
    """Return the formats whose tables keep the names of columns as they are written."""
    return frozenset(
        name for name, format_ in FORMATS.all().items() if format_.reader_facts.keeps_case
    )
