"""Images from a registry: by prefix, tag and digest; what it does not have, and one that is gone.

No official image can be pulled where this is developed: a registry on loopback serves others under
their names.
"""

import os
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from docker.errors import ImageNotFound

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.runtime import docker_daemon, image, image_choice, metastore_client, provide
from harness.runtime.image_choice import ContainerImage
from tests.engines import image_registry
from tests.engines.image_registry import Registry

pytestmark = [pytest.mark.engines, pytest.mark.docker, pytest.mark.usefixtures("docker")]

TRINO = distributions.load("trino-476@container")
OFFICIAL = "trinodb/trino:476"
METASTORE = "hive-metastore-3.1.3@container"


@pytest.fixture(scope="module")
def registry(docker: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    if why := image_registry.missing():
        assert "HARNESS_REQUIRE_DOCKER" not in os.environ, why
        pytest.skip(why)
    with image_registry.serving(tmp_path_factory.mktemp("registry")) as running:
        yield running


@pytest.fixture(scope="module")
def built(docker: None, cache: Cache, progress: Progress) -> str:
    return image_choice.ensure(distributions.load(METASTORE), cache, progress)


@pytest.fixture
def prefix(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Take official images from the registry, in a harness that has chosen none so far."""
    monkeypatch.setenv(image_choice.PREFIX, registry.prefix)
    monkeypatch.setattr(image_choice, "_chosen", {})
    yield registry.prefix
    forget(f"{registry.prefix}{OFFICIAL}")


def forget(*names: str) -> None:
    """Take names, and what no other name is left of, from the daemon's machine."""
    with closing(docker_daemon.client()) as client:
        for name in names:
            with suppress(ImageNotFound):
                client.images.remove(name)
            assert docker_daemon.local(client, name) is None


def chosen(folder: Path) -> ContainerImage:
    return image_choice.choose(TRINO, Cache(folder), Progress())


def test_an_image_is_pulled_from_a_registry_of_ones_own_and_its_digest_is_recorded(
    registry: Registry, prefix: str, tmp_path: Path
) -> None:
    made = image_registry.tiny_image("first")
    digest = registry.push(made, OFFICIAL)
    forget(made)
    container_image = chosen(tmp_path)
    assert container_image.reference == f"{prefix}{OFFICIAL}"
    assert container_image.digest == made
    assert container_image.base == f"{prefix}{OFFICIAL}@{digest}"
    assert f"image {container_image.base} (official); {made}" == container_image.fidelity


def test_a_metastore_runs_of_an_image_that_was_pulled(
    built: str, registry: Registry, prefix: str, tmp_path: Path, cache: Cache, progress: Progress
) -> None:
    name = image.official(distributions.load(METASTORE))
    digest = registry.push(built, name)
    with provide.start_metastore(cache, tmp_path, progress, METASTORE) as running:
        metastore_client.check(running.uri)
    assert image_choice.chosen(METASTORE).base == f"{prefix}{name}@{digest}"
    forget(f"{prefix}{name}")
