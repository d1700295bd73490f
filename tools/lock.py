"""Print lock lines for artifacts: coordinates, size and SHA-256, from a real download.

    python tools/lock.py org.apache.hudi:hudi-presto-bundle:1.0.2:jar ...
    python tools/lock.py --closure tools/lock_hive_3.1.3.pom.xml

`--closure` asks Maven for the runtime closure of a POM: it is the only resolver seen to give
Maven's own answer. Every file must agree with the repository's .sha1. See docs/locks.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness.artifacts import repository
from harness.artifacts.distribution import Coordinates
from harness.artifacts.download import connected, measure
from harness.artifacts.lock import coordinates
from harness.core.progress import Progress


def main() -> None:
    """Print one line for each artifact, sorted by file name."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument(
        "coordinates", nargs="*", metavar="group:artifact:version[:classifier]:ext"
    )
    options.add_argument("--closure", type=Path, help="a POM whose runtime closure is locked")
    arguments = options.parse_args()
    artifacts = [coordinates(text) for text in arguments.coordinates]
    if arguments.closure:
        artifacts += closure(arguments.closure)
    with connected(repository.configured()) as source, tempfile.TemporaryDirectory() as folder:
        for artifact in sorted(artifacts, key=lambda artifact: artifact.file_name):
            part = Path(folder) / artifact.file_name
            size, sha256 = measure(artifact.repository_path, part, source, Progress())
            part.unlink()
            print(f'- {{get: "{artifact}", size: {size}, sha256: {sha256}}}', flush=True)


def closure(pom: Path) -> list[Coordinates]:
    """The runtime closure of a POM, by Maven, without using or filling the user's repository."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        command = [
            *("mvn", "--quiet", "--batch-mode", "--file", str(pom), "dependency:copy-dependencies"),
            *(f"-Dmaven.repo.local={work / 'repository'}", f"-DoutputDirectory={work / 'jars'}"),
            *("-Dstyle.color=never", "-DincludeScope=runtime", "-Dmdep.useRepositoryLayout=true"),
        ]
        subprocess.run(command, check=True, stdout=sys.stderr)
        return list(_in_layout(work / "jars"))


def _in_layout(folder: Path) -> Iterator[Coordinates]:
    for path in folder.rglob("*.jar"):
        *group, artifact, version, file_name = path.relative_to(folder).parts
        classifier = file_name.removeprefix(f"{artifact}-{version}").removesuffix(".jar")[1:]
        yield Coordinates(".".join(group), artifact, version, classifier or None, "jar")


if __name__ == "__main__":
    main()
