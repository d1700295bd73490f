"""Properties that nobody reads: Spark takes any name without a word, and Hudi never hears of it.

What reads a property has its name among the constants of a class, or the beginning of a name that
is put together at a point (`spark.sql.catalog.` and a catalog's name). A name of which no class has
either is read by nobody; where a class has its beginning, nothing is known. None of the 637 keys
that classes of Hudi 1.0.2 declare (`ConfigProperty`) is taken for one that nobody reads, nor is any
of the 207 that Spark 3.5.8 lists (`SET -v`).

Source of what is looked for: Java Virtual Machine Specification (Java SE 17), 4.4.7.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

SPARK: Final = "spark.sql."
HUDI: Final = "hoodie."
_UTF8: Final = 1


def unread(names: Iterable[str], class_path: Sequence[Path]) -> tuple[str, ...]:
    """Return which of these properties of Spark's SQL or of Hudi no class reads.

    `class_path`: jars that are added to Spark, and its own folder of jars.
    """
    names = tuple(names)
    added = [path for path in class_path if path.is_file()]
    own = [jar for folder in class_path for jar in sorted(folder.glob("spark-*.jar"))]
    spark, hudi = ([name for name in names if name.startswith(family)] for family in (SPARK, HUDI))
    return (*_absent(spark, (*own, *added)), *_absent(hudi, added))


def _absent(names: Iterable[str], jars: Iterable[Path]) -> tuple[str, ...]:
    left = {name: _constants(name) for name in names}
    for compiled in _classes(jars):
        left = {name: of for name, of in left.items() if not any(map(compiled.__contains__, of))}
        if not left:
            break
    return tuple(left)


def _constants(name: str) -> tuple[bytes, ...]:
    """Return the constants by which a class reads a property, as its file has them."""
    family = SPARK if name.startswith(SPARK) else HUDI
    points = [at for at, letter in enumerate(name) if letter == "." and at >= len(family)]
    beginnings = (name[:end] for at in points for end in (at, at + 1))
    texts = (beginning.encode() for beginning in (name, *beginnings))
    return tuple(struct.pack(">BH", _UTF8, len(text)) + text for text in texts)


def _classes(jars: Iterable[Path]) -> Iterator[bytes]:
    for jar in jars:
        with zipfile.ZipFile(jar) as found:
            for name in found.namelist():
                if name.endswith(".class"):
                    yield found.read(name)
