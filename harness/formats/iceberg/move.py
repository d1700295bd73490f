"""A copy of an Iceberg table is made to name its files where they lie.

Sources: Iceberg table specification, "Manifests", "Manifest Lists", "Position Delete Files" (with
the bounds of reserved field ids) and "Table Metadata"; Puffin specification, "Footer structure".
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.formats.files.locations import Locations
from harness.formats.iceberg import puffin
from harness.formats.iceberg.table import METADATA, parse

FILE_PATH: Final = "file_path"
_AVRO: Final = "*.avro"
_JSON: Final = "*.metadata.json"
_AVRO_KEYS: Final = "avro."
"""How the keys begin that Avro itself keeps in a file's metadata."""


@dataclass(frozen=True, slots=True)
class _Move:
    folder: Path
    locations: Locations
    new: str
    """The path of the table that its files name then."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Of files that became longer or shorter, by their new paths."""

    def any(self, value: Any) -> Any:  # noqa: ANN401 - whatever a record holds
        """Return a value with every path in it changed, in its texts and in bounds of paths."""
        match value:
            case str():
                return self.locations.of(value)
            case bytes():
                # A bound of paths may be cut in the midst of a letter.
                text = value.decode("utf-8", "surrogateescape")
                return self.locations.of(text).encode("utf-8", "surrogateescape")
            case Mapping():
                return {name: self.any(part) for name, part in value.items()}
            case list():
                return [self.any(part) for part in value]
        return value

    def inside(self, path: str) -> Path:
        """Return where a file of the table lies; `path` is the new one."""
        return self.folder / path.removeprefix(self.new).lstrip("/")

    def write(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        self.sizes[f"{self.new}/{path.relative_to(self.folder)}"] = len(content)

    def manifest(self, record: dict[str, Any]) -> dict[str, Any]:
        """Change an entry of a manifest, and the delete file that it tells of."""
        result: dict[str, Any] = self.any(record)
        data_file = result["data_file"]
        path = self.inside(data_file[FILE_PATH])
        if data_file.get("content") == 1 and data_file[FILE_PATH] not in self.sizes:
            move = _puffin if path.suffix == ".puffin" else _position_deletes
            if path.is_file():
                self.write(path, move(path.read_bytes(), self.any))
        size = self.sizes.get(data_file[FILE_PATH], data_file["file_size_in_bytes"])
        return {**result, "data_file": {**data_file, "file_size_in_bytes": size}}

    def listed(self, record: dict[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = self.any(record)
        size = self.sizes.get(result["manifest_path"], result["manifest_length"])
        return {**result, "manifest_length": size}

    def avro(self, path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        import fastavro  # noqa: PLC0415 - only who moves a table needs it

        reader = fastavro.reader(io.BytesIO(path.read_bytes()))
        records = [change(record) for record in reader]  # type: ignore[arg-type] # of mappings
        metadata = {k: v for k, v in reader.metadata.items() if not k.startswith(_AVRO_KEYS)}
        out = io.BytesIO()
        fastavro.writer(out, reader.writer_schema, records, reader.codec, metadata=metadata)
        self.write(path, out.getvalue())


def move(folder: Path, location: str) -> None:
    """Let the files of a table, which was copied into `folder`, name a path as their location."""
    named = sorted((folder / METADATA).glob(_JSON))
    old = str(parse(named[-1].read_bytes())["location"]).rstrip("/")
    scheme = old.partition("/")[0]  # `file:`, or none
    new = f"{scheme}{location.rstrip('/')}"
    relocate(folder, Locations({old: new}), new)


def relocate(folder: Path, locations: Locations, new: str) -> None:
    """Let the files of a table in `folder` name its files where locations say that they lie.

    `new`: the path of the table that they name then.
    """
    made, lists = _Move(folder, locations, new), []
    for path in sorted((folder / METADATA).glob(_AVRO)):
        if _is_list(path):
            lists.append(path)
        else:
            made.avro(path, made.manifest)
    for path in lists:
        made.avro(path, made.listed)
    for path in sorted((folder / METADATA).glob(_JSON)):
        content = json.dumps(made.any(parse(path.read_bytes()))).encode()
        path.write_bytes(content)


def _is_list(path: Path) -> bool:
    import fastavro  # noqa: PLC0415 - only who moves a table needs it

    with path.open("rb") as file:
        schema: Any = fastavro.reader(file).writer_schema
    return any(field["name"] == "manifest_path" for field in schema["fields"])


def _position_deletes(content: bytes, change: Callable[[Any], Any]) -> bytes:
    import pyarrow as pa  # noqa: PLC0415 - only who moves a table needs it
    import pyarrow.parquet as pq  # noqa: PLC0415

    table = pq.read_table(io.BytesIO(content))
    at = table.schema.get_field_index(FILE_PATH)
    paths = pa.array(map(change, table.column(at).to_pylist()), pa.string())
    out = io.BytesIO()
    pq.write_table(table.set_column(at, table.schema.field(at), paths), out)
    return out.getvalue()


def _puffin(content: bytes, change: Callable[[Any], Any]) -> bytes:
    """Return a Puffin file whose footer has other paths; its blobs stay where they are.

    A blob without a footer stays as it is: it is none, whatever its path says.
    """
    return puffin.with_footer(content, change) if puffin.is_framed(content) else content
