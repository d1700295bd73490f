from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from harness.artifacts import repository
from harness.artifacts.repository import Repository, mirror_of_central
from harness.core.errors import EnvironmentProblem

if TYPE_CHECKING:
    from pathlib import Path

NAMESPACE = ' xmlns="urn:settings"'
MIRROR = "<mirror><id>m</id><url>https://repo.example/m/</url><mirrorOf>{}</mirrorOf></mirror>"
SERVER = "<server><id>m</id><username>u</username><password>{}</password></server>"


def settings(mirror_of: str, server: str = "", namespace: str = NAMESPACE) -> str:
    mirror = MIRROR.format(mirror_of)
    return f"<settings{namespace}><mirrors>{mirror}</mirrors><servers>{server}</servers></settings>"


@pytest.mark.parametrize("mirror_of", ["central", "*", "external:*", "other, central", "*,!other"])
def test_a_mirror_that_stands_for_central_is_taken(mirror_of: str) -> None:
    found = mirror_of_central(settings(mirror_of), "s.xml", {})
    assert found == Repository("https://repo.example/m")


@pytest.mark.parametrize("mirror_of", ["other", "*,!central", ""])
def test_any_other_mirror_is_not(mirror_of: str) -> None:
    assert mirror_of_central(settings(mirror_of), "s.xml", {}) is None


def test_settings_without_a_namespace_are_read_too() -> None:
    assert mirror_of_central(settings("*", namespace=""), "s.xml", {}) is not None


def test_the_mirrors_login_is_taken_from_its_server() -> None:
    found = mirror_of_central(settings("*", SERVER.format("p")), "s.xml", {})
    assert found == Repository("https://repo.example/m", ("u", "p"))


def test_a_password_may_be_in_the_environment() -> None:
    text = settings("*", SERVER.format("${env.REPO_PASSWORD}"))
    found = mirror_of_central(text, "s.xml", {"REPO_PASSWORD": "secret"})
    assert found == Repository("https://repo.example/m", ("u", "secret"))


def test_an_encrypted_password_is_told_not_sent() -> None:
    with pytest.raises(
        EnvironmentProblem, match=r"s\.xml: the password of server 'm' is encrypted"
    ):
        mirror_of_central(settings("*", SERVER.format("{abc=}")), "s.xml", {})


def test_broken_settings_are_told() -> None:
    with pytest.raises(EnvironmentProblem, match=r"s\.xml: not well-formed XML"):
        mirror_of_central("<settings>", "s.xml", {})


def home_with_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".m2").mkdir()
    (tmp_path / ".m2" / "settings.xml").write_text(settings("*"))
    monkeypatch.setenv("HOME", str(tmp_path))


def test_the_environment_comes_before_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home_with_settings(tmp_path, monkeypatch)
    monkeypatch.setenv(repository.ENVIRONMENT_VARIABLE, "https://named.example/r/")
    assert repository.configured() == Repository("https://named.example/r")


def test_the_settings_come_before_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home_with_settings(tmp_path, monkeypatch)
    monkeypatch.delenv(repository.ENVIRONMENT_VARIABLE, raising=False)
    assert repository.configured() == Repository("https://repo.example/m")


def test_the_default_is_a_real_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv(repository.ENVIRONMENT_VARIABLE, raising=False)
    found = repository.configured()
    assert found.url.startswith("https://")
    assert found.login is None


@pytest.mark.parametrize(
    "url",
    [
        "ftp://u:secret@h/m",
        "u:secret@host",
        "https://",
        "http://[secret",
        "http://h:99999/secret",
        "file:///secret",
    ],
)
def test_an_address_that_cannot_be_is_told_by_where_it_stands_and_not_shown(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(repository.ENVIRONMENT_VARIABLE, url)
    with pytest.raises(EnvironmentProblem, match=repository.ENVIRONMENT_VARIABLE) as told:
        repository.configured()
    assert "secret" not in str(told.value)


def test_settings_that_cannot_be_read_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home_with_settings(tmp_path, monkeypatch)
    monkeypatch.delenv(repository.ENVIRONMENT_VARIABLE, raising=False)
    (tmp_path / ".m2" / "settings.xml").write_bytes(b"<settings>\xff</settings>")
    with pytest.raises(EnvironmentProblem, match=r"settings\.xml: cannot be read"):
        repository.configured()
