from pathlib import Path
from types import SimpleNamespace

import pytest
from docker.errors import APIError, ImageNotFound

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.runtime import docker_daemon, image_choice

TRINO = distributions.load("trino-476@container")
DIGEST = f"sha256:{'a' * 64}"


class Images:
    def __init__(self) -> None:
        self.here: dict[str, str] = {}
        self.elsewhere: dict[str, str] = {}
        self.known: list[str] = []
        """What registries call them."""
        self.architecture = "amd64"

    def get(self, reference: str) -> SimpleNamespace:
        if reference not in self.here:
            raise ImageNotFound(reference)
        return self.stored(self.here[reference])

    def pull(self, reference: str) -> SimpleNamespace:
        if reference not in self.elsewhere:
            raise APIError("500 Server Error", explanation="no such host")
        return self.stored(self.elsewhere[reference])

    def stored(self, id_: str) -> SimpleNamespace:
        attrs = {"RepoDigests": self.known, "Architecture": self.architecture, "Size": 1}
        return SimpleNamespace(id=id_, attrs=attrs)

    def list(self, name: str) -> list[SimpleNamespace]:
        return [
            SimpleNamespace(tags=[tag], id=id_, attrs={"Created": id_})
            for tag, id_ in self.here.items()
            if tag.startswith(f"{name}:")
        ]


@pytest.fixture
def images(monkeypatch: pytest.MonkeyPatch) -> Images:
    known_images = Images()
    api, version = SimpleNamespace(timeout=1), {"Arch": "amd64"}
    client = SimpleNamespace(
        images=known_images, close=lambda: None, api=api, version=lambda: version
    )
    monkeypatch.setattr(docker_daemon, "client", lambda: client)
    monkeypatch.setattr(image_choice, "_chosen", {})
    return known_images


def chosen(folder: Path) -> tuple[str, str]:
    image = image_choice.choose(TRINO, Cache(folder), Progress())
    return image.reference, image.digest


def test_where_there_is_none_people_are_reported_what_to_do(images: Images, tmp_path: Path) -> None:
    images.here = {"lake-table-harness/trino:368-new": "sha256:3"}
    with pytest.raises(EnvironmentProblem) as problem:
        chosen(tmp_path)
    assert str(problem.value) == (
        "trino-476@container: the image trinodb/trino:476 is not on this machine and cannot be "
        "pulled (no such host). HARNESS_IMAGE_PREFIX names another registry; without any registry "
        "build an image of the same contract: harness engines build trino-476"
    )


def test_one_image_answers_as_long_as_a_harness_runs(images: Images, tmp_path: Path) -> None:
    images.here = {"trinodb/trino:476": "sha256:1"}
    chosen(tmp_path)
    images.here = {"trinodb/trino:476": "sha256:2"}
    assert chosen(tmp_path) == ("trinodb/trino:476", "sha256:1")
    assert image_choice.chosen(TRINO.name).fidelity == (
        "image trinodb/trino:476 (official); sha256:1"
    )


def test_an_image_for_other_machines_is_refused(images: Images, tmp_path: Path) -> None:
    images.here, images.architecture = {"trinodb/trino:476": "sha256:1"}, "arm64"
    reason = "trinodb/trino:476 is for arm64, and the Docker daemon's machine is amd64. Remove it"
    with pytest.raises(EnvironmentProblem, match=reason):
        chosen(tmp_path)


BUILT = {
    f"lake-table-harness/trino:{tag}": id_
    for tag, id_ in (("476-old", "sha256:1"), ("476-new", "sha256:2"), ("368-new", "sha256:3"))
}
OFFICIAL = {"trinodb/trino:476": "sha256:4"}
MIRROR = {"registry.example/trinodb/trino:476": "sha256:5"}


@pytest.mark.parametrize(
    ("here", "elsewhere", "prefix", "expected"),
    [
        (OFFICIAL | BUILT, {}, "", OFFICIAL),
        (BUILT, OFFICIAL, "", OFFICIAL),
        ({}, OFFICIAL | MIRROR, "registry.example/", MIRROR),
        (BUILT, {}, "", {"lake-table-harness/trino:476-new": "sha256:2"}),
    ],
    ids=["here", "pulled", "of another registry", "the newest that was built here"],
)
def test_the_official_image_is_taken_or_else_one_that_was_built_here(
    images: Images,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    here: dict[str, str],
    elsewhere: dict[str, str],
    prefix: str,
    expected: dict[str, str],
) -> None:
    monkeypatch.setenv("HARNESS_IMAGE_PREFIX", prefix)
    images.here, images.elsewhere = here, elsewhere
    assert [chosen(tmp_path)] == [*expected.items()]
