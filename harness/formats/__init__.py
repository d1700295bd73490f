"""One file per format: wording, views, fork and catalog entries.

In: an operation and the truth around it, or a table's folder. Out: the statements that a writer is
sent, the views that can be asked, and what data files say of themselves. A format must not know
what any engine answered.

A module here that has a `FORMAT` is a format; other modules are shared by several. A package adds
formats by entry points of the group `lake_table_harness.formats`.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.core.registry import Registry, modules
from harness.engines.format_facts import FormatFacts
from harness.formats.api import Format


def _ours() -> Mapping[str, Format]:
    found = (each.FORMAT for each in modules(__name__) if hasattr(each, "FORMAT"))
    return {each.NAME: each for each in found}


FORMATS: Registry[Format] = Registry("format", _ours)
names, load = FORMATS.names, FORMATS.load


def facts(name: str) -> FormatFacts:
    """Return what readers must know of the format of that name; raises as `load` does."""
    return load(name).reader_facts


def keeping_case() -> frozenset[str]:
    """Return the formats whose tables keep the names of columns as they are written."""
    return frozenset(name for name, each in FORMATS.all().items() if each.reader_facts.keeps_case)
