"""People's own readers: `readers.yaml` beside their profiles, a known engine with changes."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, PositiveInt

from harness.artifacts import distributions
from harness.artifacts.distribution import LockedJar, NonEmptyText
from harness.core import tolerances, yaml_reader
from harness.core.problems import Problems
from harness.core.runtime_names import CONTAINER, given, lock_name
from harness.core.yaml_reader import load_yaml
from harness.plan import shipped
from harness.plan.shipped import DISTRIBUTIONS, READERS

_PROPERTIES: Final = {"trino": "config", "presto": "config", "spark": "conf", "hive": "site"}
"""Where an engine's lock data have the properties of its server."""
_CATALOGS: Final = ("trino", "presto")
"""Engines with a file of properties for each catalog."""
_SECRET: Final = re.compile(r"secret|password|token|\bkey\b|access-key", re.IGNORECASE)
Texts = dict[str, NonEmptyText]


@dataclass(frozen=True, slots=True)
class CustomReader:
    """The keys of a reader of somebody's own."""

    like: NonEmptyText
    """A distribution, or any version of a product that rules know, with its runtime."""
    image: str = ""
    properties: Texts = field(default_factory=dict)
    """Of the server: `config.properties`, `spark-defaults.conf` or `hive-site.xml`."""
    catalogs: dict[str, Texts] = field(default_factory=dict)
    """Properties of the catalog of each family of formats, of Trino and Presto."""
    jars: dict[str, Annotated[tuple[LockedJar, ...], Field(min_length=1)]] = field(
        default_factory=dict
    )
    """By role; one of the same group and artifact takes the other one's place."""
    java: str = ""
    heap_mb: PositiveInt | None = None


def register_file(file: Path) -> tuple[str, ...]:
    """Make the readers of a file known, and return their names.

    Raises ScenarioProblem: one line `file:line: what is wrong; what is allowed` for each problem.
    """
    text = yaml_reader.read(file, yaml_reader.MAX_BYTES, READERS)
    result, document = load_yaml(dict[str, CustomReader], text, str(file), "readers")
    problems = Problems(str(file))
    for name, reader in result.items():
        for wrong in _wrong(name, reader):
            problems.add(document.line((name,)), f"{name}: {wrong}")
    problems.raise_if_any()
    for name, reader in result.items():
        distributions.register(name, json.dumps(_lock_data(name, reader)), str(file))
    return tuple(result)


def _wrong(name: str, reader: CustomReader) -> Iterator[str]:
    product, base_name = tolerances.product(reader.like), lock_name(reader.like)
    if not distributions.exists(base_name) and not distributions.by_rules(base_name):
        yield f"like: there is no '{reader.like}'; harness engines lists what there is"
        return
    if not name.startswith(f"{product}-"):
        yield f"its name must begin with its product, {product}-"
    if distributions.is_shipped(name):
        yield "a distribution that is shipped is called so; give the reader another name"
    if distributions.by_rules(base_name) and not (reader.image or given(reader.like) == CONTAINER):
        yield distributions.no_lock_data(base_name)
    engine = str(distributions.whole_data(base_name)["engine"])
    if reader.properties and engine not in _PROPERTIES:
        yield f"properties: those of {engine} cannot be set; allowed for {', '.join(_PROPERTIES)}"
    if reader.catalogs and engine not in _CATALOGS:
        yield f"catalogs: {engine} has none; only {' and '.join(_CATALOGS)} have them"


def _lock_data(name: str, reader: CustomReader) -> dict[str, Any]:
    base = distributions.whole_data(reader.like)
    settings: dict[str, object] = {f"{key}_catalog": of for key, of in reader.catalogs.items()}
    if reader.properties:
        settings[_PROPERTIES[str(base["engine"])]] = reader.properties
    return {
        "name": name,
        "like": reader.like,
        "overlay": "; ".join(_changes(reader)),
        **({"image": reader.image} if reader.image else {}),
        **({"jre": reader.java} if reader.java else {}),
        **({"heap_mb": reader.heap_mb} if reader.heap_mb else {}),
        **({"settings": settings} if settings else {}),
        **({"artifacts": _artifacts(base, reader)} if reader.jars else {}),
    }


def _artifacts(base: Mapping[str, Any], reader: CustomReader) -> dict[str, list[object]]:
    """Return the jars by role, each in the place of the one that it replaces."""
    artifacts: dict[str, list[object]] = {}
    for role, jars in reader.jars.items():
        before = base.get("artifacts", {}).get(role, ())
        entries = [{"get": jar.get, "size": jar.size, "sha256": jar.sha256} for jar in jars]
        jars_by_name = {tuple(jar["get"].split(":")[:2]): jar for jar in (*before, *entries)}
        artifacts[role] = list(jars_by_name.values())
    return artifacts


def _changes(reader: CustomReader) -> Iterator[str]:
    """Yield in words what was changed; values of secrets are left out."""
    for name, value in reader.properties.items():
        yield f"{name}={_shown(name, value)}"
    for family, properties in reader.catalogs.items():
        for name, value in properties.items():
            yield f"{name}={_shown(name, value)} in the catalog for {family}"
    for role, jars in reader.jars.items():
        yield from (f"{jar_form.get} in {role}" for jar_form in jars)
    if reader.java:
        yield f"Java {reader.java}"
    if reader.heap_mb:
        yield f"a heap of {reader.heap_mb} MB"


def _shown(name: str, value: str) -> str:
    return "…" if _SECRET.search(name) else value


def register(paths: Iterable[Path]) -> None:
    """Make the distributions known that stand beside scenarios: in their folder, or one above.

    Above a folder with profiles nothing is looked for: what is broken there is not its own. In the
    folder where a command is given counts what `harness engines add` writes there.

    Raises UsageProblem: a distribution is called like one that is shipped.
    Raises ScenarioProblem: a file cannot be read.
    """
    folders = dict.fromkeys(chain.from_iterable(map(_places, paths)))
    here = (f for f in sorted(Path(DISTRIBUTIONS).glob("*.yaml")) if distributions.by_rules(f.stem))
    beside = chain.from_iterable(sorted((f / DISTRIBUTIONS).glob("*.yaml")) for f in folders)
    for file in chain(here, beside):
        text = yaml_reader.read(file, yaml_reader.MAX_BYTES, "lock data")
        distributions.register(file.stem, text, str(file))
    for file in (folder / READERS for folder in folders):
        if file.is_file():
            register_file(file)


def _places(path: Path) -> tuple[Path, ...]:
    inner, above = shipped.beside(path)
    return (inner,) if (inner / shipped.PROFILES).is_file() else (inner, above)
