"""What the image of an engine offers: `containers/<engine>/image.yaml`, read. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.core import tolerances
from harness.core.errors import UsageProblem
from harness.core.runtime_names import lock_name
from harness.core.yaml_reader import load_yaml
from harness.runtime import process, template
from harness.runtime.api import Program, Surroundings

FILE: Final = "image.yaml"
BUILT: Final = "lake-table-harness"


EVERYWHERE: Final = "0.0.0.0"  # noqa: S104 - inside of the container; it is published on loopback
BESIDE_HEAP_MB: Final = 1024
"""What a server may take beside its heap, in MiB, before the kernel ends it."""
_NAME: Final = "harness"
"""What the user is called in a container: Hadoop does not run as a number without a name."""


@dataclass(frozen=True, slots=True)
class ContainerSettings:
    environment: Mapping[str, str]
    files: Mapping[str, str]
    limit_mb: int


def limit_mb(distribution: Distribution) -> int:
    return distribution.heap_mb + BESIDE_HEAP_MB


def user_files(user: int, group: int) -> Mapping[str, str]:
    """Return the files that name a user and its group in a container, by their paths."""
    if user == 0:
        return {}
    root = "root:x:0:0:root:/root:/bin/sh\n"
    return {
        "/etc/passwd": f"{root}{_NAME}:x:{user}:{group}::/tmp:/bin/sh\n",
        "/etc/group": f"root:x:0:\n{_NAME}:x:{group}:\n" if group else "root:x:0:\n",
    }


@dataclass(frozen=True, slots=True)
class ImageContract:
    """How a container of an engine's image is started."""

    image: str
    """The official image, without registry and tag."""
    tag: str
    """How a tag follows from a version: `{version}`."""
    port: int
    configuration: str
    home: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables; `{heap_mb}` stands for the size of the heap in MiB."""
    command: list[str] = field(default_factory=list)
    """What the entrypoint is given; empty: the image's own."""
    files: list[str] = field(default_factory=list)
    """Templates that only an image needs; a process is told the same on its command line."""
    writable: list[str] = field(default_factory=list)
    """Folders that whoever runs it must be able to write."""
    front: str = ""
    """The folder of jars that are added; empty where none can be."""
    base: str = "debian:bookworm-slim"
    holds: list[str] = field(default_factory=list)
    """Parts of an installation that such an image holds: jre, home, pyspark, or a role of jars."""
    only: list[str] = field(default_factory=list)
    """The distributions whose image it is; empty: all of the product."""
    built_like: str = ""
    """The engine whose Dockerfile and parts such an image is built of; empty: its own."""
    built_as: str = ""
    """The name of such an image; empty: that of the official one."""

    @property
    def built(self) -> str:
        return f"{BUILT}/{self.built_as or self.image.rpartition('/')[2]}"

    def reference(self, distribution: Distribution) -> str:
        return distribution.image or f"{self.image}:{self.tag.format(version=distribution.version)}"

    def surroundings(self, metastore: str, folder: Path) -> Surroundings:
        """Return where a server runs, `folder` being the same inside and outside."""
        front = f"{self.front}/*" if self.front else ""
        conf = Path(self.configuration)
        return Surroundings(EVERYWHERE, self.port, metastore, folder, conf, front)

    def settings(self, program: Program, around: Surroundings) -> ContainerSettings:
        """Return what a container is started with; its configuration goes before the image's."""
        distribution = program.distribution
        heap, options = str(distribution.heap_mb), {"java_options": distribution.java_options}
        variables = {k: text.replace("{heap_mb}", heap) for k, text in self.environment.items()}
        files = {name: template.render(distribution.engine, name, options) for name in self.files}
        return ContainerSettings(
            {**process.SET, **variables, **program.environment(around)},
            {**files, **program.files(around)},
            limit_mb(distribution),
        )


def is_built(reference: str) -> bool:
    return reference.startswith(f"{BUILT}/")


def official(distribution: Distribution) -> str:
    known = _contract(distribution)
    return known.reference(distribution) if known else ""


def contract(distribution: Distribution) -> ImageContract:
    """Return the contract of the image of a product; UsageProblem: none is known."""
    known = _contract(distribution)
    if known is None:
        product = tolerances.product(distribution.name)
        raise UsageProblem(f"no image is known of {product}; run it as a process")
    return known


def _contract(distribution: Distribution) -> ImageContract | None:
    known = _contracts(distribution.engine).get(tolerances.product(distribution.name))
    if known is None or (known.only and lock_name(distribution.name) not in known.only):
        return None
    return known


@cache
def _contracts(engine: str) -> Mapping[str, ImageContract]:
    file = resources.files("harness.containers") / engine / FILE
    if not file.is_file():
        return {}
    text = file.read_text(encoding="utf-8")
    result, _ = load_yaml(dict[str, ImageContract], text, f"{engine}/{FILE}", "the images")
    return result
