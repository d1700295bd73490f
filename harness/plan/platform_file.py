"""`platform.yaml` names engines that run already, and catalogs; none of them is started."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from harness import formats
from harness.artifacts import distributions
from harness.artifacts.endpoint import SPARK, Endpoint
from harness.core import tolerances, yaml_reader
from harness.core.problems import Problems, one_of
from harness.core.runtime_names import AT, ENDPOINT
from harness.usage import own_tables
from harness.usage.named_catalog import CATALOGS, NamedCatalog, TableStore
from harness.usage.own_tables import OwnTables

ENGINES: Final = ("trino", "presto", "hive")


@dataclass(frozen=True, slots=True)
class _Platform:
    engines: dict[str, Endpoint] = field(default_factory=dict)
    catalogs: dict[Annotated[str, Field(pattern=r"^\w[\w.-]*$")], NamedCatalog] = field(
        default_factory=dict
    )
    store: TableStore | None = None
    own_tables: OwnTables | None = None


def register_file(file: Path) -> tuple[str, ...]:
    """Make the engines and catalogs of a file known; return the readers that the engines are.

    Raises ScenarioProblem: one line `file:line: what is wrong; what is allowed` for each problem.
    """
    text = yaml_reader.read(file, kind="a platform")
    platform, document = yaml_reader.load_yaml(_Platform, text, str(file), "a platform")
    problems = Problems(str(file))
    for name, endpoint in platform.engines.items():
        for wrong in _wrong(name, endpoint):
            problems.add(document.line(("engines", name)), f"{name}: {wrong}")
    tables = platform.own_tables
    catalog = platform.catalogs.get(tables.catalog) if tables else None
    if tables and (catalog is None or catalog.address.startswith("s3")):
        allowed = "name one of catalogs that is a metastore or a REST catalog"
        problems.add(document.line(("own_tables", "catalog")), f"own_tables: {allowed}")
    problems.raise_if_any()
    own_tables.use(tables.space(catalog.address) if tables and catalog else None)
    if platform.store:
        _placed(platform.store, file.parent).use()
    CATALOGS.clear()
    CATALOGS.update({k: _placed(v, file.parent) for k, v in platform.catalogs.items()})
    for name, endpoint in platform.engines.items():
        data = {"name": name, "like": endpoint.like, "overlay": f"what runs at {endpoint.address}"}
        distributions.register(name, json.dumps(data), str(file), _placed(endpoint, file.parent))
    return tuple(f"{name}{AT}{ENDPOINT}" for name in platform.engines)


def _wrong(name: str, endpoint: Endpoint) -> Iterator[str]:
    if not distributions.exists(endpoint.like):
        yield f"like: there is no '{endpoint.like}'; harness engines lists what there is"
        return
    engine, product = distributions.load(endpoint.like).engine, tolerances.product(endpoint.like)
    if engine == "spark":
        yield f"like: {SPARK} (docs/platform.md)"
    elif engine not in ENGINES:
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


def _placed(given: Any, folder: Path) -> Any:  # noqa: ANN401 - a value of whatever has keys
    """Return what a file says with paths that lead to the same files from anywhere."""
    if is_dataclass(given) and not isinstance(given, type):
        inside = {f.name: _placed(getattr(given, f.name), folder) for f in fields(given)}
        return replace(given, **inside)
    return (folder / given).absolute() if isinstance(given, Path) else given
