"""Read lock data (a YAML file for each distribution) strictly into a Distribution. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from itertools import product
from typing import Annotated, Final

from harness.artifacts import result_cache, version_rules
from harness.artifacts.distribution import (
    ARCHIVE,
    Artifact,
    Distribution,
    LockData,
    LockedJar,
    coordinates,
    like,
)
from harness.artifacts.version_rules import Data
from harness.core import yaml_reader
from harness.core.problems import Problems
from harness.core.runtime_names import CONTAINER
from harness.core.yaml_reader import Document

BUILDS_ON: Final = ("like", "artifacts_from")
"""Keys that name another distribution."""
_ROLE: Final = "[a-z0-9][a-z0-9_-]*(/[a-z0-9][a-z0-9_.-]*)*"
_Roles = Annotated[
    str,
    like(f"{_ROLE}( {_ROLE})*", "roles such as lib, front or plugin/hive, a space between"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ArtifactForm(LockedJar):
    """The keys of an artifact."""

    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _LockForm(LockData):
    """The keys of a file."""

    rules: str = ""
    like: str = ""
    artifacts_from: str = ""
    artifacts: dict[_Roles, tuple[_ArtifactForm, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if bool(self.jre) == bool(self.wheels):
            raise ValueError("a distribution has either jre or wheels")


Other = Callable[[str], Data]
"""Returns what the lock data of another distribution say, all that they build on included."""


def parse(text: str, where: str, other: Other) -> Distribution:
    """Return the distribution that a lock file says; `other` reads those that it builds on."""
    data, document = read(text, where, other)
    form = yaml_reader.make(_LockForm, data, document, (), "lock data")
    document.problems.raise_if_any()
    if form is None:  # not reached: without an object there is a problem
        raise AssertionError(where)
    for role, artifacts in form.artifacts.items():
        for at, artifact in enumerate(artifacts):
            if artifact.members and role != ARCHIVE:
                line = document.line(("artifacts", role, at, "members"))
                Problems(where).stop(line, f"only what goes into '{ARCHIVE}' has members")
    for family in form.reads:
        if family not in form.settings:
            line = document.line(("reads", family))
            Problems(where).stop(line, f"settings say no version of the library '{family}'")
    known = {key.name: getattr(form, key.name) for key in fields(LockData)}
    runtime = CONTAINER if form.image else form.runtime
    return replace(Distribution(**known, artifacts=tuple(_artifacts(form))), runtime=runtime)


def read(text: str, where: str, other: Other) -> tuple[Data, Document]:
    """Return what a file says on top of what it builds on, and the file's lines."""
    document = result_cache.parse_yaml(text, where)
    declared = data = document.data
    if not isinstance(declared, dict):
        return declared, document
    if product := declared.get("rules"):
        data = version_rules.overlaid(_by_rules(declared.get("name"), product, document), data)
    if like := declared.get("like"):
        data = version_rules.overlaid(other(str(like)), data)
    if base := declared.get("artifacts_from"):
        data = _with_artifacts(other(str(base)), data)
    return data, document


def _by_rules(name: object, product: object, document: Document) -> Data:
    fits = isinstance(name, str) and name.startswith(f"{product}-") and version_rules.knows(name)
    if not fits:
        message = f"the rules of {product} are not about '{name}'"
        known = ", ".join(version_rules.products())
        line = document.line(("rules",))
        Problems(document.path).stop(line, f"{message}; there are rules of {known}")
    return version_rules.facts(str(name))


def _with_artifacts(base: Data, data: Data) -> Data:
    before, added = base.get("artifacts", {}), data.get("artifacts", {})
    roles = {role: [*before.get(role, ()), *added.get(role, ())] for role in (*before, *added)}
    patches = [*base.get("patches", ()), *data.get("patches", ())]
    return {**data, "artifacts": roles, "patches": patches}


def _artifacts(form: _LockForm) -> Iterator[Artifact]:
    for roles, artifacts in form.artifacts.items():
        for role, entry in product(roles.split(), artifacts):
            yield Artifact(coordinates(entry.get), entry.size, entry.sha256, role, entry.members)
