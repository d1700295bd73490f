"""What a distribution is: the records that lock data is read into, with their rules. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field, NonNegativeInt, PlainValidator

from harness.artifacts.endpoint import Endpoint
from harness.core.runtime_names import CONTAINER, PROCESS

ARCHIVE = "archive"
"""Role of an artifact that is unpacked into the server tree and not kept as a file."""
METASTORE = "metastore"
SERVICES = (METASTORE, "object-store")
"""The engines of what serves others, and is never asked itself."""
HOME = "home/"
"""Begins the role of a jar of the server itself: where it stands in the tree follows."""

Setting = str | int | bool | tuple[str, ...] | Mapping[str, str]


def like(pattern: str, what: str) -> AfterValidator:
    """Return what refuses a text that does not match; `what` is allowed."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"{text!r} is given; allowed: {what}")
        return text

    return AfterValidator(check)


def _bytes(wildcard: str) -> AfterValidator:
    one = rf"([0-9a-f]{{2}}|{re.escape(wildcard)})"
    return like(rf"{one}( {one})*", f"bytes such as 0f, or {wildcard}, with a space between")


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


NonEmptyText = Annotated[str, Field(min_length=1)]
Sha256 = Annotated[str, like("[0-9a-f]{64}", "64 lower-case hexadecimal digits")]
_FIDELITY: Final = r"stock|(repackaged|modified): \S(.|\n)*"
_Package = Annotated[
    str,
    like(
        "[a-z0-9]+(-[a-z0-9]+)*==[0-9]+([.][0-9]+)*((a|b|rc)[0-9]+)?([.]post[0-9]+)?",
        "a project and its version, such as hudi==0.5.0",
    ),
]
_Machine = Annotated[
    str, like("any|[a-z]+-[a-z0-9_]+(-cp[0-9]+)?", "any, linux-x86_64, linux-x86_64-cp311 …")
]


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Maven coordinates `group:artifact:version[:classifier]:extension`."""

    group: str
    artifact: str
    version: str
    classifier: str | None
    extension: str

    @property
    def file_name(self) -> str:
        tail = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{tail}.{self.extension}"

    @property
    def repository_path(self) -> str:
        folder = "/".join((*self.group.split("."), self.artifact, self.version))
        return f"{folder}/{self.file_name}"

    def __str__(self) -> str:
        parts = (self.group, self.artifact, self.version, self.classifier, self.extension)
        return ":".join(part for part in parts if part)


def coordinates(text: str) -> Coordinates:
    """`group:artifact:version[:classifier]:extension` taken apart. Raises ValueError."""
    parts = text.split(":")
    if len(parts) not in (4, 5) or not all(parts):
        raise ValueError(f"{text!r} is not group:artifact:version[:classifier]:extension")
    if any("/" in part or part.startswith(".") for part in parts):
        raise ValueError(f"{text!r} holds a part that cannot be a file name")
    group, artifact, version, *classifier, extension = parts
    return Coordinates(group, artifact, version, "".join(classifier) or None, extension)


@dataclass(frozen=True, slots=True)
class LockedFile:
    """A file that is known by its hash. `size` is in bytes."""

    size: NonNegativeInt
    sha256: Sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedJar(LockedFile):
    get: Annotated[str, AfterValidator(lambda text: str(coordinates(text)))]


@dataclass(frozen=True, slots=True)
class Artifact:
    """One file to fetch. `size` is in bytes; `members` only for archives (empty: all)."""

    coordinates: Coordinates
    size: int
    sha256: str
    into: str
    members: tuple[str, ...] = ()

    @property
    def file_name(self) -> str:
        return self.coordinates.file_name

    @property
    def in_tree(self) -> bool:
        return self.into == ARCHIVE or "/" in self.into

    @property
    def is_added(self) -> bool:
        return "/" in self.into and not self.into.startswith(HOME)

    @property
    def folder(self) -> str:
        return self.into.removeprefix(HOME)


@dataclass(frozen=True, slots=True)
class CodePatch:
    """Instructions of a class replaced by others of the same length, in hexadecimal.

    `..` in `find` is any byte; `tt tt` in `put` becomes the index of the new constant `text`.
    """

    find: Annotated[str, _bytes("..")]
    put: Annotated[str, _bytes("tt")]
    text: NonEmptyText

    def __post_init__(self) -> None:
        if len(self.find.split()) != len(self.put.split()):
            raise ValueError("put must be as long as find: what follows stays where it is")


@dataclass(frozen=True, slots=True)
class ClassPatch:
    """A class of one jar, taken out with some of its UTF-8 constants or instructions replaced."""

    jar: NonEmptyText
    class_: Annotated[NonEmptyText, Field(alias="class")]
    replace: Mapping[str, NonEmptyText] = field(default_factory=dict, hash=False)
    code: CodePatch | None = None

    def __post_init__(self) -> None:
        if not self.replace and not self.code:
            raise ValueError("a patch has replace, or code, or both")


@dataclass(frozen=True, slots=True)
class MainClass:
    """A class that starts a server which has no main class of its own."""

    name: str
    calls: Annotated[str, like(r"(\w+\.)+\w+", "a method, such as a.package.Class.method")]
    """A server's class and its method, which takes a text: `io.trino.server.Server.start`."""
    argument: str


