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


URL = "https://repo.example/m"
CENTRAL = Repository(URL)


@pytest.mark.parametrize(
    ("text", "mirror"),
    [
        *(
            (settings(mirrored), CENTRAL)
            for mirrored in ("central", "*", "external:*", "other, central")
        ),
        *((settings(mirrored), None) for mirrored in ("other", "*,!central", "")),
        (settings("*,!other"), CENTRAL),
        (settings("*", namespace=""), CENTRAL),
        (settings("*", SERVER.format("p")), Repository(URL, ("u", "p"))),
        (settings("*", SERVER.format("${env.REPO_PASSWORD}")), Repository(URL, ("u", "secret"))),
    ],
)
def test_a_mirror_that_stands_for_central_is_taken_with_its_login(
    text: str, mirror: Repository | None
) -> None:
    assert mirror_of_central(text, "s.xml", {"REPO_PASSWORD": "secret"}) == mirror


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (settings("*", SERVER.format("{abc=}")), "the password of server 'm' is encrypted"),
        ("<settings>", "not well-formed XML"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(text: str, reason: str) -> None:
    with pytest.raises(EnvironmentProblem, match=rf"s\.xml: {reason}"):
        mirror_of_central(text, "s.xml", {})


def home_with_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".m2").mkdir()
    (tmp_path / ".m2" / "settings.xml").write_text(settings("*"))
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.parametrize(
    "url", ["ftp://u:secret@h/m", "u:secret@host", "https://", "http://[secret", "http://h:99999/s"]
)
def test_an_address_that_cannot_be_is_reported_by_where_it_stands_and_not_shown(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(repository.ENVIRONMENT_VARIABLE, url)
    with pytest.raises(EnvironmentProblem, match=repository.ENVIRONMENT_VARIABLE) as error:
        repository.configured()
    assert "secret" not in str(error.value)


def test_the_environment_comes_before_the_settings_and_these_before_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv(repository.ENVIRONMENT_VARIABLE, raising=False)
    assert repository.configured().url.startswith("https://")
    assert repository.configured().login is None
    home_with_settings(tmp_path, monkeypatch)
    assert repository.configured() == Repository("https://repo.example/m")
    (tmp_path / ".m2" / "settings.xml").write_bytes(b"<settings>\xff</settings>")
    with pytest.raises(EnvironmentProblem, match=r"settings\.xml: cannot be read"):
        repository.configured()
    monkeypatch.setenv(repository.ENVIRONMENT_VARIABLE, "https://named.example/r/")
    assert repository.configured() == Repository("https://named.example/r")
