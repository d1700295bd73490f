"""Archives of classes, which let a server start without reading and checking each class again.

One of a JRE's own classes (`base`) is made for each JRE; on top of it, for each command, one of
what a server had loaded by its end (Java 13, JEP 350), by the second start: a cache used once pays
nothing. Java takes the classes from the jars where an archive does not fit, without a word; so the
JRE and the jars give it its name, and the JRE's archive has to be older. What cannot be made is
left out.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil
from filelock import FileLock

from harness.artifacts.cache import MAKING
from harness.artifacts.distributions import digest, digest_of
from harness.artifacts.fetch import Installation
from harness.core.errors import EnvironmentProblem
from harness.runtime.process import Command, Process, finished

MAKE_S: Final = 120.0
"""How long making one may take; 2 s on an idle machine for a JRE's, 5 s for a server's."""
DYNAMIC_FROM: Final = 17
"""The first feature release of ours whose archives can be made of a server that runs."""
NO_DYNAMIC: Final = 21
"""Whose archive of a server is wrong: nested classes of such classes are null to reflection, and
Hive 4.2.1, which compiles plans by Janino, refuses every query (21.0.8)."""
_QUIET: Final = "-Xlog:cds*=off"


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """What a command starts with, and what is to be made of it."""

    base: Path | None = None
    """Of the JRE's own classes; None: start without any."""
    path: Path | None = None
    """Of what the command loads; None where Java is too old for it."""
    is_due: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        if self.base is None:
            return ()
        taken = [self.base] if self.is_due or self.path is None else [self.base, self.path]
        files = os.pathsep.join(map(str, taken))
        record = ("-XX:+RecordDynamicDumpInfo",) if self.is_due else ()
        return ("-Xshare:auto", f"-XX:SharedArchiveFile={files}", _QUIET, *record)

    def keep(self, process: Process, installation: Installation) -> None:
        """Make the archive that is due of a server that still runs, or its child. Never raises."""
        if not self.is_due or self.path is None or not process.alive():
            return
        jcmd = str(installation.java_home / "bin" / "jcmd")
        with suppress(OSError, EnvironmentProblem, psutil.Error), _making(self.path) as made:
            java = next((entry.pid for entry in process.family() if entry.name() == "java"), 0)
            dump = (jcmd, str(java), "VM.cds", "dynamic_dump", str(made))
            if finished(Command(dump, made.parent, process.log), MAKE_S) == 0:
                made.rename(self.path)


def archive_for(installation: Installation, class_path: Sequence[Path]) -> ClassArchive:
    """Return the archive for a command; that of its JRE is made if it is not there.

    An archive made before the JRE's is made again. (Java 17.0.9 and another archive of the same
    JRE: "static archive header checksum verification failed", with `-Xshare:on` only.)
    """
    folder = installation.archives
    if installation.java is None or folder is None or os.pathsep in str(folder):
        return ClassArchive()
    base = folder / f"base-{installation.java_home.name}.jsa"
    distribution, there = installation.distribution, _base(installation, base)
    feature = int(distribution.jre.partition("-")[0])
    if there is None or feature < DYNAMIC_FROM or feature == NO_DYNAMIC:
        return ClassArchive(there)
    facts = [digest(distribution), str(installation.java), *_facts(class_path)]
    path = folder / f"{distribution.name}-{digest_of(facts)[:16]}.jsa"
    if path.is_file() and path.stat().st_mtime_ns >= there.stat().st_mtime_ns:
        return ClassArchive(there, path)
    if _is_first(path):
        return ClassArchive(there)
    # Java does not start when it is to record what it loads and its own archive is not usable.
    if not _usable(installation, there):
        there.unlink(missing_ok=True)  # the next start makes another one
        return ClassArchive()
    return ClassArchive(there, path, is_due=True)


def _is_first(path: Path) -> bool:
    """Return whether this is the first start with such an archive, and note that it was."""
    try:
        path.with_suffix(".seen").touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:
        pass
    return True


def _base(installation: Installation, base: Path) -> Path | None:
    if base.is_file():
        return base
    with suppress(OSError, EnvironmentProblem), _making(base) as made:
        # The default collector: its archives hold objects too, which the others can load.
        dump = ("-Xshare:dump", "-Xmx256m", "-XX:+UseG1GC", f"-XX:SharedArchiveFile={made}")
        if _java(installation, made, *dump) and _usable(installation, made):
            made.rename(base)
    return base if base.is_file() else None


def _usable(installation: Installation, base: Path) -> bool:
    with suppress(OSError, EnvironmentProblem):
        return _java(installation, base, "-Xshare:on", f"-XX:SharedArchiveFile={base}", "-version")
    return False


def _java(installation: Installation, archive: Path, *options: str) -> bool:
    command = (str(installation.java), *options)
    return finished(Command(command, archive.parent, Path(os.devnull)), MAKE_S) == 0


@contextmanager
def _making(path: Path) -> Iterator[Path]:
    """Yield the place where one maker at a time makes an archive before it gets its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(path.name + ".lock"), timeout=MAKE_S):
        made = path.with_name(f"{MAKING}{path.name}")
        made.unlink(missing_ok=True)
        try:
            yield made
        finally:
            made.unlink(missing_ok=True)


def _facts(class_path: Sequence[Path]) -> Iterator[str]:
    """Yield what Java compares: the files in the folder's own order, and their times."""
    for entry in class_path:
        yield str(entry)
        for file in entry.iterdir() if entry.is_dir() else (entry,):
            seen = file.stat()
            yield f"{file.name} {seen.st_size} {seen.st_mtime_ns}"
