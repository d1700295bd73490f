"""Which file groups of a Hudi table are live no longer: completed `replacecommit`s name them.

Clustering and `insert overwrite` write new file groups; the files of the old ones stay until they
are cleaned away. The record of such an instant is JSON in layout 1 of the timeline, Avro in
layout 2. Source: Hudi technical specification, "Timeline"; `HoodieReplaceCommitMetadata.avsc`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness.formats.api import FileFactError
from harness.formats.hudi import commit_metadata, timeline

ACTION: Final = "replacecommit"


def of_table(folder: Path) -> frozenset[str]:
    """Return the file groups that completed instants of a table's timeline replaced.

    Raises:
        FileFactError: one of the records cannot be understood.

    """
    home, groups = timeline.home(folder), frozenset[str]()
    for name in timeline.names(folder):
        if name.endswith(f".{ACTION}"):
            groups |= of_record((home / name).read_bytes(), name)
    return groups


def of_record(data: bytes, name: str = f"a {ACTION}") -> frozenset[str]:
    """Return the file groups that one completed instant replaced; `name`: what to call it.

    Raises:
        FileFactError: it cannot be understood.

    """
    try:
        told = commit_metadata.read(data).get("partitionToReplaceFileIds") or {}
        return frozenset(each for groups in told.values() for each in groups or ())
    except commit_metadata.PROBLEMS as problem:
        raise FileFactError(f"{name} cannot be understood: {problem}") from problem
