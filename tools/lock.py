"""Print lock lines for artifacts: coordinates, size and SHA-256, from a real download.

    python tools/lock.py org.apache.hudi:hudi-presto-bundle:1.0.2:jar ...
    python tools/lock.py --closure tools/lock_hive_3.1.3.pom.xml

`--closure` asks Maven for the runtime closure of a POM: it is the only resolver seen to give
Maven's own answer. Every file must agree with the repository's .sha1. See docs/locks.md.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import requests

from harness.artifacts import repository
from harness.artifacts.distribution import Coordinates
from harness.artifacts.lock import coordinates


def main() -> None:
    """Print one line for each artifact, sorted by file name."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument(
        "coordinates", nargs="*", metavar="group:artifact:version[:classifier]:ext"
    )
    options.add_argument("--closure", type=Path, help="a POM whose runtime closure is locked")
    given = options.parse_args()
    wanted = [coordinates(text) for text in given.coordinates]
    if given.closure:
        wanted += closure(given.closure)
    source = repository.configured()
    with requests.Session() as session:
        session.auth = source.login
        for found in sorted(wanted, key=lambda found: found.file_name):
            size, sha256 = measured(session, f"{source.url}/{found.repository_path}")
            print(f'- {{get: "{found}", size: {size}, sha256: {sha256}}}', flush=True)


def measured(session: requests.Session, url: str) -> tuple[int, str]:
    """Size and SHA-256 of what is at `url`, once its SHA-1 agrees with the repository's."""
    size, sha1, sha256 = 0, hashlib.sha1(usedforsecurity=False), hashlib.sha256()
    with session.get(url, stream=True, timeout=60) as response:
        response.raise_for_status()
        for chunk in response.iter_content(1 << 20):
            size += len(chunk)
            sha1.update(chunk)
            sha256.update(chunk)
    stated = session.get(f"{url}.sha1", timeout=60)
    stated.raise_for_status()
    if stated.text.split()[0] != sha1.hexdigest():
        raise SystemExit(f"{url}: SHA-1 is {sha1.hexdigest()}, the repository says {stated.text}")
    return size, sha256.hexdigest()


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
