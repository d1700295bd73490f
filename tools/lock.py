"""Print lock lines for artifacts: coordinates, size and SHA-256, from a real download.

    python tools/lock.py org.apache.hudi:hudi-presto-bundle:1.0.2:jar ...
    python tools/lock.py --closure tools/lock_hive_3.1.3.pom.xml
    python tools/lock.py --trino 483

`--closure` asks Maven for the runtime closure of a POM: it is the only resolver seen to give
Maven's own answer. Every file must agree with the repository's .sha1. See docs/locks.md.

`--trino`: from 477 on repositories of Maven have the modules of Trino, and no archive of the
server. Maven resolves each of them as the project's own build does, by the versions that its root
POM names; what the server gives to every plugin is left out of them. A jar of several folders
stands there once. It needs Maven and a JDK of the Java that the version asks for.
"""

import argparse
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from harness.artifacts import repository
from harness.artifacts.distribution import HOME, Coordinates, coordinates
from harness.artifacts.download import connected, measure
from harness.core.progress import Progress

PLUGINS: Final = ("hive", "hudi", "iceberg")
HADOOP: Final = "hdfs"
"""A folder of each plugin, with what `fs.hadoop.enabled` loads apart from the plugin."""
PROVIDED: Final = (
    ("io.trino", "trino-spi"),
    ("io.airlift", "slice"),
    ("com.fasterxml.jackson.core", "jackson-annotations"),
    *(("io.opentelemetry", f"opentelemetry-{e}") for e in ("api", "api-incubator", "common")),
    ("io.opentelemetry", "opentelemetry-context"),
)
"""What plugins find in the server; the plugins' own POMs list the same."""


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument(
        "coordinates", nargs="*", metavar="group:artifact:version[:classifier]:ext"
    )
    options.add_argument("--closure", type=Path, help="a POM whose runtime closure is locked")
    options.add_argument("--trino", metavar="VERSION", help="print the artifacts of a Trino")
    arguments = options.parse_args()
    artifacts = [coordinates(text) for text in arguments.coordinates]
    if arguments.closure:
        artifacts += closure(arguments.closure)
    for line in _lines(artifacts):
        print(line, flush=True)
    if arguments.trino:
        print("artifacts:")
        for roles, jars in sorted(server(arguments.trino).items()):
            print(f"  {roles}:", *(f"    {line}" for line in _lines(jars)), sep="\n", flush=True)


def _lines(artifacts: Iterable[Coordinates]) -> Iterator[str]:
    """Yield a line for each artifact, sorted by file name."""
    with connected(repository.configured()) as source, tempfile.TemporaryDirectory() as folder:
        for artifact in sorted(artifacts, key=lambda artifact: artifact.file_name):
            part = Path(folder) / artifact.file_name
            size, sha256 = measure(artifact.repository_path, part, source, Progress())
            part.unlink()
            yield f'- {{get: "{artifact}", size: {size}, sha256: {sha256}}}'


def server(version: str) -> dict[str, list[Coordinates]]:
    """Return the jars of a Trino by the folders that they are in, as lock data write these."""
    folders: dict[Coordinates, list[str]] = defaultdict(list)
    for module in ("main", *PLUGINS, HADOOP):
        for artifact in modules(module, version):
            folders[artifact] += _folders(module)
    by_roles: dict[str, list[Coordinates]] = defaultdict(list)
    for artifact, roles in folders.items():
        by_roles[" ".join(f"{HOME}{role}" for role in roles)].append(artifact)
    return by_roles


def modules(name: str, version: str) -> list[Coordinates]:
    """Return the jars of a module of Trino and of all that it needs at run time."""
    given = () if name == "main" else PROVIDED
    provided = "".join(_dependency(*artifact, "<scope>provided</scope>") for artifact in given)
    text = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent>
    <groupId>io.trino</groupId><artifactId>trino-root</artifactId><version>{version}</version>
    <relativePath/>
  </parent>
  <groupId>lake-table-harness</groupId><artifactId>{name}</artifactId><packaging>pom</packaging>
  <dependencies>
    {_dependency("io.trino", f"trino-{name}", f"<version>{version}</version>")}{provided}
  </dependencies>
</project>
"""
    with tempfile.TemporaryDirectory() as folder:
        pom = Path(folder) / "pom.xml"
        pom.write_text(text, encoding="utf-8")
        return closure(pom)


def _dependency(group: str, artifact: str, more: str) -> str:
    named = f"<groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
    return f"<dependency>{named}{more}</dependency>"


def _folders(module: str) -> list[str]:
    if module == "main":
        return ["lib"]
    if module == HADOOP:
        return [f"plugin/{plugin}/{HADOOP}" for plugin in PLUGINS]
    return [f"plugin/{module}"]


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
        artifacts = []
        for path in (work / "jars").rglob("*.jar"):
            *group, artifact, version, file_name = path.relative_to(work / "jars").parts
            classifier = file_name.removeprefix(f"{artifact}-{version}").removesuffix(".jar")[1:]
            names = ".".join(group), artifact, version, classifier or None
            artifacts.append(Coordinates(*names, "jar"))
        return artifacts


if __name__ == "__main__":
    main()
