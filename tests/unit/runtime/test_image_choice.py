"""Which image is taken: what is here, what can be pulled, what was built here."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from docker.errors import APIError, ImageNotFound

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.runtime import docker_daemon, image_choice
from harness.runtime.image_choice import NoImageProblem

TRINO = distributions.load("trino-476@container")


class Images:
    """The images of a daemon, and those that its registry has."""

    def __init__(self) -> None:
        self.here: dict[str, str] = {}
        self.elsewhere: dict[str, str] = {}

    def get(self, reference: str) -> SimpleNamespace:
        if reference not in self.here:
            raise ImageNotFound(reference)
        return SimpleNamespace(id=self.here[reference])

    def pull(self, reference: str) -> SimpleNamespace:
        if reference not in self.elsewhere:
            raise APIError("500 Server Error", explanation="no such host")
        return SimpleNamespace(id=self.elsewhere[reference])

    def list(self, name: str) -> list[SimpleNamespace]:
        return [
            SimpleNamespace(tags=[tag], id=id_, attrs={"Created": id_})
            for tag, id_ in self.here.items()
            if tag.startswith(f"{name}:")
        ]


@pytest.fixture
def images(monkeypatch: pytest.MonkeyPatch) -> Images:
    found = Images()
    client = SimpleNamespace(images=found, close=lambda: None, api=SimpleNamespace(timeout=1))
    monkeypatch.setattr(docker_daemon, "client", lambda: client)
    monkeypatch.setattr(image_choice, "_chosen", {})
    return found


def chosen(folder: Path) -> tuple[str, str]:
    found = image_choice.choose(TRINO, Cache(folder), Progress())
    return found.reference, found.digest


def test_the_official_image_is_taken_where_it_is(images: Images, tmp_path: Path) -> None:
    images.here = {"trinodb/trino:476": "sha256:1", "lake-table-harness/trino:476-a": "sha256:2"}
    assert chosen(tmp_path) == ("trinodb/trino:476", "sha256:1")


def test_it_is_pulled_where_it_is_not_here(images: Images, tmp_path: Path) -> None:
    images.elsewhere = {"trinodb/trino:476": "sha256:1"}
    assert chosen(tmp_path) == ("trinodb/trino:476", "sha256:1")


def test_a_prefix_names_another_registry(
    images: Images, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_IMAGE_PREFIX", "registry.example/mirror/")
    images.elsewhere = {"registry.example/mirror/trinodb/trino:476": "sha256:1"}
    assert chosen(tmp_path) == ("registry.example/mirror/trinodb/trino:476", "sha256:1")


def test_the_newest_that_was_built_here_is_taken_where_none_can_be_pulled(
    images: Images, tmp_path: Path
) -> None:
    images.here = {
        "lake-table-harness/trino:476-old": "sha256:1",
        "lake-table-harness/trino:476-new": "sha256:2",
        "lake-table-harness/trino:368-new": "sha256:3",
    }
    assert chosen(tmp_path) == ("lake-table-harness/trino:476-new", "sha256:2")


def test_where_there_is_none_people_are_told_what_to_do(images: Images, tmp_path: Path) -> None:
    images.here = {"lake-table-harness/trino:368-new": "sha256:3"}
    with pytest.raises(NoImageProblem) as problem:
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
