"""The distributions that are known: a lock file for each in the folder of the same name.

A package adds some by entry points of `lake_table_harness.distributions`: texts of lock files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import resources
from typing import Final

from harness.artifacts import lock, object_storage, python_index, version_rules
from harness.artifacts.distribution import Artifact, Distribution
from harness.artifacts.version_rules import Data
from harness.core import yaml_reader
from harness.core.errors import UsageProblem
from harness.core.problems import Problems, one_of, unknown_name
from harness.core.registry import Registry
from harness.core.runtime_names import AT, CONTAINER, PROCESS, RUNTIMES, S3, WAREHOUSES

PLANNED = {"writes", "writes_steps", "table_versions", "cannot", "names", "mutation"}
"""Settings that change no answer: those that only the plan reads, `names`, which become part of
the statements of a writer, and the library of mutations, which is no part of the server."""
_ENDING = ".yaml"
_HOW: Final = (*RUNTIMES, *WAREHOUSES)
"""What a name can say of the servers."""


def _ours() -> Mapping[str, str]:
    folder = resources.files("harness.artifacts") / "distributions"
    files = (path for path in folder.iterdir() if path.name.endswith(_ENDING))
    return {file.name.removesuffix(_ENDING): file.read_text(encoding="utf-8") for file in files}


LOCKS: Registry[str] = Registry("distribution", _ours)


@dataclass(frozen=True, slots=True)
class CustomLock:
    """Lock data that the user adds."""

    text: str
    file: str
    """Its file, for messages."""


_custom: Final[dict[str, CustomLock]] = {}
"""Those of this process, by name: it makes them known before it loads any."""


def register(name: str, text: str, file: str) -> None:
    """Make a distribution of somebody's own known, or say anew what it is; none that is shipped."""
    if name in LOCKS.names():
        raise UsageProblem(f"{file}: {name} is shipped; give the file, and what it says, a name")
    _custom[name] = CustomLock(text, file)
    load.cache_clear()


def custom_locks(names_: Iterable[str]) -> dict[str, str]:
    """Return by name the lock data of those that are somebody's own, and of what they build on."""
    result: dict[str, str] = {}
    left = [name.partition(AT)[0] for name in names_]
    while left:
        name = left.pop()
        if name in _custom and name not in result:
            result[name] = _custom[name].text
            output = yaml_reader.parse(result[name], _custom[name].file).data
            left += [str(output[key]).partition(AT)[0] for key in lock.BUILDS_ON if key in output]
    return dict(sorted(result.items()))


def is_shipped(name: str) -> bool:
    return name.partition(AT)[0] in LOCKS.names()


def names() -> tuple[str, ...]:
    return tuple(sorted((*LOCKS.names(), *_custom)))


def no_lock_data(name: str) -> str:
    message = f"there is no lock data of {name}: 'harness engines add {name}' writes it"
    if version_rules.lacks_jars(name):
        return f"{message}, and no image has the bundle that it names"
    return f"{message}, and with Docker '{name}{AT}{CONTAINER}' needs none"


def exists(name: str) -> bool:
    """Return whether there is a distribution of this name; by rules alone if its image has all."""
    local, _, runtime = name.partition(AT)
    ruled = runtime == CONTAINER and by_rules(local)
    return local in names() or (ruled and not version_rules.lacks_jars(local))


def why_not(name: str) -> str:
    """Return why there is no such distribution, where more is known than that; else empty."""
    lock_name, _, how = name.partition(AT)
    if how not in ("", *_HOW):
        return f"there is no runtime '{how}'; {one_of(how, _HOW)}"
    if by_rules(lock_name) and not exists(name):
        return no_lock_data(lock_name)
    return object_storage.cannot(load(lock_name)) if how == S3 and lock_name in names() else ""


@cache
def load(name: str) -> Distribution:
    """Return the distribution of this name: `trino-476`, `trino-476@container` or `trino-476@s3`.

    In a container one can run that has no lock data: rules say how (`version_rules`). Raises
    UsageProblem: there is none; ScenarioProblem: its lock data is wrong.
    """
    lock_name, _, runtime = name.partition(AT)
    if runtime not in ("", *_HOW):
        raise unknown_name("runtime", runtime, _HOW)
    if by_rules(lock_name) and runtime != CONTAINER:
        raise UsageProblem(no_lock_data(lock_name))
    result = lock.parse(*_text(lock_name), data)
    if result.name != lock_name:
        message = f"its name is {result.name!r}; it must be the file's, {lock_name!r}"
        Problems(_text(lock_name)[1]).stop(1, message)
    if runtime == S3:
        if why := object_storage.cannot(result):
            raise UsageProblem(f"{name}: {why}")
        return object_storage.added(result)
    return result if runtime in ("", PROCESS) else replace(result, name=name, runtime=runtime)


