"""The data files of a Hudi table: which there are, and what they say of themselves.

Base files are called `<file id>_<write token>_<instant>.parquet`, log files
`.<file id>_<instant>.log.<number>_<write token>`. Source: Hudi technical specification,
"Storage layout".
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.formats.api import FileFactError
from harness.formats.files import avro, parquet
from harness.formats.hudi import log as hudi_log
from harness.formats.hudi import timeline
from harness.formats.hudi.log import BlockKind, LogBlock
from harness.model.file_facts import FileFact, FileKind

RECORD_KEY: Final = "_hoodie_record_key"
META: Final = ".hoodie"
BASE: Final = re.compile(r"(?P<group>[^_.][^_]*)_[^_]+_(?P<instant>\d+)\.parquet")
LOG: Final = re.compile(r"\.(?P<group>[^_]+)_(?P<instant>\d+)\.log\.\d+_[\d-]+(?P<cdc>\.cdc)?")
_BESIDE: Final = re.compile(r"\..*\.crc|\.hoodie_partition_metadata(\.parquet|\.orc)?")
"""Files in data folders that hold no rows."""


def facts(folder: Path, key: str) -> tuple[FileFact, ...]:
    """Return a fact for each base file and log block whose instant is completed, by path.

    Those of file groups that others took the place of are left out.

    `key`: the key column; record keys come from it where a table has no meta columns.
    """
    names = timeline.names(folder)
    done = set(timeline.requested(names))
    without_meta = properties(folder).get("hoodie.populate.meta.fields") == "false"
    replaced = timeline.replaced_groups(folder)
    read = _TableFiles(
        folder, done, timeline.begin(names), replaced, key if without_meta else RECORD_KEY
    )
    return tuple(fact for path in _files(folder) for fact in read.facts(path))


def uncompacted(facts: Sequence[FileFact]) -> int:
    """Count the log blocks that no base file of their group has taken in yet."""
    bases: dict[str, str] = {}
    for file_fact in (fact for fact in facts if fact.kind is FileKind.BASE):
        bases[file_fact.file_group] = max(file_fact.instant, bases.get(file_fact.file_group, ""))
    logs = (fact for fact in facts if fact.kind is FileKind.LOG)
    return sum(log.instant > bases.get(log.file_group, "") for log in logs)


def superseded(facts: Sequence[FileFact]) -> int:
    """Count the base files of whose group there is a newer one."""
    bases = [fact.file_group for fact in facts if fact.kind is FileKind.BASE]
    return len(bases) - len(set(bases))


def together(facts: Sequence[FileFact]) -> int:
    """Count the file groups that lie in a partition with others."""
    groups = {(fact.path.rpartition("/")[0], fact.file_group) for fact in facts}
    counts = Counter(folder for folder, _ in groups).values()
    return sum(count for count in counts if count > 1)


def properties(folder: Path) -> Mapping[str, str]:
    """Read `hoodie.properties`; empty when there is none."""
    path = folder / META / "hoodie.properties"
    if not path.is_file():
        return {}
    return parsed(path.read_text(encoding="utf-8"))


def parsed(text: str) -> Mapping[str, str]:
    """Return the properties that the text of such a file holds."""
    lines = text.splitlines()
    pairs = (line.partition("=") for line in lines if "=" in line and not line.startswith("#"))
    return {name.strip(): value.strip() for name, _, value in pairs}


def _files(folder: Path) -> Iterator[Path]:
    for name, folders, files in os.walk(folder):
        folders[:] = sorted(folder for folder in folders if folder != META)
        yield from (Path(name, file) for file in sorted(files) if not _BESIDE.fullmatch(file))


@dataclass(frozen=True, slots=True)
class _TableFiles:
    """Reads the files of one table."""

    folder: Path
    done: Collection[str]
    """The completed instants of the timeline."""
    begin: str
    """Its first instant."""
    replaced: Collection[str]
    """The file groups that are live no longer."""
    key: str
    """The column that holds the record key."""

    def facts(self, path: Path) -> Iterator[FileFact]:
        relative = path.relative_to(self.folder).as_posix()
        if base := BASE.fullmatch(path.name):
            if self._has(base["instant"]) and base["group"] not in self.replaced:
                footer = parquet.read(path, self.key)
                file = base["group"], base["instant"]
                yield FileFact(relative, FileKind.BASE, *file, footer.columns, footer.keys)
        elif (log := LOG.fullmatch(path.name)) and not log["cdc"]:
            if log["group"] not in self.replaced:
                yield from self._log(path, relative, log["group"])
        else:
            raise FileFactError(f"{relative}: neither a base file nor a log file by its name")

    def _has(self, instant: str) -> bool:
        return instant in self.done or instant < self.begin

    def _log(self, path: Path, relative: str, group: str) -> Iterator[FileFact]:
        try:
            for block in hudi_log.blocks(path.read_bytes()):
                if block.kind is not BlockKind.COMMAND and self._has(block.instant):
                    yield self._block(block, relative, group)
        except FileFactError as problem:
            raise FileFactError(f"{relative}: {problem}") from problem

    def _block(self, block: LogBlock, relative: str, group: str) -> FileFact:
        columns = avro.columns(block.schema) if hudi_log.SCHEMA in block.header else ()
        return FileFact(
            path=relative,
            kind=FileKind.LOG,
            file_group=group,
            instant=block.instant,
            columns=columns,
            keys=hudi_log.record_keys(block, self.key) if block.kind in hudi_log.DATA else (),
            deleted=hudi_log.deleted_keys(block) if block.kind is BlockKind.DELETE else (),
        )
