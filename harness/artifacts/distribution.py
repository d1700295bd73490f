"""What a distribution is: the frozen records that lock data is read into. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.core.runtime_names import PROCESS

ARCHIVE = "archive"
"""Role of an artifact that is unpacked into the server tree and not kept as a file."""

METASTORE = "metastore"
"""The engine of metastores, and of their tools."""
SERVICES = (METASTORE, "object-store")
"""The engines of what serves others, and is never asked itself."""
HOME = "home/"
"""Begins the role of a jar of the server itself: where it stands in the tree follows."""

Setting = str | int | bool | tuple[str, ...] | Mapping[str, str]


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
        """The file name that the layout of a Maven repository gives these coordinates."""
        tail = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{tail}.{self.extension}"

    @property
    def repository_path(self) -> str:
        """Path below a repository's base URL; a function of the coordinates alone."""
        folder = "/".join((*self.group.split("."), self.artifact, self.version))
        return f"{folder}/{self.file_name}"

    def __str__(self) -> str:
        parts = (self.group, self.artifact, self.version, self.classifier, self.extension)
        return ":".join(part for part in parts if part)


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
        """Whether it ends in the server tree: an archive, or a jar put into one of its folders."""
        return self.into == ARCHIVE or "/" in self.into

    @property
    def is_added(self) -> bool:
        """Whether it is put into a server tree that has all of its own without it."""
        return "/" in self.into and not self.into.startswith(HOME)

    @property
    def folder(self) -> str:
        return self.into.removeprefix(HOME)


@dataclass(frozen=True, slots=True)
class Wheel:
    """A Python package in an exact version, for one kind of machine. `size` is in bytes."""

    project: str
    version: str
    machine: str
    """As `python_index.machines` names them: `linux-x86_64`, `linux-x86_64-cp311`, `any`."""
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class CodePatch:
    """Instructions of a class replaced by others of the same length, in hexadecimal.

    `..` in `find` is any byte; `tt tt` in `put` becomes the index of the new constant `text`.
    """

    find: str
    put: str
    text: str


@dataclass(frozen=True, slots=True)
class ClassPatch:
    """A class of one jar, taken out with some of its UTF-8 constants or instructions replaced."""

    jar: str
    class_name: str
    replace: tuple[tuple[str, str], ...] = ()
    code: CodePatch | None = None


@dataclass(frozen=True, slots=True)
class MainClass:
    """A class that starts a server which has no main class of its own."""

    name: str
    calls: str
    """A server's class and its method, which takes a text: `io.trino.server.Server.start`."""
    argument: str


@dataclass(frozen=True, slots=True)
class PluginService:
    """What a folder of jars offers, as Java's `ServiceLoader` looks it up."""

    folder: str
    interface: str
    implementation: str


@dataclass(frozen=True, slots=True)
class Reads:
    """Up to which version a distribution knows the tables of a family of formats."""

    family: str
    """`hudi`, say."""
    up_to: int
    source: str
    """What says so, with the version that was looked at."""


@dataclass(frozen=True, slots=True)
class Default:
    """What an engine does by itself where a reader of it has a setting."""

    setting: str
    """As readers write it; or an option that no reader can set and that we set."""
    source: str
    """What says so, with the version that was looked at."""
    value: str = ""
    """The engine's own value; empty where every value is met by somebody who sets nothing."""
    either: str = ""
    """Where that is so: when each value is met."""
    ours: str = ""
    """What a reader has that does not name the setting, where it is not the engine's own value."""
    families: tuple[str, ...] = ()
    """The families of formats that it concerns; empty: those that the setting can be asked for."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """What to run for one engine version; all of it is data.

    `heap_mb` is given to the JVM, `memory_mb` is the resident size to expect of the process,
    `disk_mb` what it takes in the cache, `jre` the feature release, empty for a program of Python,
    which has `wheels`. `listens` is "loopback", or says what else the engine exposes.
    """

    name: str
    engine: str
    version: str
    fidelity: str
    jre: str
    heap_mb: int
    memory_mb: int
    disk_mb: int
    artifacts: tuple[Artifact, ...]
    patches: tuple[ClassPatch, ...]
    listens: str
    settings: Mapping[str, Setting] = field(hash=False)
    reads: tuple[Reads, ...] = ()
    """Of the families of which newer tables are known to be refused."""
    runtime: str = PROCESS
    """How its servers are run."""
    defaults: tuple[Default, ...] = ()
    notice: str = ""
    """What is not sure of how it is set up, where rules alone describe it."""
    image: str = ""
    """What its containers are made of, where that is not the official image of its version."""
    main_class: MainClass | None = None
    """Made here, as `services` are, where a server is put together of jars."""
    services: tuple[PluginService, ...] = ()
    without_login: tuple[str, ...] = ()
    """Folders of jars where Hadoop is, whose login needs a module that the JRE has not: they get a
    login that asks nobody."""
    overlay: str = ""
    """What somebody has set, added or replaced, in words."""
    warehouse: str = ""
    """Where its servers find tables; empty: on the disk."""
    wheels: tuple[Wheel, ...] = ()
    """The packages of a program of Python, each for every kind of machine that it is for."""

    @property
    def is_asked(self) -> bool:
        return self.engine not in SERVICES

    @property
    def overlaid(self) -> str:
        """Say what somebody has changed; empty: nothing."""
        return f"with {self.overlay}" if self.overlay else ""

    @property
    def java_options(self) -> tuple[str, ...]:
        """JVM options of this distribution, the heap size first."""
        modules = (f"--add-modules={text}" for text in self.texts_if_any("modules"))
        return (f"-Xmx{self.heap_mb}m", *self.texts("jvm"), *modules)

    def text(self, key: str) -> str:
        """The setting `key`, a text. KeyError, TypeError: lock data lacks it or it is not one."""
        value = self._setting(key)
        if isinstance(value, str):
            return value
        raise TypeError(self._not(key, "a text"))

    def texts(self, key: str) -> tuple[str, ...]:
        """The setting `key`, a list of texts. KeyError, TypeError: as for `text`."""
        value = self._setting(key)
        if isinstance(value, tuple):
            return value
        raise TypeError(self._not(key, "a list of texts"))

    def texts_if_any(self, key: str) -> tuple[str, ...]:
        """The setting `key`, a list of texts; empty where there is none. TypeError: as above."""
        return self.texts(key) if key in self.settings else ()

    def options(self, key: str) -> Mapping[str, str]:
        """The setting `key`, a mapping of texts. KeyError, TypeError: as for `text`."""
        value = self._setting(key)
        if isinstance(value, Mapping):
            return value
        raise TypeError(self._not(key, "a mapping of texts"))

    def options_if_any(self, key: str) -> Mapping[str, str]:
        """The setting `key`, a mapping; empty where there is none. TypeError: as above."""
        return self.options(key) if key in self.settings else {}

    def _setting(self, key: str) -> Setting:
        if key not in self.settings:
            known = ", ".join(sorted(self.settings))
            message = f"distribution {self.name} has no setting {key!r}; it has: {known}"
            raise KeyError(message)
        return self.settings[key]

    def _not(self, key: str, what: str) -> str:
        return f"distribution {self.name}: the setting {key!r} is not {what}"