@dataclass(frozen=True, slots=True)
class Reads:
    """Up to which version a distribution knows the tables of a family of formats."""

    up_to: NonNegativeInt
    source: NonEmptyText
    """What says so, with the version that was looked at."""


@dataclass(frozen=True, slots=True)
class Default:
    """What an engine does by itself where a reader of it has a setting."""

    source: NonEmptyText
    """What says so, with the version that was looked at."""
    value: str = ""
    """The engine's own value; empty where every value is met by somebody who sets nothing."""
    either: str = ""
    """Where that is so: when each value is met."""
    ours: str = ""
    """What a reader has that does not name the setting, where it is not the engine's own value."""
    families: tuple[str, ...] = ()
    """The families of formats that it concerns; empty: those that the setting can be asked for."""

    def __post_init__(self) -> None:
        if bool(self.value) == bool(self.either):
            raise ValueError("a default has value, or either; not both")
        if self.ours and (self.either or self.ours == self.value):
            raise ValueError("ours is a value that is not the engine's own")


@dataclass(frozen=True, slots=True, kw_only=True)
class LockData:
    """What a lock file and the distribution that it stands for have alike."""

    name: NonEmptyText
    engine: NonEmptyText
    version: NonEmptyText
    fidelity: Annotated[str, like(_FIDELITY, "stock, 'repackaged: how' or 'modified: what'")]
    heap_mb: NonNegativeInt
    """Given to the JVM, in MiB."""
    memory_mb: NonNegativeInt
    """The resident size to expect of the process."""
    disk_mb: NonNegativeInt
    """What it takes in the cache."""
    listens: NonEmptyText
    jre: str = ""
    """The feature release; empty for a program of Python, which has `wheels`."""
    overlay: str = ""
    """What somebody has set, added or replaced, in words."""
    runtime: Annotated[str, like(f"{PROCESS}|{CONTAINER}", f"{PROCESS} or {CONTAINER}")] = PROCESS
    image: str = ""
    """What its containers are made of, where that is not the official image of its version."""
    notice: str = ""
    """What is not sure of how it is set up, where rules alone describe it."""
    wheels: Mapping[_Package, Mapping[_Machine, LockedFile]] = field(
        default_factory=dict, hash=False
    )
    """The packages of a program of Python, each for every kind of machine that it is for."""
    patches: tuple[ClassPatch, ...] = ()
    main_class: MainClass | None = None
    """Made here, as `services` are, where a server is put together of jars."""
    services: Mapping[NonEmptyText, Mapping[NonEmptyText, NonEmptyText]] = field(
        default_factory=dict, hash=False
    )
    """By folder of jars what it offers, as Java's `ServiceLoader` looks it up: interface, class."""
    without_login: tuple[NonEmptyText, ...] = ()
    """Folders of jars where Hadoop is, whose login needs a module that the JRE has not: they get a
    login that asks nobody."""
    reads: Mapping[str, Reads] = field(default_factory=dict, hash=False)
    """The families of formats of which newer tables are known to be refused."""
    defaults: Mapping[str, Default] = field(default_factory=dict, hash=False)
    """By setting as readers write it, or by an option that no reader can set and that we set."""
    settings: Mapping[str, Annotated[Setting, PlainValidator(_setting)]] = field(
        default_factory=dict, hash=False
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution(LockData):
    """What to run for one engine version; all of it is data."""

    artifacts: tuple[Artifact, ...]
    warehouse: str = ""
    """Where its servers find tables; empty: on the disk."""
    endpoint: Endpoint | None = None
    """Of a server that runs already."""

    @property
    def is_asked(self) -> bool:
        return self.engine not in SERVICES

    @property
    def overlaid(self) -> str:
        return f"with {self.overlay}" if self.overlay else ""

    @property
    def java_options(self) -> tuple[str, ...]:
        modules = (f"--add-modules={text}" for text in self.texts_if_any("modules"))
        return (f"-Xmx{self.heap_mb}m", *self.texts("jvm"), *modules)

    def text(self, key: str) -> str:
        """The setting `key`, a text. KeyError, TypeError: lock data lacks it or it is not one."""
        return str(self._setting(key, str, "a text"))

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(self._setting(key, tuple, "a list of texts"))

    def texts_if_any(self, key: str) -> tuple[str, ...]:
        return self.texts(key) if key in self.settings else ()

    def options(self, key: str) -> Mapping[str, str]:
        options: Mapping[str, str] = self._setting(key, Mapping, "a mapping of texts")
        return options

    def options_if_any(self, key: str) -> Mapping[str, str]:
        return self.options(key) if key in self.settings else {}

    def _setting(self, key: str, kind: type, what: str) -> Any:  # noqa: ANN401 - of the kind
        if key not in self.settings:
            known = ", ".join(sorted(self.settings))
            message = f"distribution {self.name} has no setting {key!r}; it has: {known}"
            raise KeyError(message)
        if not isinstance(self.settings[key], kind):
            raise TypeError(f"distribution {self.name}: the setting {key!r} is not {what}")
        return self.settings[key]
