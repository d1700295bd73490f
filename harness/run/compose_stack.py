"""The stack of a run in containers, for Docker Compose: which services, of which images."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from harness import engines
from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.core import runtime_names, tolerances
from harness.core.progress import Progress
from harness.core.runtime_names import CONTAINER
from harness.runtime import compose, image_choice, metastore, process_runtime, provide, work_folders
from harness.runtime.compose import Service, StackFolder
from harness.runtime.metastore import MetastoreProgram


def write(names: Iterable[str], folder: Path, cache: Cache, progress: Progress) -> Path:
    """Write a stack of a metastore and these distributions; return its `compose.yaml`.

    Raises UsageProblem: no image is known of one, or the folder's name is none for tables.
    Raises EnvironmentProblem: no daemon answers; there is no image.
    """
    work_folders.check(folder, "--folder")
    every = services(names, cache, progress)
    tables = provide.table_folders(cache)
    stack_place = StackFolder(folder.absolute(), os.getuid(), os.getgid(), tables)
    process_runtime.write(compose.files(every, stack_place), stack_place.folder)
    stack_place.warehouse.mkdir(parents=True, exist_ok=True)
    return folder / compose.FILE


def services(names: Iterable[str], cache: Cache, progress: Progress) -> tuple[Service, ...]:
    """Return the services of a stack: the metastore, and each distribution once."""
    containers = dict.fromkeys(runtime_names.in_runtime(name, CONTAINER) for name in names)
    products = Counter(map(tolerances.product, containers))
    distribution = distributions.load(metastore.distribution_for(containers))
    program = MetastoreProgram(distribution)
    made = [Service(compose.METASTORE, image_choice.choose(distribution, cache, progress), program)]
    for name in containers:
        distribution = distributions.load(name)
        alone = products[tolerances.product(name)] == 1
        called = tolerances.product(name) if alone else runtime_names.lock_name(name)
        configuration = engines.load(distribution.engine).configuration(distribution)
        image = image_choice.choose(distribution, cache, progress)
        made.append(Service(called, image, configuration))
    return tuple(made)
