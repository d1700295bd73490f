"""What Hudi's streamer runs with: its jar, in which names that the bundle has moved are rewritten.

No Spark bundle has the streamer, and `hudi-utilities` alone names classes of Spark and of
JCommander as their own projects do. The bundle has them under names of Hudi's. So whatever is seen
of the streamer is seen of a modified one.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.artifacts import class_patch, distributions, fetch, pyspark_home
from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.engines.spark import conf
from harness.plan import own_distributions

NAME: Final = "spark-3.4.4-hudi-0.14.0-streamer"
WHERE: Final = Path(__file__).with_name("streamer_scenarios")
MOVED: Final = {
    "org/apache/spark/sql/avro/": "org/apache/hudi/org/apache/spark/sql/avro/",
    "com/beust/jcommander/": "org/apache/hudi/com/beust/jcommander/",
}
"""What the bundle calls otherwise (the relocations in its POM)."""


@dataclass(frozen=True, slots=True)
class StreamerHome:
    """What a process of the streamer needs."""

    spark: Path
    """The folder of PySpark, with its `bin`."""
    java: Path
    class_path: Sequence[Path]
    jvm: Sequence[str]
    conf: Mapping[str, str]


def made(folder: Path, cache: Cache, progress: Progress) -> StreamerHome:
    """Fetch what is missing, and write the jar into a folder."""
    own_distributions.register([WHERE])
    wanted = distributions.load(NAME)
    installed = fetch.ensure(wanted, cache, progress)
    found = pyspark_home.wanted(wanted)
    if found is None:
        raise LookupError(
            f"the PySpark of this environment is that of {NAME}; it is not looked for"
        )
    spark = pyspark_home.ensure(found, cache, progress)
    utilities, *others = installed.jars("streamer")
    jar = rewritten(utilities, folder / utilities.name)
    class_path = (jar, *installed.jars("front"), *others)
    told = {**conf.COMMON, **wanted.options("conf")}
    return StreamerHome(spark, installed.java_home, class_path, wanted.texts("jvm"), told)


def rewritten(jar: Path, target: Path) -> Path:
    """Write a jar whose classes name what was moved as it is called now; return its path."""
    with zipfile.ZipFile(jar) as old, zipfile.ZipFile(target, "w") as new:
        for member in old.infolist():
            content = old.read(member)
            is_class = member.filename.endswith(".class")
            new.writestr(member, renamed(content) if is_class else content)
    return target


def renamed(compiled: bytes, moved: Mapping[str, str] = MOVED) -> bytes:
    """Return a compiled class with each name in its constants that begins as one that was moved."""
    replace: dict[str, str] = {}
    for text in class_patch.texts(compiled):
        now = text
        for before, after in moved.items():
            now = now.replace(before, after)
        if now != text:
            replace[text] = now
    return class_patch.replace_constants(compiled, replace)
