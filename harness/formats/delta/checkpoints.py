"""Checkpoints of a Delta log: all actions of a version together.

Source: Delta transaction log protocol, "Checkpoints": a file of Parquet, several of them together,
or a file of Parquet or JSON (V2) with files of its own for data files, the sidecars.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from harness.core.arrow import pa, pq
from harness.formats.api import FileFactError
from harness.formats.files import table_folder
from harness.formats.files.table_folder import TableFolder

LOG: Final = "_delta_log"
Action = Mapping[str, Any]
_NAME: Final = re.compile(
    r"(?P<version>\d{20})\.checkpoint"
    r"(\.(?P<part>\d{10})\.(?P<parts>\d{10})|\.[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?"
    r"\.(?P<kind>parquet|json)"
)
_SIDECARS: Final = f"{LOG}/_sidecars"
_ADD: Final = ("path", "partitionValues", "deletionVector")
"""What is read of an `add`."""
_MAPS: Final = ("partitionValues", "configuration")
"""What Arrow returns as pairs."""


@dataclass(frozen=True, slots=True)
class StoredCheckpoint:
    version: int
    names: tuple[str, ...]
    """Of its files in the log's folder, without sidecars."""


def complete(names: Iterable[str]) -> tuple[StoredCheckpoint, ...]:
    """Return the checkpoints of which all parts are there, oldest first; one for each version.

    >>> both = [f"{9:020}.checkpoint.{part:010}.{2:010}.parquet" for part in (1, 2)]
    >>> [len(point.names) for point in complete([*both, f"{5:020}.checkpoint.parquet"])]
    [1, 2]
    >>> complete(both[:1])
    ()
    """
    parts_of: dict[tuple[int, int], list[str]] = defaultdict(list)
    whole: dict[int, StoredCheckpoint] = {}
    for name in sorted(names):
        if match := _NAME.fullmatch(name):
            version, parts = int(match["version"]), int(match["parts"] or 0)
            parts_of[version, parts].append(name)
            if len(parts_of[version, parts]) == parts:
                whole[version] = StoredCheckpoint(version, tuple(parts_of[version, parts]))
            elif not parts:
                whole[version] = StoredCheckpoint(version, (name,))
    return tuple(whole[version] for version in sorted(whole))


def actions(
    folder: TableFolder, checkpoint: StoredCheckpoint, add: Collection[str] = _ADD
) -> Iterator[Action]:
    """Yield what a checkpoint says of protocol, schema and data files; `add`: of these what."""
    for name in checkpoint.names:
        for action in _read(folder, f"{LOG}/{name}", add):
            if not action.get("sidecar"):
                yield action
                continue
            path = unquote(action["sidecar"]["path"])
            outside = "/" in path
            home, _, last = path.rpartition("/")
            yield from _read(
                table_folder.at(home) if outside else folder.below(_SIDECARS), last, add
            )


def json_actions(content: bytes) -> Sequence[Action]:
    """Return the actions in a file of JSON lines; raises ValueError."""
    return tuple(json.loads(line) for line in content.decode().splitlines() if line.strip())


def _read(folder: TableFolder, path: str, add: Collection[str]) -> Iterator[Action]:
    try:
        if path.endswith(".json"):
            yield from json_actions(folder.text(path) or b"")
            return
        with folder.opened(path) as file, pq.ParquetFile(file) as stored:
            chosen = _chosen(stored.schema_arrow, add)
            for batch in stored.iter_batches(columns=chosen):
                for action in batch.to_pylist():
                    yield {name: _with_maps(content) for name, content in action.items() if content}
    except (pa.ArrowException, ValueError) as problem:
        raise FileFactError(f"{path}: {problem}") from problem


def _chosen(schema: Any, add: Collection[str]) -> list[str]:  # noqa: ANN401 - Arrow's
    names = [name for name in ("protocol", "metaData", "sidecar") if name in schema.names]
    if "add" not in schema.names:
        return names
    type_ = schema.field("add").type
    return [*names, *(f"add.{part}" for part in add if type_.get_field_index(part) >= 0)]


def _with_maps(content: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        name: dict(value) if name in _MAPS and value is not None else value
        for name, value in content.items()
    }
