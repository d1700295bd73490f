"""Which rows of a data file a deletion vector of Delta marks as gone.

Source: Delta transaction log protocol, "Deletion Vector Descriptor Schema".
"""

import base64
import struct
from typing import Final
from urllib.parse import unquote
from uuid import UUID

from harness.formats.api import FileFactError
from harness.formats.delta.checkpoints import Action
from harness.formats.files import deletion_vectors, table_folder
from harness.formats.files.table_folder import TableFolder, UnreadableError

_UUID_TEXT: Final = 20
"""The signs that a UUID has in base 85; a prefix of the folder's name stands before."""
INLINE, RELATIVE, ABSOLUTE = "i", "u", "p"
_Z85: Final = (
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
)
_B85: Final = (
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
)
_FROM_Z85: Final = str.maketrans(_Z85, _B85)
"""The alphabet of ZeroMQ is another than that of Python."""


def deleted(folder: TableFolder, vector: Action) -> frozenset[int]:
    """Return the positions of the rows that a descriptor says are gone."""
    try:
        positions = deletion_vectors.positions(_stored(folder, vector))
    except (ValueError, struct.error, UnreadableError) as problem:
        raise FileFactError(f"deletion vector {vector['pathOrInlineDv']}: {problem}") from problem
    if len(positions) != vector["cardinality"]:
        counts = f"it has {len(positions)} rows, and says {vector['cardinality']}"
        raise FileFactError(f"deletion vector {vector['pathOrInlineDv']}: {counts}")
    return positions


def _stored(folder: TableFolder, vector: Action) -> bytes:
    text, kind, length = str(vector["pathOrInlineDv"]), vector["storageType"], vector["sizeInBytes"]
    if kind == INLINE:
        return _base85(text)[: int(length)]
    if kind == RELATIVE:
        prefix, name = text[:-_UUID_TEXT], UUID(bytes=_base85(text[-_UUID_TEXT:]))
        name_of_file = f"deletion_vector_{name}.bin"
        home, path = folder, f"{prefix}/{name_of_file}" if prefix else name_of_file
    elif kind == ABSOLUTE:
        head, _, path = unquote(text).rpartition("/")
        home = table_folder.at(head)
    else:
        raise ValueError(f"its storage type is {kind}; {INLINE}, {RELATIVE} and {ABSOLUTE} are")
    with home.opened(path) as file:
        file.seek(vector.get("offset") or 0)
        (size,) = struct.unpack(">i", file.read(4))
        if size != length:
            raise ValueError(f"its file says {size} bytes, its descriptor {length}")
        return file.read(size)


def _base85(text: str) -> bytes:
    return base64.b85decode(text.translate(_FROM_Z85))
