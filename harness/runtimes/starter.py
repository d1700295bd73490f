"""Start Hive's Java programs on a Java that Hive 3.1 was not made for.

Hive casts the class loader to URLClassLoader, which the application class loader is not since
Java 9. GroovyStarter, of a library that Hive brings along, runs a main class under a loader that
is one; so nothing of Hive has to be changed for it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from harness.runtimes.fetch import Installation

GROOVY_SCRIPT: Final = "groovy.ui.GroovyMain"
"""Main class that runs the Groovy script given as its first argument."""


def command(
    installation: Installation, conf: Path, main: Sequence[str], jvm: Sequence[str] = ()
) -> tuple[str, ...]:
    """Give the command line that runs a main class (first of `main`, then its arguments).

    `conf`: the folder of configuration files; the list of the class path is written into it.
    `jvm`: options beside the distribution's own.
    """
    distribution = installation.distribution
    listed = conf / "classpath.conf"
    listed.write_text("".join(f"load {each}\n" for each in class_path(installation, conf)))
    return (
        *(str(installation.java), *distribution.java_options, *jvm),
        *("-cp", joined(installation.jars("loader")), distribution.text("loader_main")),
        *("--main", main[0], "--conf", str(listed), *main[1:]),
    )


def class_path(installation: Installation, conf: Path) -> tuple[str, ...]:
    """Give the class path in order: patched classes and `front` must hide what `lib` holds."""
    folders = (installation.patches, conf)
    jars = (*installation.jars("front"), *installation.jars("lib"))
    return (*(f"{folder}/" for folder in folders if folder), *map(str, jars))


def joined(jars: Sequence[Path]) -> str:
    """Give jars as one class path."""
    return os.pathsep.join(map(str, jars))
