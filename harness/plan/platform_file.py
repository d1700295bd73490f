"""`platform.yaml` names engines that already run: they are asked, and never started."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness import formats
from harness.artifacts import distributions
from harness.artifacts.endpoint import Endpoint, Secret
from harness.core import tolerances, yaml_reader
from harness.core.problems import Problems, one_of
from harness.core.runtime_names import AT, ENDPOINT

ENGINES: Final = ("trino", "presto", "hive")


@dataclass(frozen=True, slots=True)
class _Platform:
    engines: dict[str, Endpoint]


def register_file(file: Path) -> tuple[str, ...]:
    """Make the engines of a file known, and return the readers that they are.

    Raises ScenarioProblem: one line `file:line: what is wrong; what is allowed` for each problem.
    """
    text = yaml_reader.read(file, kind="a platform")
    platform, document = yaml_reader.load_yaml(_Platform, text, str(file), "a platform")
    problems = Problems(str(file))
    for name, endpoint in platform.engines.items():
        for wrong in _wrong(name, endpoint):
            problems.add(document.line(("engines", name)), f"{name}: {wrong}")
    problems.raise_if_any()
    for name, endpoint in platform.engines.items():
        data = {"name": name, "like": endpoint.like, "overlay": f"what runs at {endpoint.address}"}
        distributions.register(name, json.dumps(data), str(file), _placed(endpoint, file.parent))
    return tuple(f"{name}{AT}{ENDPOINT}" for name in platform.engines)


def _wrong(name: str, endpoint: Endpoint) -> Iterator[str]:
    if not distributions.exists(endpoint.like):
        yield f"like: there is no '{endpoint.like}'; harness engines lists what there is"
        return
    engine, product = distributions.load(endpoint.like).engine, tolerances.product(endpoint.like)
    if engine not in ENGINES:
        yield f"like: only {', '.join(ENGINES)} are asked where they run, not {engine}"
    elif endpoint.is_hive != (engine == "hive"):
        yield f"address: {endpoint.address} is no address of {engine}; hive2:// is HiveServer2's"
    elif endpoint.is_hive and (endpoint.catalogs or endpoint.token):
        yield "hive has no catalogs, and takes no token: name user and password"
    elif not (endpoint.is_hive or endpoint.catalogs):
        yield "catalogs: name the one in which it has the tables of each format"
    if tolerances.product(name) != product or AT in name:
        yield f"its name must have its product in it, such as {product}-production"
    if distributions.is_shipped(name):
        yield "a distribution that is shipped is called so; give the engine another name"
    families = sorted({facts.family for facts in map(formats.facts, formats.names())})
    for family in endpoint.catalogs.keys() - families:
        yield f"catalogs: there are no {family} tables; {one_of(family, families)}"


def _placed(endpoint: Endpoint, folder: Path) -> Endpoint:
    """Return an engine whose files are where they are from anywhere."""

    def placed(secret: Secret | None) -> Secret | None:
        return replace(secret, file=folder / secret.file) if secret and secret.file else secret

    certificate = endpoint.certificate and (folder / endpoint.certificate).absolute()
    return replace(
        endpoint,
        password=placed(endpoint.password),
        token=placed(endpoint.token),
        certificate=certificate,
    )
