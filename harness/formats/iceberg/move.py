"""A copy of an Iceberg table is made to name its files where they lie.

Sources: Iceberg table specification, "Manifests", "Manifest Lists", "Position Delete Files" (with
the bounds of reserved field ids) and "Table Metadata"; Puffin specification, "Footer structure".
"""

import gzip
import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.core.arrow import fastavro, pa, pq
from harness.formats.api import FileFactError
from harness.formats.files import table_folder
from harness.formats.files.locations import Locations, bare
from harness.formats.files.table_folder import TableFolder
from harness.formats.iceberg import puffin
from harness.formats.iceberg import table as iceberg_table
from harness.formats.iceberg.table import METADATA, IcebergMetadata, parse

FILE_PATH: Final = "file_path"
_AVRO: Final = "*.avro"
_JSON: Final = (".metadata.json", ".metadata.json.gz")
_METADATA_FILES: Final = (".avro", *_JSON)
_DELETES: Final = "deletes"
_SCHEME: Final = re.compile(r"\w[\w+.-]*:")
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
    deletes: dict[str, str] = field(default_factory=dict)
    """The new paths of files that say which rows are deleted, by where they lie."""

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
        if data_file.get("content") == 1:
            data_file = {**data_file, FILE_PATH: self._moved_deletes(data_file[FILE_PATH])}
        size = self.sizes.get(data_file[FILE_PATH], data_file.get("file_size_in_bytes"))
        return {**result, "data_file": {**data_file, "file_size_in_bytes": size}}

    def _moved_deletes(self, path: str) -> str:
        """Change the paths in a file of deletes; from elsewhere it is copied into the folder."""
        if path in self.deletes or not (content := _content(self.inside(path), path)):
            return self.deletes.get(path, path)
        inside = path.startswith(f"{self.new}/")
        name = f"{_DELETES}/{len(self.deletes)}-{path.rpartition('/')[2]}"
        new = path if inside else f"{self.new}/{name}"
        self.inside(new).parent.mkdir(exist_ok=True)
        self.write(self.inside(new), _with_other_paths(content, path, self.any))
        self.deletes[path] = new
        return new

    def listed(self, record: dict[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = self.any(record)
        size = self.sizes.get(result["manifest_path"], result["manifest_length"])
        return {**result, "manifest_length": size}

    def avro(self, path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        reader = fastavro.reader(io.BytesIO(path.read_bytes()))
        records = [change(record) for record in reader]  # type: ignore[arg-type] # of mappings
        metadata = {k: v for k, v in reader.metadata.items() if not k.startswith(_AVRO_KEYS)}
        out = io.BytesIO()
        fastavro.writer(out, reader.writer_schema, records, reader.codec, metadata=metadata)
        self.write(path, out.getvalue())


def move(folder: Path, location: str) -> None:
    """Let the files of a table, which was copied into `folder`, name a path as their location."""
    old = str(parse(_json(folder)[-1].read_bytes())["location"]).rstrip("/")
    scheme = "" if "://" in location else old.partition("/")[0]  # `file:`, or none
    new = f"{scheme}{location.rstrip('/')}"
    relocate(folder, Locations({old: new}), new)


def _json(folder: Path) -> list[Path]:
    """Return the metadata files of a table; checksums (`.v1.metadata.json.crc`) lie beside them."""
    return sorted(path for path in (folder / METADATA).iterdir() if path.name.endswith(_JSON))


def of_copy(folder: TableFolder, location: str, metadata: str) -> Locations:
    """Return where the files of a table lie now, whose folder was copied from elsewhere.

    `metadata`: the path of its metadata file in the folder. It was copied where the current
    snapshot's list of manifests lies in the folder, and not where the metadata say. Raises
    FileFactError, UnreadableError.
    """
    table = IcebergMetadata(iceberg_table.read(folder, metadata))
    inline = table.current.get("manifests") or ("",)
    recorded = str(table.current.get("manifest-list") or inline[0])
    root, _, name = recorded.rpartition(f"/{METADATA}/")
    here = location.removeprefix("file:").rstrip("/")
    if not name or bare(root) == bare(here) or folder.text(f"{METADATA}/{name}") is None:
        return Locations()
    head, _, name = recorded.rpartition("/")
    local = not _SCHEME.match(recorded) or recorded.startswith("file:")
    if local and table_folder.at(head).text(name) is not None:
        return Locations()
    roots = {root, str(table.metadata.get("location", root)).rstrip("/")}
    whole = _warehouse(root, here)
    return Locations({**dict.fromkeys((*roots, *map(bare, roots)), here), **whole})


def _warehouse(root: str, here: str) -> dict[str, str]:
    """Return where what lies beside the table lies now: a whole warehouse may have been copied."""
    before, now = root.split("/"), here.split("/")
    same = 0
    while same < min(len(before), len(now)) - 1 and before[-1 - same] == now[-1 - same]:
        same += 1
    ends = len(before) - same
    return {"/".join(before[: ends + 1]): "/".join(now[: len(now) - same + 1])} if same > 1 else {}


def copied(folder: TableFolder, metadata: str, locations: Locations, into: Path) -> str:
    """Copy the metadata of a moved table into a new folder, where they name its files as they lie.

    Return the path of the metadata file there. Raises FileFactError, UnreadableError.
    """
    (into / METADATA).mkdir(parents=True)
    for file in folder.listed(METADATA):
        if not file.folder and file.name.endswith(_METADATA_FILES):
            (into / file.path).write_bytes(folder.text(file.path) or b"")
    of_metadata = {f"{root}/{METADATA}": f"{into}/{METADATA}" for root in locations.moved}
    relocate(into, Locations({**locations.moved, **of_metadata}), str(into))
    return f"{into}/{metadata}"


def _content(inside: Path, path: str) -> bytes | None:
    """Return what a file holds, in the folder or wherever it lies; None if there is none."""
    if inside.is_file():
        return inside.read_bytes()
    head, _, name = path.rpartition("/")
    return table_folder.at(head).text(name)


def relocate(folder: Path, locations: Locations, new: str) -> None:
    """Let the files of a table in `folder` name its files where locations say that they lie.

    `new`: the path of the table that they name then.
    """
    made, lists = _Move(folder, locations, new), []
    for path in sorted((folder / METADATA).glob(_AVRO)):
        with path.open("rb") as file:
            schema: Any = fastavro.reader(file).writer_schema
        if any(field["name"] == "manifest_path" for field in schema["fields"]):
            lists.append(path)
        else:
            made.avro(path, made.manifest)
    for path in lists:
        made.avro(path, made.listed)
    for path in _json(folder):
        content = json.dumps(made.any(parse(path.read_bytes()))).encode()
        path.write_bytes(gzip.compress(content) if ".gz" in path.suffixes else content)


def _with_other_paths(content: bytes, path: str, change: Callable[[Any], Any]) -> bytes:
    if path.endswith(".puffin"):
        # A blob without a footer stays as it is: it is none, whatever its path says.
        return puffin.with_footer(content, change) if puffin.is_framed(content) else content
    if not content.startswith(b"PAR1"):
        raise FileFactError(f"{path}: the paths in it cannot be changed; those of Parquet can")
    table = pq.read_table(io.BytesIO(content))
    at = table.schema.get_field_index(FILE_PATH)
    paths = pa.array(map(change, table.column(at).to_pylist()), pa.string())
    out = io.BytesIO()
    pq.write_table(table.set_column(at, table.schema.field(at), paths), out)
    return out.getvalue()
