"""Print the artifacts of a Trino that is put together of its modules' jars, as lock data.

    python tools/lock_trino.py 483

From 477 on repositories of Maven have the modules of Trino, and no archive of the server. Maven
resolves each of them as the project's own build does, by the versions that its root POM names; what
the server gives to every plugin is left out of them. A jar of several folders stands there once.
It needs Maven and a JDK of the Java that the version asks for. See docs/locks.md.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Final

from harness.artifacts import repository
from harness.artifacts.distribution import HOME, Coordinates
from harness.artifacts.download import OpenRepository, connected, measure
from harness.core.progress import Progress
from tools.lock import closure

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
    """Print what each folder of the server holds."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("version", help="such as 483")
    version = options.parse_args().version
    folders: dict[Coordinates, list[str]] = defaultdict(list)
    for module in ("main", *PLUGINS, HADOOP):
        for artifact in modules(module, version):
            folders[artifact] += _folders(module)
    by_roles: dict[str, list[Coordinates]] = defaultdict(list)
    for artifact, roles in folders.items():
        by_roles[" ".join(f"{HOME}{role}" for role in roles)].append(artifact)
    print("artifacts:")
    with connected(repository.configured()) as source, tempfile.TemporaryDirectory() as folder:
        for named, jars in sorted(by_roles.items()):
            print(f"  {named}:")
            for artifact in sorted(jars, key=lambda artifact: artifact.file_name):
                print(f"    - {_line(artifact, Path(folder), source)}", flush=True)


def modules(name: str, version: str) -> list[Coordinates]:
    """Return the jars of a module of Trino and of all that it needs at run time."""
    provided = "" if name == "main" else "".join(map(_provided, PROVIDED))
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


def _provided(artifact: tuple[str, str]) -> str:
    return _dependency(*artifact, "<scope>provided</scope>")


def _dependency(group: str, artifact: str, more: str) -> str:
    named = f"<groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
    return f"<dependency>{named}{more}</dependency>"


def _folders(module: str) -> list[str]:
    """Return the folders of the server that a module is part of."""
    if module == "main":
        return ["lib"]
    if module == HADOOP:
        return [f"plugin/{plugin}/{HADOOP}" for plugin in PLUGINS]
    return [f"plugin/{module}"]


def _line(artifact: Coordinates, folder: Path, source: OpenRepository) -> str:
    part = folder / artifact.file_name
    size, sha256 = measure(artifact.repository_path, part, source, Progress())
    part.unlink()
    return f'{{get: "{artifact}", size: {size}, sha256: {sha256}}}'


if __name__ == "__main__":
    main()
