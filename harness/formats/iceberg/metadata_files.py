"""Which metadata file of an Iceberg table is the newest, where no catalog says it.

Source: Iceberg table specification, "File System Tables"; `HadoopTableOperations` for the hint.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from harness.formats.api import FileFactError
from harness.formats.files.table_folder import TableFolder
from harness.formats.iceberg.table import METADATA, newest, parse

NAME: Final = re.compile(r"v?(?P<number>\d+)(-[\w-]+)?(\.gz)?\.metadata\.json(\.gz)?")
"""Names of metadata files, with a catalog and without one (specification, "Metastore Tables" and
"File System Tables"; `TableMetadataParser.getFileExtension`)."""
_SUFFIX: Final = ".metadata.json"
_HINT: Final = "version-hint.text"


def current(folder: TableFolder) -> str:
    """Return the path in a table's folder; raises FileFactError, UnreadableError.

    The hint's number counts and every one that follows it without a gap; without a hint the
    greatest number, else the file that was written last.
    """
    files = (file for file in folder.listed(METADATA) if _SUFFIX in file.name)
    listed = [file for file in files if not file.name.startswith(".")]
    names = [file.name for file in listed]
    numbers = {name: int(match["number"]) for name in names if (match := NAME.fullmatch(name))}
    if not numbers and names:  # other names than the specification's
        return max(listed, key=lambda file: (file.modified, file.name)).path
    if not numbers:
        raise FileFactError(f"there is no metadata file in its folder {METADATA}")
    hint = (folder.text(f"{METADATA}/{_HINT}") or b"").decode("utf-8", "replace").strip()
    hinted = _hinted({n: at for n, at in numbers.items() if n.startswith("v")}, hint)

    def metadata(name: str) -> Mapping[str, Any]:
        return read(folder, f"{METADATA}/{name}")

    return f"{METADATA}/{hinted or newest(numbers, metadata)}"


def _hinted(numbers: Mapping[str, int], hint: str) -> str:
    """Return the file that a hint leads to; none where it is no number or there is no such file."""
    if not hint.isdecimal() or int(hint) not in numbers.values():
        return ""
    number = int(hint)
    while number + 1 in numbers.values():
        number += 1
    return min(name for name, at in numbers.items() if at == number)


def read(folder: TableFolder, path: str) -> Mapping[str, Any]:
    """Return what a metadata file says; raises FileFactError, UnreadableError."""
    content = folder.text(path)
    if content is None:
        raise FileFactError(f"{path}: there is no such file")
    try:
        metadata = parse(content)
    except (ValueError, OSError, EOFError) as problem:
        raise FileFactError(f"{path}: it is not JSON: {problem}") from problem
    if "format-version" not in metadata:
        raise FileFactError(f"{path}: it is no metadata of an Iceberg table")
    return metadata
