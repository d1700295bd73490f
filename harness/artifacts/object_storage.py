"""What an engine has beside its own to read tables of an object store; `s3.yaml` says it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Final

from packaging.specifiers import SpecifierSet

from harness.artifacts.distribution import (
    Artifact,
    Distribution,
    LockedJar,
    NonEmptyText,
    Setting,
    coordinates,
)
from harness.artifacts.result_cache import load_yaml
from harness.core.runtime_names import AT, S3

BUCKET: Final = "states"
_FILE: Final = "s3.yaml"
_ENDPOINT: Final = "{endpoint}"


@dataclass(frozen=True, slots=True)
class _HadoopForm:
    """The keys of what engines on Hadoop's client have."""

    jars: tuple[LockedJar, ...]
    properties: dict[str, NonEmptyText]


@dataclass(frozen=True, slots=True)
class _EngineForm:
    """The keys of an engine; one without properties of its own has Hadoop's, and its jars."""

    versions: NonEmptyText
    properties_in: tuple[str, ...]
    jars_in: str = ""
    prefix: str = ""
    properties: dict[str, NonEmptyText] = field(default_factory=dict)
    writes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _StorageForm:
    store: NonEmptyText
    hadoop: _HadoopForm
    engines: dict[str, _EngineForm]


def store() -> str:
    return _load().store


def cannot(distribution: Distribution) -> str:
    """Return why an engine cannot read tables of an object store; empty where it can."""
    known = _load().engines
    storage = known.get(distribution.engine)
    if storage is None:
        return f"{distribution.engine} is not set up for an object store; {', '.join(known)} are"
    if not SpecifierSet(storage.versions).contains(distribution.version):
        message = (
            f"versions {storage.versions} of {distribution.engine} are set up for an object store"
        )
        return f"{message}, and this is {distribution.version}"
    return ""


def added(distribution: Distribution) -> Distribution:
    """Return a distribution as it reads tables of an object store, whose URL is not known yet."""
    result = _load().engines[distribution.engine]
    text = result.properties or _load().hadoop.properties
    properties = {f"{result.prefix}{name}": value for name, value in text.items()}
    settings: dict[str, Setting] = {
        key: MappingProxyType({**properties, **distribution.options_if_any(key)})
        for key in result.properties_in
    }
    jars = (
        Artifact(coordinates(jar.get), jar.size, jar.sha256, result.jars_in)
        for jar in (_load().hadoop.jars if result.jars_in else ())
    )
    return replace(
        distribution,
        name=f"{distribution.name}{AT}{S3}",
        warehouse=S3,
        artifacts=(*distribution.artifacts, *jars),
        settings=MappingProxyType({**distribution.settings, **settings}),
    )


def written(distribution: Distribution) -> tuple[str, ...]:
    """Return the families of tables to which an engine writes in an object store alone."""
    result = _load().engines.get(distribution.engine)
    return result.writes if result and not cannot(distribution) else ()


def writing(distribution: Distribution) -> Distribution:
    """Return a distribution as it writes to such tables; the store's URL is not known yet."""
    result = _load().engines[distribution.engine]
    options: dict[str, Setting] = {
        (key := f"{family}_catalog"): MappingProxyType(
            {**distribution.options_if_any(key), **result.properties}
        )
        for family in result.writes
    }
    settings = MappingProxyType({**distribution.settings, **options})
    return replace(distribution, settings=settings)


def reaching(distribution: Distribution, endpoint: str) -> Distribution:
    """Return a distribution whose properties name the store at a URL."""
    settings: dict[str, Setting] = dict(distribution.settings)
    for key, value in settings.items():
        if isinstance(value, Mapping):
            settings[key] = {k: text.replace(_ENDPOINT, endpoint) for k, text in value.items()}
    return replace(distribution, settings=MappingProxyType(settings))


@cache
def _load() -> _StorageForm:
    text = (resources.files(__package__) / _FILE).read_text(encoding="utf-8")
    return load_yaml(_StorageForm, text, _FILE, "object storage")
