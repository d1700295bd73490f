"""Where a run puts tables of its own for engines that run already: all below a prefix."""

import re
from dataclasses import dataclass
from typing import Annotated, Final
from uuid import uuid4

from pydantic import Field

from harness.artifacts.distribution import Distribution
from harness.artifacts.endpoint import NonEmptyText
from harness.core.errors import UsageProblem
from harness.core.runtime_names import ENDPOINT
from harness.engines.format_facts import FormatFacts

_PREFIX: Final = "[a-z][a-z0-9_]{2,40}"
_FOLDER: Final = r"(/|s3a?://[^/@\s]+/)\S*[^/\s]"


@dataclass(frozen=True, slots=True)
class Space:
    """What a run makes there: databases, and a folder, whose names begin as those of no other."""

    catalog: str
    """Its name in the platform file."""
    address: str
    folder: str
    begin: str

    def __post_init__(self) -> None:
        if not re.fullmatch(rf"{_PREFIX}[0-9a-f]{{8}}_", self.begin):
            raise ValueError(f"'{self.begin}' is no prefix of a run's own")

    def __str__(self) -> str:
        return f"{self.begin}… in {self.address} and {self.folder}"

    @property
    def root(self) -> str:
        """The folder that all files are in."""
        return f"{self.folder}/{self.begin}tables"

    def database(self, name: str) -> str:
        return f"{self.begin}{name}"

    def has(self, database: str) -> bool:
        return bool(re.fullmatch(rf"{self.begin}\w+", database))

    def check(self, database: str) -> None:
        """Stop what is about a database that this run has not made."""
        if not self.has(database):
            raise UsageProblem(f"nothing is sent there but about {self.begin}…, not {database}")


@dataclass(frozen=True, slots=True)
class OwnTables:
    """The keys of `own_tables` in a platform file."""

    prefix: Annotated[str, Field(pattern=f"^{_PREFIX}$")]
    """Begins the names of all that is made, and of nothing else."""
    catalog: NonEmptyText
    """One of the file's: a metastore, or an Iceberg REST catalog."""
    folder: Annotated[str, Field(pattern=f"^{_FOLDER}$")]
    """Where engines find files: of a store, or one that they see at the same path."""

    def space(self, address: str) -> Space:
        return Space(self.catalog, address, self.folder, f"{self.prefix}{uuid4().hex[:8]}_")


_current: Final[list[Space]] = []
"""That of the platform file of this command, if it has one."""


def use(space: Space | None) -> None:
    _current[:] = [space] if space else []


def current() -> Space:
    if not _current:
        raise UsageProblem(
            "tables of a run are asked about where an engine runs already if --platform FILE says "
            "in own_tables where they may lie (docs/platform.md)"
        )
    return _current[0]


def check(distribution: Distribution) -> None:
    """Raise UsageProblem where a run cannot put tables for an engine that runs already."""
    if distribution.runtime == ENDPOINT:
        current()


def database(distribution: Distribution, name: str) -> str:
    """Return what a database of a run is called where a reader finds it."""
    return current().database(name) if distribution.runtime == ENDPOINT else name


def cannot(distribution: Distribution, format_: FormatFacts) -> str:
    """Return why no table of a format can be put there; empty where it can, or nothing is."""
    if distribution.runtime != ENDPOINT or not _current:
        return ""
    if _current[0].address.startswith("http") and format_.family != "iceberg":
        return f"own_tables are in a REST catalog, which has no {format_.family} tables"
    whose = "transactional tables are not put into a metastore that others use"
    return whose * format_.transactional
