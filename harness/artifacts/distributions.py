"""The distributions that are known: a lock file for each in the folder of the same name.

A package adds some by entry points of `lake_table_harness.distributions`: texts of lock files.
"""

import difflib
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from importlib import resources
from itertools import product
from typing import Annotated, Final

from harness.artifacts import object_storage, python_index, result_cache, version_rules
from harness.artifacts.distribution import (
    ARCHIVE,
    Artifact,
    Distribution,
    LockData,
    LockedJar,
    coordinates,
    like,
)
from harness.artifacts.endpoint import Endpoint
from harness.artifacts.version_rules import Data
from harness.core import yaml_reader
from harness.core.errors import UsageProblem
from harness.core.problems import Problems, one_of, unknown_name
from harness.core.registry import Registry
from harness.core.runtime_names import AT, CONTAINER, ENDPOINT, PROCESS, RUNTIMES, S3, WAREHOUSES
from harness.core.yaml_reader import Document

BUILDS_ON: Final = ("like", "artifacts_from")
_ROLE: Final = "[a-z0-9][a-z0-9_-]*(/[a-z0-9][a-z0-9_.-]*)*"
_Roles = Annotated[
    str, like(f"{_ROLE}( {_ROLE})*", "roles such as lib, front or plugin/hive, a space between")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ArtifactForm(LockedJar):
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _LockForm(LockData):
    rules: str = ""
    like: str = ""
    artifacts_from: str = ""
    artifacts: dict[_Roles, tuple[_ArtifactForm, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if bool(self.jre) == bool(self.wheels):
            raise ValueError("a distribution has either jre or wheels")


def parse(text: str, where: str) -> Distribution:
    data, document = read(text, where)
    form = yaml_reader.made(_LockForm, data, document, "lock data")
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
    if form.image:
        known["runtime"] = CONTAINER
    every = (
        Artifact(coordinates(entry.get), entry.size, entry.sha256, role, entry.members)
        for roles, artifacts in form.artifacts.items()
        for role, entry in product(roles.split(), artifacts)
    )
    return Distribution(**known, artifacts=tuple(every))


def read(text: str, where: str) -> tuple[Data, Document]:
    """Return what a file says on top of what it builds on, and the file's lines."""
    document = result_cache.parse_yaml(text, where)
    declared = data = document.data
    if not isinstance(declared, dict):
        return declared, document
    if product := declared.get("rules"):
        data = version_rules.overlaid(_by_rules(declared.get("name"), product, document), data)
    if like := declared.get("like"):
        data = version_rules.overlaid(whole_data(str(like)), data)
    if base := declared.get("artifacts_from"):
        data = _with_artifacts(whole_data(str(base)), data)
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


_IMAGE = {"image_connectors", "image_catalog"}
PLANNED = {"writes", "writes_steps", "table_versions", "cannot", "names", "mutation", *_IMAGE}
"""Settings that change no answer: those that only the plan reads, `names`, which become part of
the statements of a writer, the library of mutations, which is no part of the server, and what an
image has beside that."""
_ENDING = ".yaml"
NEAR: Final = 0.85
"""How alike a name must be that is meant instead."""
_HOW: Final = (*RUNTIMES, *WAREHOUSES)


def _ours() -> Mapping[str, str]:
    folder = resources.files("harness.artifacts") / "distributions"
    files = (path for path in folder.iterdir() if path.name.endswith(_ENDING))
    return {file.name.removesuffix(_ENDING): file.read_text(encoding="utf-8") for file in files}


LOCKS: Registry[str] = Registry("distribution", _ours)


_custom: Final[dict[str, tuple[str, str]]] = {}
"""Texts and files of lock data that the user adds, by name: known before any is loaded."""
_endpoints: Final[dict[str, Endpoint]] = {}
"""Those of them that run already, by name."""


def register(name: str, text: str, file: str, endpoint: Endpoint | None = None) -> None:
    """Make a distribution of somebody's own known, or say anew what it is; none that is shipped."""
    if name in LOCKS.names():
        raise UsageProblem(f"{file}: {name} is shipped; give the file, and what it says, a name")
    _custom[name] = text, file
    if endpoint:
        _endpoints[name] = endpoint
    load.cache_clear()


def custom_locks(names_: Iterable[str]) -> dict[str, str]:
    """Return by name the lock data of those that are somebody's own, and of what they build on."""
    result: dict[str, str] = {}
    left = [name.partition(AT)[0] for name in names_]
    while left:
        name = left.pop()
        if name in _custom and name not in result:
            result[name], file = _custom[name]
            output = yaml_reader.parse(result[name], file).data
            left += [str(output[key]).partition(AT)[0] for key in BUILDS_ON if key in output]
    return dict(sorted(result.items()))


def is_shipped(name: str) -> bool:
    return name.partition(AT)[0] in LOCKS.names()


def names() -> tuple[str, ...]:
    """Return those that can be started."""
    return tuple(sorted((*LOCKS.names(), *(_custom.keys() - _endpoints.keys()))))


def why_not_added(name: str) -> str:
    """Return why `harness engines add` cannot write lock data; empty where nothing forbids it."""
    if name in LOCKS.names():
        return "the harness already has it"
    if same := [known for known in names() if version_rules.same_versions(known, name)]:
        return f"the harness already has it, as {same[0]}"
    if name.startswith("hive-"):
        of_hive = (known for known in LOCKS.names() if known.startswith("hive-"))
        shipped = ", ".join(known for known in of_hive if load(known).is_asked)
        reason = "Hive's hundred jars must be chosen by Maven; docs/locks.md shows how"
        return f"{reason}; shipped are {shipped}"
    if not version_rules.is_whole(name):
        return "each product has a version, as in 'spark 4.1.4 iceberg 1.12.0'"
    if not version_rules.knows(name):
        product_ = next(iter(version_rules.versions(name)), "")
        return f"there are rules only for {version_rules.product_ranges(product_)}"
    plain = len(version_rules.versions(name)) == 1
    settings = version_rules.facts(name).get("settings", {})
    if why := python_index.unknown_pyspark(settings.get(python_index.PYSPARK)):
        return f"{why}; with Docker there is {name}{AT}{CONTAINER}" if plain else why
    if version_rules.downloads(name) or (plain and python_index.PYSPARK in settings):
        return ""
    return _instead(name)


def _instead(name: str) -> str:
    products = version_rules.versions(name).keys()
    if len(products) > 1 and (known := version_rules.combinations(name)):
        return f"nothing is known for these together; there is {known}"
    shipped = [known for known in LOCKS.names() if version_rules.versions(known).keys() == products]
    there = f"shipped are {', '.join(shipped)}; " if shipped else ""
    image = f"{name}{AT}{CONTAINER}"
    by_image = f"with Docker there is {image}" if exists(image) else ""
    return f"no rule says which files this version needs; {there}{by_image}".rstrip("; ")


def no_lock_data(name: str) -> str:
    near = difflib.get_close_matches(name, names(), n=1, cutoff=NEAR)
    guess = f"; did you mean '{near[0]}'?" if near else ""
    if why := why_not_added(name):
        return f"there is no lock data of {name}, and it cannot be added: {why}{guess}"
    command = " ".join(" ".join(part) for part in version_rules.versions(name).items())
    guess = guess or ":"
    add = f"'harness engines add {command}' writes it, if it exists"
    message = f"there is no lock data of {name}{guess} {add}"
    if version_rules.WHEELS in version_rules.downloads(name):
        return f"{message}; it is a library of Python and has no image"
    if version_rules.lacks_jars(name):
        return f"{message}, and no image has the bundle that it names"
    return f"{message}, and with Docker '{name}{AT}{CONTAINER}' needs none"


def exists(name: str) -> bool:
    """Return whether there is a distribution of this name; by rules alone if its image has all."""
    local, _, runtime = name.partition(AT)
    ruled = runtime == CONTAINER and by_rules(local)
    return (
        local in names() or local in _endpoints or (ruled and not version_rules.lacks_jars(local))
    )


def why_not(name: str) -> str:
    """Return why there is no such distribution, where more is known than that; else empty."""
    lock_name, _, how = name.partition(AT)
    if how == ENDPOINT and lock_name not in _endpoints:
        known = f"; it has {', '.join(_endpoints)}" if _endpoints else ""
        return f"no platform file has an engine '{lock_name}'{known}; --platform FILE names it"
    if lock_name in _endpoints:
        return "" if how == ENDPOINT else f"it runs already, and is asked as {lock_name}@{ENDPOINT}"
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
    if lock_name in _endpoints or runtime == ENDPOINT:
        # What was asked is judged and shown again without its platform file.
        if runtime != ENDPOINT or lock_name not in _custom:
            raise UsageProblem(f"{name}: {why_not(name)}")
        lock_data = parse(*_text(lock_name))
        return replace(lock_data, name=name, runtime=ENDPOINT, endpoint=_endpoints.get(lock_name))
    if runtime not in ("", *_HOW):
        raise unknown_name("runtime", runtime, _HOW)
    if by_rules(lock_name):
        wheels = version_rules.WHEELS in version_rules.downloads(lock_name)
        if runtime != CONTAINER or wheels:
            raise UsageProblem(no_lock_data(lock_name))
    result = parse(*_text(lock_name))
    if result.name != lock_name:
        message = f"its name is {result.name!r}; it must be the file's, {lock_name!r}"
        Problems(_text(lock_name)[1]).stop(1, message)
    if runtime == S3:
        if why := object_storage.cannot(result):
            raise UsageProblem(f"{name}: {why}")
        return object_storage.added(result)
    return result if runtime in ("", PROCESS) else replace(result, name=name, runtime=runtime)


def whole_data(name: str) -> Data:
    """Return all that lock data say, what they build on and a runtime in the name included."""
    lock_name, _, runtime = name.partition(AT)
    result, _ = read(*_text(lock_name))
    return {**result, "runtime": runtime} if runtime else result


def by_rules(name: str) -> bool:
    return name not in names() and version_rules.knows(name)


def _text(name: str) -> tuple[str, str]:
    if by_rules(name):
        product, version = next(iter(version_rules.versions(name).items()))
        result = {"name": name, "version": version, "rules": product}
        return json.dumps(result | {"notice": version_rules.notice(name)}), f"rules/{product}.yaml"
    if name in _custom:
        return _custom[name]
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
    made = {
        "main_class": asdict(main) if main else None,
        "services": offered,
        "without_login": distribution.without_login,
    }
    return {key: value for key, value in made.items() if value}


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
