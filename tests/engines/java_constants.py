"""A constant of a compiled Java class, read without running it.

Source: Java Virtual Machine Specification (Java SE 17), 4.1, 4.4, 4.5 and 4.7.2.
"""

import struct
import zipfile
from pathlib import Path

BYTES = {
    3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4,
    12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2,
}  # fmt: skip
UTF8, INTEGER, TWO_SLOTS = 1, 3, (5, 6)


def boolean(jar: Path, class_name: str, field: str) -> bool:
    with zipfile.ZipFile(jar) as zip_file:
        compiled = zip_file.read(f"{class_name.replace('.', '/')}.class")
    texts, numbers, at = _pool(compiled)
    (interfaces,) = struct.unpack_from(">H", compiled, at + 6)
    at += 8 + 2 * interfaces
    (fields,) = struct.unpack_from(">H", compiled, at)
    at += 2
    for _ in range(fields):
        _, name, _, attributes = struct.unpack_from(">4H", compiled, at)
        at += 8
        for _ in range(attributes):
            kind, size = struct.unpack_from(">HI", compiled, at)
            if texts[name] == field and texts[kind] == "ConstantValue":
                return bool(numbers[struct.unpack_from(">H", compiled, at + 6)[0]])
            at += 6 + size
    raise KeyError(field)


def _pool(compiled: bytes) -> tuple[dict[int, str], dict[int, int], int]:
    """Return the texts and the whole numbers of the constant pool, and where it ends."""
    (slots,) = struct.unpack_from(">H", compiled, 8)
    texts, numbers, at, slot = dict[int, str](), dict[int, int](), 10, 1
    while slot < slots:
        tag = compiled[at]
        if tag == UTF8:
            (length,) = struct.unpack_from(">H", compiled, at + 1)
            texts[slot] = compiled[at + 3 : at + 3 + length].decode("utf-8", "replace")
            at += 3 + length
        else:
            if tag == INTEGER:
                (numbers[slot],) = struct.unpack_from(">i", compiled, at + 1)
            at += 1 + BYTES[tag]
        slot += 2 if tag in TWO_SLOTS else 1
    return texts, numbers, at
