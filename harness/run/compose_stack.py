"""The stack of a run in containers, as files of Docker Compose.

Version 2.4 of the file is read by both kinds of compose, and has limits of memory and conditions.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness import engines
from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.core import runtime_names, tolerances, yaml_writer
from harness.core.progress import Progress
from harness.core.runtime_names import CONTAINER
from harness.core.yaml_writer import block
from harness.runtime import image_choice, metastore, process_runtime, provide, work_folders
from harness.runtime.api import Configuration
from harness.runtime.image import ContainerSettings, user_files
from harness.runtime.image_choice import ContainerImage
from harness.runtime.metastore import MetastoreProgram
from harness.runtime.process import LOOPBACK

FILE: Final = "compose.yaml"
FOLDER: Final = "compose"
"""The folder beside the file, with a folder of configuration for each service."""
METASTORE: Final = "metastore"
"""The service that all others wait for."""
NETWORK: Final = "lake-tables"
"""The network of a stack, and what the metastore's container is called by. Hive asks Docker for the
metastore's name, is told `container.network`, and takes none with an underscore, which compose puts
into both."""
WAREHOUSE: Final = "warehouse"
_WORK: Final = "work"
_NAMES: Final = "names"
_HEAD: Final = (
    "# Written by `harness engines compose`, which writes it anew; a change here is lost then.\n"
)
_IN_MEMORY: Final = "exec,mode=1777"
"""Libraries are unpacked to such a folder, and run from there."""


@dataclass(frozen=True, slots=True)
class Service:
    name: str
    image: ContainerImage
    configuration: Configuration


@dataclass(frozen=True, slots=True)
class StackFolder:
    folder: Path
    """Absolute; of `compose.yaml`."""
    user: int
    group: int
    read_only: tuple[Path, ...] = ()
    """Folders of tables, at the same place inside and outside."""

    @property
    def work(self) -> Path:
        return self.folder / FOLDER / _WORK

    @property
    def warehouse(self) -> Path:
        return self.work / WAREHOUSE


def files(services: Sequence[Service], stack: StackFolder) -> dict[str, str]:
    users = user_files(stack.user, stack.group)
    result = {f"{FOLDER}/{_NAMES}{path}": text for path, text in users.items()}
    for service in services:
        for name, text in _settings(service, stack).files.items():
            result[f"{FOLDER}/{service.name}/{name}"] = text
    written = yaml_writer.written(_lines(document(services, stack)), offset=2)
    return {FILE: f"{_HEAD}{written}", **result}


def document(services: Sequence[Service], stack: StackFolder) -> dict[str, Any]:
    ports: dict[str, int] = {}
    for service in services:
        port = service.image.contract.port
        while port in ports.values():  # of this machine: its own, or the next that is free
            port += 1
        ports[service.name] = port
    every = {service.name: _service(service, stack, ports[service.name]) for service in services}
    networks = {"default": {"name": NETWORK}}
    return {"version": "2.4", "services": _escaped(every), "networks": networks}


def _service(service: Service, stack: StackFolder, port: int) -> dict[str, Any]:
    contract, given = service.image.contract, _settings(service, stack)
    most = f"{given.limit_mb}m"
    result: dict[str, Any] = {
        "image": service.image.reference,
        "user": f"{stack.user}:{stack.group}",
        "environment": dict(given.environment),
        "mem_limit": most,
        "memswap_limit": most,
        "tmpfs": [f"{path}:{_IN_MEMORY}" for path in (stack.work, *contract.writable)],
        "volumes": list(_volumes(service, given.files, stack)),
    }
    if command := contract.waiting or contract.command:
        result["command"] = command
    if contract.waiting:
        result["init"] = True  # else what waits is not ended by a signal
    else:
        result["ports"] = [f"{LOOPBACK}:{port}:{contract.port}"]
    if contract.health:
        test = ["CMD", "bash", "-c", contract.health]
        result["healthcheck"] = {"test": test, "interval": "5s", "timeout": "10s", "retries": 60}
    if service.name != METASTORE:
        result["depends_on"] = {METASTORE: {"condition": "service_healthy"}}
    else:
        result["container_name"] = f"{NETWORK}-{METASTORE}"
    return result


def _volumes(
    service: Service, files: Iterable[str], stack: StackFolder
) -> Iterator[dict[str, Any]]:
    contract = service.image.contract
    for name in files:
        # PrestoDB's entrypoint adds a line to one of these.
        read_only = name not in contract.files
        target = f"{contract.configuration}/{name}"
        yield _bind(f"./{FOLDER}/{service.name}/{name}", target, read_only=read_only)
    for path in user_files(stack.user, stack.group):
        yield _bind(f"./{FOLDER}/{_NAMES}{path}", path, read_only=True)
    for folder in stack.read_only:
        yield _bind(str(folder), str(folder), read_only=True)
    yield _bind(str(stack.warehouse), str(stack.warehouse), read_only=False)


def _bind(source: str, target: str, *, read_only: bool) -> dict[str, Any]:
    return {"type": "bind", "source": source, "target": target, "read_only": read_only}


def _settings(service: Service, stack: StackFolder) -> ContainerSettings:
    contract = service.image.contract
    uri = "" if service.name == METASTORE else f"thrift://{METASTORE}:9083"
    around = contract.surroundings(uri, stack.work)
    return contract.settings(service.configuration, around)


def _escaped(value: Any) -> Any:  # noqa: ANN401 - YAML holds anything
    if isinstance(value, dict):
        return {name: _escaped(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_escaped(entry) for entry in value]
    return value.replace("$", "$$") if isinstance(value, str) else value


def _lines(value: Any, depth: int = 4) -> Any:  # noqa: ANN401 - as above
    """Return data of which each entry has a line of its own, down to those of a service."""
    if not depth or not isinstance(value, dict | list):
        return value
    if isinstance(value, dict):
        return block({name: _lines(entry, depth - 1) for name, entry in value.items()})
    return block([_lines(entry, depth - 1) for entry in value])


def write(names: Iterable[str], folder: Path, cache: Cache, progress: Progress) -> Path:
    """Write a stack of a metastore and these distributions; return its `compose.yaml`.

    Raises UsageProblem: no image is known of one, or the folder's name is none for tables.
    Raises EnvironmentProblem: no daemon answers; there is no image.
    """
    work_folders.check(folder, "--folder")
    every = services(names, cache, progress)
    tables = provide.table_folders(cache)
    stack_place = StackFolder(folder.absolute(), os.getuid(), os.getgid(), tables)
    process_runtime.write(files(every, stack_place), stack_place.folder)
    stack_place.warehouse.mkdir(parents=True, exist_ok=True)
    return folder / FILE


def services(names: Iterable[str], cache: Cache, progress: Progress) -> tuple[Service, ...]:
    """Return the services of a stack: the metastore, and each distribution once."""
    containers = dict.fromkeys(runtime_names.in_runtime(name, CONTAINER) for name in names)
    products = Counter(map(tolerances.product, containers))
    distribution = distributions.load(metastore.distribution_for(containers))
    program = MetastoreProgram(distribution)
    made = [Service(METASTORE, image_choice.choose(distribution, cache, progress), program)]
    for name in containers:
        distribution = distributions.load(name)
        alone = products[tolerances.product(name)] == 1
        called = tolerances.product(name) if alone else runtime_names.lock_name(name)
        configuration = engines.load(distribution.engine).configuration(distribution)
        image = image_choice.choose(distribution, cache, progress)
        made.append(Service(called, image, configuration))
    return tuple(made)