def data(name: str) -> Data:
    """Return all that lock data say, what they build on and a runtime in the name included."""
    lock_name, _, runtime = name.partition(AT)
    result, _ = lock.read(*_text(lock_name), data)
    return {**result, "runtime": runtime} if runtime else result


def by_rules(name: str) -> bool:
    return name not in names() and version_rules.knows(name)


def _text(name: str) -> tuple[str, str]:
    if by_rules(name):
        product, version = next(iter(version_rules.versions(name).items()))
        result = {"name": name, "version": version, "rules": product}
        return json.dumps(result | {"notice": version_rules.notice(name)}), f"rules/{product}.yaml"
    if name in _custom:
        return _custom[name].text, _custom[name].file
    return LOCKS.load(name), f"distributions/{name}{_ENDING}"


def digest(distribution: Distribution) -> str:
    """SHA-256 (hexadecimal) over all that can change an answer; EnvironmentProblem: no JRE."""
    content = {
        "engine": [distribution.engine, distribution.version],
        "artifacts": [_facts(artifact) for artifact in distribution.artifacts],
        **_runs_on(distribution),
        "patches": _patches(distribution),
        "heap_mb": distribution.heap_mb,
        **_made(distribution),
        "settings": {k: v for k, v in distribution.settings.items() if k not in PLANNED},
    }
    return digest_of(content)


def _runs_on(distribution: Distribution) -> dict[str, object]:
    if distribution.jre:
        return {"jre": python_index.java_home(distribution.jre).files[0].sha256}
    packages = python_index.program_home(distribution)
    return {"wheels": [file.sha256 for file in packages.files] if packages else []}


def tree_digest(distribution: Distribution) -> str | None:
    """SHA-256 of what makes the unpacked server tree; None when there is nothing to unpack."""
    placed = [_facts(artifact) for artifact in distribution.artifacts if artifact.in_tree]
    patches = _patches(distribution)
    sources = {p.jar for p in distribution.patches}
    jars = [a.sha256 for a in distribution.artifacts if a.file_name in sources]
    made = _made(distribution)
    parts = [placed, patches, jars, *([made] if made else [])]
    return digest_of(parts) if placed or patches else None


def _patches(distribution: Distribution) -> list[object]:
    return [
        {
            "jar": patch.jar,
            "class_name": patch.class_,
            "replace": [*patch.replace.items()],
            "code": asdict(patch.code) if patch.code else None,
        }
        for patch in distribution.patches
    ]


def _made(distribution: Distribution) -> dict[str, object]:
    main, services = distribution.main_class, distribution.services
    offered = [
        {"folder": folder, "interface": interface, "implementation": implementation}
        for folder, by_interface in services.items()
        for interface, implementation in by_interface.items()
    ]
    return {
        **({"main_class": asdict(main)} if main else {}),
        **({"services": offered} if offered else {}),
        **({"without_login": distribution.without_login} if distribution.without_login else {}),
    }


def digest_of(content: object) -> str:
    """SHA-256 (hexadecimal) of plain data, by its canonical JSON."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), default=dict)
    return hashlib.sha256(text.encode()).hexdigest()


def _facts(artifact: Artifact) -> list[object]:
    return [str(artifact.coordinates), artifact.sha256, artifact.into, artifact.members]


@cache
def declared_unknown(reader: str, family: str, table_version: str) -> str:
    """Say in few words that a reader is declared not to know such tables; empty where it is not.

    >>> declared_unknown("hive-3.1.3{path=fetch}", "hudi", "9")
    'hive-3.1.3 knows hudi tables up to version 8, not 9 (HoodieTableVersion of Hudi 1.0.2)'
    """
    name = reader.partition("{")[0]
    if not (exists(name) and table_version.isdigit()):
        return ""
    known = load(name).reads.get(family)
    if known is None or int(table_version) <= known.up_to:
        return ""
    most = f"knows {family} tables up to version {known.up_to}, not {table_version}"
    return f"{name} {most} ({known.source})"
