"""Which tables a reader is declared not to know: those of a version newer than its library is.

That stands in the lock data of its distribution, with the source. Such a reader is asked once about
tables of such a version, the probe: what it refuses is `unsupported`, what it answers is told.
Pure.
"""

from __future__ import annotations

from functools import cache

from harness.artifacts import distributions


@cache
def declared(reader: str, family: str, table_version: str) -> str:
    """Say in few words that a reader is declared not to know such tables; empty where it is not.

    >>> declared("hive-3.1.3{path=fetch}", "hudi", "9")
    'hive-3.1.3 knows hudi tables up to version 8, not 9 (HoodieTableVersion of Hudi 1.0.2)'
    """
    name = reader.partition("{")[0]
    if not (distributions.exists(name) and table_version.isdigit()):
        return ""
    for each in distributions.load(name).reads:
        if each.family == family and int(table_version) > each.up_to:
            known = f"knows {family} tables up to version {each.up_to}, not {table_version}"
            return f"{name} {known} ({each.source})"
    return ""
