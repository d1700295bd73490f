"""Start Hive's Java programs on a Java that Hive 3.1 was not made for.

Hive casts its class loader to URLClassLoader, which the application class loader is not since
Java 9. A few lines of Groovy, a library that Hive brings along, run a main class under a plain
URLClassLoader; so nothing of Hive has to be changed for it.

GroovyStarter of the same library would do it too, but its loader hides `package-info` classes from
Java 9 and later: Hive then takes its own version for "Unknown", and Hudi's reader hands it the
dates and timestamps of Hive 2, which it refuses (HoodieHiveUtils.isHive3).
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from harness.artifacts.fetch import Installation

QUICK: Final = ("-XX:MetaspaceSize=256m",)
"""Java begins with 21 MB for classes, and collects all garbage each time that it needs more."""

SCRIPT: Final = """\
def urls = new File(args[0]).readLines().collect { new File(it).toURI().toURL() } as URL[]
def loader = new URLClassLoader(urls, ClassLoader.platformClassLoader)
Thread.currentThread().contextClassLoader = loader
loader.loadClass(args[1]).getMethod("main", String[]).invoke(null, [args.drop(2)] as Object[])
"""


def command(
    installation: Installation, conf: Path, main: Sequence[str], jvm: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the command that runs `main`, a class and its arguments; `conf` takes a script."""
    distribution = installation.distribution
    script, listed = conf / "start.groovy", conf / "classpath.txt"
    script.write_text(SCRIPT, encoding="utf-8")
    listed.write_text("\n".join(class_path(installation, conf)), encoding="utf-8")
    return (
        *(str(installation.java), *distribution.java_options, *QUICK, *jvm),
        *("-cp", joined(installation.jars("loader")), distribution.text("loader_main")),
        *(str(script), str(listed), *main),
    )


def class_path(installation: Installation, conf: Path) -> tuple[str, ...]:
    """Return the class path in order: patched classes and `front` must hide what `lib` holds."""
    folders = (installation.patches, conf)
    jars = (*installation.jars("front"), *installation.jars("lib"))
    return (*(f"{folder}/" for folder in folders if folder), *map(str, jars))


def joined(jars: Sequence[Path]) -> str:
    return os.pathsep.join(map(str, jars))
