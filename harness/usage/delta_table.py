"""What the log of a Delta table says.

Source: Delta transaction log protocol, "Delta Log Entries", "Actions", "Checkpoints".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from harness.usage import data_footer
from harness.usage import schema_changes as diff
from harness.usage.catalog_table import CatalogTable
from harness.usage.doubts import Doubts
from harness.usage.schema_changes import STRUCT, ColumnPart
from harness.usage.table_folder import TableFolder, UnreadableError
from harness.usage.used_tables import Fact, OldFiles, TableFacts, UsedChange, UsedFormat

LOG: Final = "_delta_log"
COMMIT: Final = re.compile(r"(?P<version>\d{20})\.json")
CHECKPOINT: Final = re.compile(r"(?P<version>\d{20})\.checkpoint\.parquet")
ID: Final = "delta.columnMapping.id"
MAPPING: Final = "delta.columnMapping.mode"
_VECTORS: Final = "deletionVector"
_BEFORE: Final = -1
"""The version of files that were added before the log begins."""


@dataclass(slots=True)
class _Log:
    """What the commits say that are still there, read one after another."""

    protocol: Mapping[str, Any] = field(default_factory=dict)
    schemas: list[tuple[int, tuple[ColumnPart, ...]]] = field(default_factory=list)
    """Each with the version that brought it."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    live: dict[str, int] = field(default_factory=dict)
    """The version that added each file which is part of the table."""
    gone: dict[str, int] = field(default_factory=dict)
    """The same of those that are no longer; one that is added again is as old as it was."""
    begin: int = _BEFORE
    """The version of the checkpoint that was taken in; its schema is that of all before it."""
    whole: bool = True
    """Whether all files that are part of the table were seen."""
    features: set[str] = field(default_factory=set)
    engines: set[str] = field(default_factory=set)

    def take(self, version: int, action: Mapping[str, Any]) -> None:
        """Take an action of a version into account."""
        if told := action.get("protocol"):
            self.protocol = told
        if (told := action.get("metaData")) and (version > self.begin or not self.schemas):
            self.metadata = told
            self.schemas.append((version, _columns(json.loads(told["schemaString"])["fields"])))
        if told := action.get("add"):
            self.live[told["path"]] = self.gone.pop(told["path"], version)
            if told.get(_VECTORS):
                self.features.add("deletion-vectors")
        if told := action.get("remove"):
            self.gone[told["path"]] = self.live.pop(told["path"], version)
        if told := action.get("commitInfo"):
            self.engines.add(str(told.get("engineInfo", "")))


