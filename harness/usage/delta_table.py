"""What the log of a Delta table says of its use."""

from collections.abc import Iterator
from itertools import pairwise

from harness.formats.api import FileFactError
from harness.formats.delta import log as delta_log
from harness.formats.delta.checkpoints import LOG
from harness.formats.delta.log import DeltaLog
from harness.formats.files import data_files
from harness.formats.files.column_parts import by_name
from harness.formats.files.table_folder import TableFolder, UnreadableError
from harness.usage import schema_changes as diff
from harness.usage.catalog_table import CatalogTable
from harness.usage.usage_file import Doubts, Fact, OldFiles, UsedChange, UsedFormat, UsedTable

VERSIONS = ("minReaderVersion", "minWriterVersion")


def read(folder: TableFolder, table: CatalogTable) -> UsedTable:
    doubts = Doubts()
    try:
        log = delta_log.read(folder)
        if not log.commits:
            raise UnreadableError(f"there is no {LOG}, or nothing in it")
        _doubt(log, doubts)
        metadata = log.metadata[max(log.metadata)] if log.metadata else {}
        return UsedTable(
            table.name,
            UsedFormat.DELTA,
            # What readers need and what writers need.
            table_version="/".join(str(log.protocol[name]) for name in VERSIONS if log.protocol),
            partitioned=bool(metadata.get("partitionColumns")),
            features=tuple(sorted(set(_features(log)))),
            writers=data_files.short_names(
                str(info.get("engineInfo", ""))
                for commit in log.commits
                for info in commit.all("commitInfo")
            ),
            schema_changes=tuple(_changes(log)),
            unknown=doubts.unknown,
            why=doubts.why,
        )
    except (KeyError, TypeError, ValueError, AttributeError, FileFactError) as problem:
        raise UnreadableError(f"its log cannot be understood: {problem!r}") from problem


def _doubt(log: DeltaLog, doubts: Doubts) -> None:
    if not log.commits or log.commits[0].version != 0:
        doubts.add(Fact.SCHEMA_CHANGES, "the log does not have its first versions any more")
    if not log.metadata:
        for fact in (Fact.TABLE_VERSION, Fact.PARTITIONED, Fact.FEATURES):
            doubts.add(fact, "no commit or checkpoint that can be read has the table's metadata")


def _features(log: DeltaLog) -> Iterator[str]:
    """Yield the protocol's own names of features, and settings that change what files hold."""
    if any(action.get(delta_log.VECTOR) for commit in log.commits for action in commit.all("add")):
        yield "deletion-vectors"
    for side in ("readerFeatures", "writerFeatures"):
        yield from map(str, log.protocol.get(side) or ())
    if (mode := log.properties.get(delta_log.MODE, "none")) != "none":
        yield f"column-mapping-by-{mode}"
    if log.properties.get(delta_log.CHANGE_FEED) == "true":
        yield "change-data-feed"


def _changes(log: DeltaLog) -> Iterator[UsedChange]:
    """Yield the changes between schemas that follow each other."""
    schemas = [(version, delta_log.columns(fields)) for version, fields in log.schemas.items()]
    oldest = min((file.version for file in log.live()), default=None)
    for (_, before), (version, after) in pairwise(schemas):
        sides = before, after
        old = OldFiles.NO if log.complete else OldFiles.UNKNOWN
        if oldest is not None and oldest < version:
            old = OldFiles.YES
        if len({any(isinstance(part.id, int) for part in side) for side in sides}) > 1:
            # Column mapping was enabled: only one has ids.
            sides = by_name(before, str), by_name(after, str)
        yield from diff.between(*sides, old)
