"""The distributions that are known: a lock file for each in the folder of the same name.

A package adds distributions by entry points of the group `lake_table_harness.distributions`; the
object of each is the text of its lock file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cache
from importlib import resources

from harness.artifacts import jre, lock
from harness.artifacts.distribution import Artifact, Distribution
from harness.core.problems import Problems, UnknownNameProblem
from harness.core.registry import Registry
from harness.core.runtime_names import AT, PROCESS, RUNTIMES

PLANNED = {"writes", "table_versions", "cannot", "names"}
"""Settings that change no answer: those that only the plan reads, and `names`, which become part of
what a writer is told."""
_ENDING = ".yaml"


def _ours() -> Mapping[str, str]:
    folder = resources.files("harness.artifacts") / "distributions"
    files = (each for each in folder.iterdir() if each.name.endswith(_ENDING))
    return {each.name.removesuffix(_ENDING): each.read_text(encoding="utf-8") for each in files}


LOCKS: Registry[str] = Registry("distribution", _ours)
names = LOCKS.names


@cache
def load(name: str) -> Distribution:
    """The distribution with this name, `trino-476`, or `trino-476@container`.

    Raises UnknownNameProblem: there is none; ScenarioProblem: its lock data is wrong.
    """
    own, _, runtime = name.partition(AT)
    if runtime:
        return _elsewhere(load(own), runtime)
    text = LOCKS.load(name)
    where = f"distributions/{name}{_ENDING}"
    found = lock.parse(text, where, load)
    if found.name != name:
        told = f"its name is {found.name!r}; it must be the file's, {name!r}"
        Problems(where).stop(1, told)
    return found


def _elsewhere(found: Distribution, runtime: str) -> Distribution:
    if runtime not in RUNTIMES:
        raise UnknownNameProblem("runtime", runtime, RUNTIMES)
    if runtime == PROCESS:
        return found
    return replace(found, name=f"{found.name}{AT}{runtime}", runtime=runtime)


def digest(distribution: Distribution) -> str:
    """SHA-256 (hexadecimal) over all that can change an answer.

    That is: artifacts and where they go, the JRE for this platform, patches, heap and settings.
    The name, the estimates, what is said about fidelity, and what only the plan reads are left out.
    Raises EnvironmentProblem when there is no JRE for this platform.
    """
    content = {
        "engine": [distribution.engine, distribution.version],
        "artifacts": [_facts(artifact) for artifact in distribution.artifacts],
        "jre": jre.wheel(distribution.jre).sha256,
        "patches": [asdict(patch) for patch in distribution.patches],
        "heap_mb": distribution.heap_mb,
        "settings": _plain({k: v for k, v in distribution.settings.items() if k not in PLANNED}),
    }
    return digest_of(content)


def tree_digest(distribution: Distribution) -> str | None:
    """SHA-256 of what makes the unpacked server tree; None when there is nothing to unpack."""
    placed = [_facts(artifact) for artifact in distribution.artifacts if artifact.in_tree]
    patches = [asdict(patch) for patch in distribution.patches]
    sources = {p.jar for p in distribution.patches}
    jars = [a.sha256 for a in distribution.artifacts if a.file_name in sources]
    return digest_of([placed, patches, jars]) if placed or patches else None


def digest_of(content: object) -> str:
    """SHA-256 (hexadecimal) of plain data, by its canonical JSON."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _facts(artifact: Artifact) -> list[object]:
    return [str(artifact.coordinates), artifact.sha256, artifact.into, artifact.members]


def _plain(settings: Mapping[str, object]) -> dict[str, object]:
    return {
        key: _plain(value) if isinstance(value, Mapping) else value
        for key, value in settings.items()
    }
