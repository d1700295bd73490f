"""What the data files of a Hudi table say of themselves."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from harness.formats.api import FileFactError
from harness.formats.files import avro, parquet
from harness.formats.hudi import log as hudi_log
from harness.formats.hudi import records, timeline
from harness.formats.hudi.log import BlockKind
from harness.formats.hudi.records import BASE, LOG, META, HudiTable
from harness.model.file_facts import FileFact, FileKind

RECORD_KEY: Final = "_hoodie_record_key"
_BESIDE: Final = re.compile(r"\..*\.crc|\.hoodie_partition_metadata(\.parquet|\.orc)?")
"""Files in data folders that hold no rows."""


def facts(folder: Path, key: str) -> tuple[FileFact, ...]:
    """Return a fact for each base file and log block of a completed instant that nothing replaced.

    `key`: where record keys come from if a table has no meta columns.
    """
    table = records.local(folder)
    replaced = frozenset[str]()
    for entry in table.replacements():
        replaced |= timeline.replaced_groups(table.record(entry), entry.path)
    if table.properties.get("hoodie.populate.meta.fields") != "false":
        key = RECORD_KEY
    return tuple(fact for path in _files(folder) for fact in _facts(table, path, replaced, key))


def _files(folder: Path) -> Iterator[Path]:
    for name, folders, files in os.walk(folder):
        folders[:] = sorted(folder for folder in folders if folder != META)
        yield from (Path(name, file) for file in sorted(files) if not _BESIDE.fullmatch(file))


def _facts(table: HudiTable, path: Path, replaced: Collection[str], key: str) -> Iterator[FileFact]:
    relative = path.relative_to(table.folder.root).as_posix()
    name = BASE.fullmatch(path.name) or LOG.fullmatch(path.name)
    if name is None:
        raise FileFactError(f"{relative}: neither a base file nor a log file by its name")
    group = name["group"]
    if group in replaced:
        return
    if name.re is BASE:
        if table.has(name["instant"]):
            footer = parquet.read(path, key)
            file = group, name["instant"], footer.columns, footer.keys
            yield FileFact(relative, FileKind.BASE, *file)
    elif not name["cdc"]:
        try:
            for block in hudi_log.blocks(path.read_bytes()):
                if block.kind is not BlockKind.COMMAND and table.has(block.instant):
                    yield FileFact(
                        relative,
                        FileKind.LOG,
                        group,
                        block.instant,
                        avro.columns(block.schema) if hudi_log.SCHEMA in block.header else (),
                        hudi_log.record_keys(block, key) if block.kind in hudi_log.DATA else (),
                        hudi_log.deleted_keys(block) if block.kind is BlockKind.DELETE else (),
                    )
        except FileFactError as problem:
            raise FileFactError(f"{relative}: {problem}") from problem


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