def read(folder: TableFolder, table: CatalogTable) -> TableFacts:  # noqa: ARG001 - of the contract
    """Read the log: commits, and the checkpoint from before them where they are not all there.

    Raises:
        UnreadableError: there is none, or it cannot be understood.

    """
    doubts = Doubts()
    try:
        log = _log(folder, doubts)
        return TableFacts(
            UsedFormat.DELTA,
            _version(log.protocol),
            bool(log.metadata.get("partitionColumns")),
            sorted({*log.features, *_features(log)}),
            data_footer.words(log.engines),
            tuple(_changes(log)),
            doubts.unknown,
            doubts.why,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise UnreadableError(f"its log cannot be understood: {problem!r}") from problem


def _log(folder: TableFolder, doubts: Doubts) -> _Log:
    names = [each.name for each in folder.listed(LOG)]
    commits = sorted(filter(COMMIT.fullmatch, names))
    checkpoints = sorted(filter(CHECKPOINT.fullmatch, names))
    if not commits and not checkpoints:
        raise UnreadableError(f"there is no {LOG}, or nothing in it")
    log = _Log()
    if not commits or int(commits[0][:20]) > 0:
        doubts.add(Fact.SCHEMA_CHANGES, "the log does not have its first versions any more")
        _take_checkpoint(folder, log, commits, checkpoints)
    for name in commits:
        for action in _actions(folder.text(f"{LOG}/{name}") or b""):
            log.take(int(name[:20]), action)
    if not log.metadata:
        for fact in (Fact.TABLE_VERSION, Fact.PARTITIONED, Fact.FEATURES):
            doubts.add(fact, "no commit or checkpoint that can be read has the table's metadata")
    return log


def _actions(text: bytes) -> list[Mapping[str, Any]]:
    """Return the actions of a commit, those that remove files first: they may be added again."""
    found = [json.loads(line) for line in text.splitlines() if line.strip()]
    return sorted(found, key=lambda each: "add" in each)


def _take_checkpoint(
    folder: TableFolder, log: _Log, commits: Iterable[str], checkpoints: Iterable[str]
) -> None:
    """Take in the first checkpoint from which the commits that are there go on.

    Its files count as older than the log, unless a commit that is there added them.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - only reading needs it

    first = min((int(each[:20]) for each in commits), default=0)
    usable = [each for each in checkpoints if int(each[:20]) >= first - 1]
    log.whole = bool(usable)
    if not usable:
        return
    log.begin = int(usable[0][:20])
    with folder.opened(f"{LOG}/{usable[0]}") as file, pq.ParquetFile(file) as found:
        add = found.schema_arrow.field("add").type
        parts = (f"add.{each}" for each in ("path", _VECTORS) if add.get_field_index(each) >= 0)
        columns = ["protocol", "metaData", *parts]
        for batch in found.iter_batches(columns=columns):
            for action in batch.to_pylist():
                log.take(_BEFORE, {name: told for name, told in action.items() if told})


def _version(protocol: Mapping[str, Any]) -> str:
    """Return the versions of the protocol: what readers need and what writers need."""
    return f"{protocol['minReaderVersion']}/{protocol['minWriterVersion']}" if protocol else ""


def _features(log: _Log) -> Iterator[str]:
    """Yield the protocol's own names of features, and settings that change what files hold."""
    for side in ("readerFeatures", "writerFeatures"):
        yield from (str(each) for each in log.protocol.get(side) or ())
    told = dict(log.metadata.get("configuration") or {})
    if (mode := told.get(MAPPING, "none")) != "none":
        yield f"column-mapping-by-{mode}"
    if told.get("delta.enableChangeDataFeed") == "true":
        yield "change-data-feed"


def _columns(fields: Iterable[Mapping[str, Any]]) -> tuple[ColumnPart, ...]:
    return tuple(
        _part(each["name"], each.get("metadata", {}).get(ID, each["name"]), each["type"])
        for each in fields
    )


def _part(name: str, number: int | str, type_: Any) -> ColumnPart:  # noqa: ANN401 - JSON
    match type_:
        case {"type": "struct", "fields": fields}:
            return ColumnPart(number, name, STRUCT, _columns(fields))
        case {"type": "array", "elementType": element}:
            return ColumnPart(number, name, "array", (_part("element", "element", element),))
        case {"type": "map", "keyType": key, "valueType": value}:
            inner = (_part("key", "key", key), _part("value", "value", value))
            return ColumnPart(number, name, "map", inner)
    return ColumnPart(number, name, str(type_))


def _changes(log: _Log) -> Iterator[UsedChange]:
    """Yield the changes between schemas that follow each other."""
    oldest = min(log.live.values(), default=None)
    for (_, before), (version, after) in pairwise(log.schemas):
        old = OldFiles.NO if log.whole else OldFiles.UNKNOWN
        if oldest is not None and oldest < version:
            old = OldFiles.YES
        one, other = _alike(before, after)
        yield from diff.between(one, other, old)


def _alike(
    before: tuple[ColumnPart, ...], after: tuple[ColumnPart, ...]
) -> tuple[tuple[ColumnPart, ...], tuple[ColumnPart, ...]]:
    """Return both by their names where only one has ids: column mapping was enabled."""
    with_ids = [any(isinstance(each.id, int) for each in side) for side in (before, after)]
    return (before, after) if len(set(with_ids)) == 1 else (_by_name(before), _by_name(after))


def _by_name(parts: Iterable[ColumnPart]) -> tuple[ColumnPart, ...]:
    return tuple(
        ColumnPart(each.name, each.name, each.type, _by_name(each.parts)) for each in parts
    )
