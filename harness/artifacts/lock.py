"""Read lock data (a YAML file for each distribution) strictly into a Distribution. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, fields
from itertools import product
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field, NonNegativeInt, PlainValidator

from harness.artifacts import result_cache, version_rules
from harness.artifacts.distribution import (
    ARCHIVE,
    Artifact,
    ClassPatch,
    CodePatch,
    Coordinates,
    Default,
    Distribution,
    MainClass,
    PluginService,
    Reads,
    Setting,
    Wheel,
)
from harness.artifacts.version_rules import Data
from harness.core import yaml_reader
from harness.core.problems import Problems
from harness.core.runtime_names import CONTAINER, PROCESS
from harness.core.yaml_reader import Document

_COORDINATES = (4, 5)
BUILDS_ON: Final = ("like", "artifacts_from")
"""Keys that name another distribution."""


def coordinates(text: str) -> Coordinates:
    """`group:artifact:version[:classifier]:extension` taken apart. Raises ValueError."""
    parts = text.split(":")
    if len(parts) not in _COORDINATES or not all(parts):
        raise ValueError(f"{text!r} is not group:artifact:version[:classifier]:extension")
    if any("/" in part or part.startswith(".") for part in parts):
        raise ValueError(f"{text!r} holds a part that cannot be a file name")
    classifier = parts[3] if len(parts) > min(_COORDINATES) else None
    return Coordinates(parts[0], parts[1], parts[2], classifier, parts[-1])


def _checked(is_right: Callable[[str], object], allowed: Callable[[str], str]) -> AfterValidator:
    def check(text: str) -> str:
        if not is_right(text):
            raise ValueError(f"{text!r} is given; {allowed(text)}")
        return text

    return AfterValidator(check)


def _like(pattern: str, what: str) -> AfterValidator:
    return _checked(lambda text: re.fullmatch(pattern, text), lambda _: f"allowed: {what}")


def _bytes(wildcard: str) -> AfterValidator:
    one = rf"([0-9a-f]{{2}}|{re.escape(wildcard)})"
    return _like(rf"{one}( +{one})*", f"bytes such as 0f, or {wildcard}, with spaces between")


def _setting(value: Setting | list[str]) -> Setting:
    match value:
        case bool() | int():
            return value
        case str() if value:
            return value
        case list() if all(isinstance(text, str) for text in value):
            return tuple(value)
        case dict() if all(isinstance(text, str) and text for text in value.values()):
            return MappingProxyType(value)
    allowed = "text, a whole number, true or false, a list of texts or a mapping of texts"
    raise ValueError(f"{value!r} is given; allowed: {allowed}")


def _calls_method(main: MainClass | None) -> MainClass | None:
    if main and not re.fullmatch(r"(\w+\.)+\w+", main.calls):
        raise ValueError(
            f"calls: {main.calls!r} is given; allowed: a method, such as a.package.Class.method"
        )
    return main


NonEmptyText = Annotated[str, Field(min_length=1)]
Sha256 = Annotated[str, _like("[0-9a-f]{64}", "64 lower-case hexadecimal digits")]
_ROLE: Final = "[a-z0-9][a-z0-9_-]*(/[a-z0-9][a-z0-9_.-]*)*"
_ROLES: Final = f"{_ROLE}( {_ROLE})*"
_PACKAGE: Final = "[a-z0-9]+(-[a-z0-9]+)*==[0-9]+([.][0-9]+)*"
_MACHINE: Final = "any|[a-z]+-[a-z0-9_]+(-cp[0-9]+)?"
_FIDELITY: Final = r"stock|(repackaged|modified): \S(.|\n)*"


@dataclass(frozen=True, slots=True)
class FileForm:
    """The keys of a file that is known by its hash."""

    size: NonNegativeInt
    sha256: Sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class JarForm(FileForm):
    """The keys of a file to fetch from a Maven repository."""

    get: Annotated[str, AfterValidator(lambda text: str(coordinates(text)))]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ArtifactForm(JarForm):
    """The keys of an artifact."""

    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _CodeForm:
    """The keys of a patch of instructions."""

    find: Annotated[str, _bytes("..")]
    put: Annotated[str, _bytes("tt")]
    text: NonEmptyText

    def __post_init__(self) -> None:
        if len(self.find.split()) != len(self.put.split()):
            raise ValueError("put must be as long as find: what follows stays where it is")


@dataclass(frozen=True, slots=True)
class _PatchForm:
    """The keys of a patch."""

    jar: NonEmptyText
    class_: Annotated[NonEmptyText, Field(alias="class")]
    replace: dict[str, NonEmptyText] = field(default_factory=dict)
    code: _CodeForm | None = None

    def __post_init__(self) -> None:
        if not self.replace and not self.code:
            raise ValueError("a patch has replace, or code, or both")


@dataclass(frozen=True, slots=True)
class _ReadsForm:
    """The keys of what a distribution knows of the tables of a family."""

    up_to: NonNegativeInt
    source: NonEmptyText


@dataclass(frozen=True, slots=True)
class _DefaultForm:
    """The keys of what an engine does by itself."""

    source: NonEmptyText
    value: str = ""
    either: str = ""
    ours: str = ""
    families: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if bool(self.value) == bool(self.either):
            raise ValueError("a default has value, or either; not both")
        if self.ours and (self.either or self.ours == self.value):
            raise ValueError("ours is a value that is not the engine's own")


@dataclass(frozen=True, slots=True)
class _LockForm:
    """The keys of a file."""

    name: NonEmptyText
    engine: NonEmptyText
    version: NonEmptyText
    fidelity: Annotated[str, _like(_FIDELITY, "stock, 'repackaged: how' or 'modified: what'")]
    heap_mb: NonNegativeInt
    memory_mb: NonNegativeInt
    disk_mb: NonNegativeInt
    listens: NonEmptyText
    jre: str = ""
    rules: str = ""
    like: str = ""
    overlay: str = ""
    runtime: Annotated[str, _like(f"{PROCESS}|{CONTAINER}", f"{PROCESS} or {CONTAINER}")] = PROCESS
    image: str = ""
    notice: str = ""
    artifacts_from: str = ""
    artifacts: dict[
        Annotated[str, _like(_ROLES, "roles such as lib, front or plugin/hive, a space between")],
        tuple[_ArtifactForm, ...],
    ] = field(default_factory=dict)
    wheels: dict[
        Annotated[str, _like(_PACKAGE, "a project and its version, such as hudi==0.5.0")],
        dict[Annotated[str, _like(_MACHINE, "any, linux-x86_64, linux-x86_64-cp311 …")], FileForm],
    ] = field(default_factory=dict)
    patches: tuple[_PatchForm, ...] = ()
    main_class: Annotated[MainClass | None, AfterValidator(_calls_method)] = None
    services: dict[NonEmptyText, dict[NonEmptyText, NonEmptyText]] = field(default_factory=dict)
    without_login: tuple[NonEmptyText, ...] = ()
    reads: dict[str, _ReadsForm] = field(default_factory=dict)
    defaults: dict[str, _DefaultForm] = field(default_factory=dict)
    settings: dict[str, Annotated[Any, PlainValidator(_setting)]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if bool(self.jre) == bool(self.wheels):
            raise ValueError("a distribution has either jre or wheels")


Other = Callable[[str], Data]
"""Returns what the lock data of another distribution say, all that they build on included."""


def parse(text: str, where: str, other: Other) -> Distribution:
    """Return the distribution that the text of a lock file says.

    Args:
        text: the file's content.
        where: the file's name, for messages.
        other: reads the distributions that this one is like, or takes artifacts from.

    Raises ScenarioProblem: one line `file:line: what is wrong; what is allowed` for each problem.
    """
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
    return _distribution(form)


def read(text: str, where: str, other: Other) -> tuple[Data, Document]:
    """Return what a file says on top of what it builds on, and the file's lines.

    Raises ScenarioProblem: it is no YAML, or names rules that are not about it.
    """
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
    """Return data with the artifacts and patches of another distribution before its own."""
    before, added = base.get("artifacts", {}), data.get("artifacts", {})
    roles = {role: [*before.get(role, ()), *added.get(role, ())] for role in (*before, *added)}
    patches = [*base.get("patches", ()), *data.get("patches", ())]
    return {**data, "artifacts": roles, "patches": patches}


def _distribution(form: _LockForm) -> Distribution:
    as_written: dict[str, Any] = {
        key.name: getattr(form, key.name) for key in fields(Distribution) if hasattr(form, key.name)
    }
    made = {
        "artifacts": tuple(_artifacts(form)),
        "patches": tuple(map(_patch, form.patches)),
        "settings": MappingProxyType(form.settings),
        "reads": tuple(
            Reads(name, entry.up_to, entry.source) for name, entry in form.reads.items()
        ),
        "defaults": tuple(Default(name, **asdict(entry)) for name, entry in form.defaults.items()),
        "runtime": CONTAINER if form.image else form.runtime,
        "services": tuple(_services(form)),
        "wheels": tuple(_wheels(form)),
    }
    return Distribution(**(as_written | made))


def _artifacts(form: _LockForm) -> Iterator[Artifact]:
    for roles, artifacts in form.artifacts.items():
        for role, entry in product(roles.split(), artifacts):
            yield Artifact(coordinates(entry.get), entry.size, entry.sha256, role, entry.members)


def _services(form: _LockForm) -> Iterator[PluginService]:
    for folder, offered in form.services.items():
        yield from (PluginService(folder, *entry) for entry in offered.items())


def _wheels(form: _LockForm) -> Iterator[Wheel]:
    for package, machines in form.wheels.items():
        project, _, version = package.partition("==")
        for machine, entry in machines.items():
            yield Wheel(project, version, machine, entry.size, entry.sha256)


def _patch(form: _PatchForm) -> ClassPatch:
    code = None
    if form.code:
        find, put = (" ".join(text.split()) for text in (form.code.find, form.code.put))
        code = CodePatch(find, put, form.code.text)
    return ClassPatch(form.jar, form.class_, tuple(form.replace.items()), code)
