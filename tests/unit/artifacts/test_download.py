from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from harness.artifacts import download as module
from harness.artifacts.cache import file_sha256
from harness.artifacts.download import ExpectedFile, connected, download
from harness.artifacts.repository import Repository
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from tests.builders.repository_server import Server, serving
from tests.full_disk import full_disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONTENT = os.urandom(3_000_000)
ZEROS = bytes(len(CONTENT))
SHA = sha256(CONTENT).hexdigest()
JAR = ExpectedFile("g/a.jar", len(CONTENT), SHA)


class Counting(Progress):
    def __init__(self) -> None:
        self.bytes = 0
        self.notes: list[str] = []

    def advance(self, amount: int) -> None:
        self.bytes += amount

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as state:
        state.files["/g/a.jar"] = CONTENT
        yield state


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAUSES", (0.0, 0.0))


def fetch(server: Server, target: Path, expected: ExpectedFile = JAR) -> Counting:
    progress = Counting()
    with connected(Repository(server.url)) as source:
        download(expected, target, source, progress)
    return progress


def test_a_file_arrives_whole_and_nothing_else_is_left(server: Server, tmp_path: Path) -> None:
    progress = fetch(server, tmp_path / "in" / "a.jar")
    assert file_sha256(tmp_path / "in" / "a.jar") == SHA
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["a.jar"]
    assert progress.bytes == len(CONTENT)


def test_a_broken_transfer_is_gone_on_with_where_it_broke(server: Server, tmp_path: Path) -> None:
    server.breaks = [1_000_000, 500_000]
    progress = fetch(server, tmp_path / "a.jar")
    assert file_sha256(tmp_path / "a.jar") == SHA
    first, second = (int((asked or "")[6:-1]) for _, asked in server.asked[1:])
    assert 1_000_000 - module._CHUNK < first <= 1_000_000
    assert first + 500_000 - module._CHUNK < second <= first + 500_000
    assert len(progress.notes) == 2
    assert progress.bytes == len(CONTENT)


@pytest.mark.parametrize(
    ("part", "has_ranges", "requests"),
    [
        (CONTENT[:2_000_000], True, [("/g/a.jar", "bytes=2000000-")]),
        (CONTENT, True, []),
        (CONTENT + b"more", True, [("/g/a.jar", None)]),
        (b"wrong start", False, [("/g/a.jar", "bytes=11-")]),
    ],
    ids=["goes on", "complete", "too long", "a server without ranges sends all again"],
)
def test_what_an_earlier_call_left_is_used_as_far_as_it_can_be(
    server: Server,
    tmp_path: Path,
    part: bytes,
    requests: list[tuple[str, str | None]],
    *,
    has_ranges: bool,
) -> None:
    server.ranges = has_ranges
    (tmp_path / "a.jar.part").write_bytes(part)
    progress = fetch(server, tmp_path / "a.jar")
    assert file_sha256(tmp_path / "a.jar") == SHA
    assert server.asked == requests
    assert progress.bytes == len(CONTENT)


@pytest.mark.parametrize(
    ("content", "part", "message"),
    [
        (ZEROS, b"", f"expected 3000000 bytes with SHA-256 {SHA}, .* {sha256(ZEROS).hexdigest()}"),
        (CONTENT, ZEROS[:1000], "not what the lock says, removed"),
        (CONTENT + b"more", b"", "not what the lock says"),
        (CONTENT[:-1], b"", "/g/a.jar: "),
    ],
    ids=["another content", "a wrong start", "longer", "shorter"],
)
def test_a_file_that_is_not_what_the_lock_says_is_refused(
    server: Server, tmp_path: Path, content: bytes, part: bytes, message: str
) -> None:
    server.files["/g/a.jar"] = content
    if part:
        (tmp_path / "a.jar.part").write_bytes(part)
    with pytest.raises(EnvironmentProblem, match=message):
        fetch(server, tmp_path / "a.jar")
    assert not (tmp_path / "a.jar").exists()


@pytest.mark.parametrize(
    ("status", "what"),
    [(401, "login"), (403, "allow"), (302, "not an answ"), (404, "HARNESS_MAVEN_REPOSITORY")],
)
def test_a_refusal_is_reported_and_not_asked_again(
    server: Server, tmp_path: Path, status: int, what: str
) -> None:
    server.statuses = [status]
    with pytest.raises(EnvironmentProblem, match=f"{status} .*{what}"):
        fetch(server, tmp_path / "a.jar")
    assert len(server.asked) == 1


@pytest.mark.parametrize("statuses", [[503, 500], [429, 429], [408, 502]])
def test_a_server_that_is_out_of_order_or_busy_is_asked_again(
    server: Server, tmp_path: Path, statuses: list[int]
) -> None:
    server.statuses = list(statuses)
    progress = fetch(server, tmp_path / "a.jar")
    assert file_sha256(tmp_path / "a.jar") == SHA
    assert len(progress.notes) == len(statuses)
    for status, note in zip(statuses, progress.notes, strict=True):
        assert f"answered {status} " in note


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("/g/a.jar", "it sends from one address to another for ever"),
        ("gopher://user:secret@nowhere/x", "not an address to download from"),
    ],
)
def test_redirects_in_a_circle_or_to_no_address_end_without_showing_it(
    server: Server, tmp_path: Path, location: str, reason: str
) -> None:
    server.statuses, server.location = [302] * 1000, location
    with pytest.raises(EnvironmentProblem, match=reason) as error:
        fetch(server, tmp_path / "a.jar")
    assert not (tmp_path / "a.jar").exists()
    assert "secret" not in str(error.value)


def test_a_server_that_trickles_is_taken_for_silent(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PATIENCE_S", 0.0)
    monkeypatch.setattr(module, "_SLOWEST", 1 << 60)
    with pytest.raises(EnvironmentProblem, match=r"no more than \d+ bytes in 0 s"):
        fetch(server, tmp_path / "a.jar")
    assert not (tmp_path / "a.jar").exists()


def test_a_proxy_that_is_not_there_is_reported_without_its_login(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as state:
        gone = state.url.replace("://", "://user:secret@")
    monkeypatch.setenv("HTTP_PROXY", gone)
    monkeypatch.setenv("http_proxy", gone)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "")
    progress = Counting()
    silent = pytest.raises(EnvironmentProblem, match=r"the proxy does not answer")
    with connected(Repository("http://repo.invalid/m")) as source, silent as error:
        download(JAR, tmp_path / "a.jar", source, progress)
    assert "secret" not in str(error.value) + "".join(progress.notes)


def test_no_server_is_reported_after_some_attempts(tmp_path: Path) -> None:
    with serving() as state:
        gone = Repository(state.url.replace("://", "://user:secret@"))
    progress = Counting()
    refused = pytest.raises(EnvironmentProblem, match=r"no connection.*Is the network up")
    with connected(gone) as source, refused as error:
        download(JAR, tmp_path / "a.jar", source, progress)
    assert len(progress.notes) == 3
    assert "secret" not in str(error.value) + "".join(progress.notes)


def test_a_full_disk_is_reported_and_the_fetch_goes_on_once_there_is_space(
    server: Server, tmp_path: Path
) -> None:
    message = (
        r"cannot write .*a\.jar\.part: the disk is full; free some space, or let HARNESS_CACHE"
    )
    with full_disk(1_000_000), pytest.raises(EnvironmentProblem, match=message):
        fetch(server, tmp_path / "a.jar")
    assert [path.name for path in tmp_path.iterdir()] == ["a.jar.part"]
    fetch(server, tmp_path / "a.jar")
    assert file_sha256(tmp_path / "a.jar") == SHA
    assert server.asked[-1][1] is not None


def test_a_login_is_sent_and_never_shown(server: Server, tmp_path: Path) -> None:
    login = Repository(server.url.replace("://", "://user:secret@"), ("user", "secret"))
    with connected(login) as source, pytest.raises(EnvironmentProblem) as error:
        download(ExpectedFile("none", 1, SHA), tmp_path / "a.jar", source, Progress())
    assert "secret" not in str(error.value)
    assert server.logins == [("user", "secret")]
