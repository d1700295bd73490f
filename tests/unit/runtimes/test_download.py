from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import pytest

from harness.errors import EnvironmentProblem
from harness.progress import QuietProgress
from harness.runtimes import download as module
from harness.runtimes.download import Wanted, connected, download, file_sha256, shown
from harness.runtimes.repository import Repository
from tests.unit.runtimes.serving import Server, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONTENT = os.urandom(3_000_000)
SHA = hashlib.sha256(CONTENT).hexdigest()
WANTED = Wanted("g/a.jar", len(CONTENT), SHA)


class Counting(QuietProgress):
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


def fetch(server: Server, target: Path, wanted: Wanted = WANTED) -> Counting:
    progress = Counting()
    with connected(Repository(server.url)) as source:
        download(wanted, target, source, progress)
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


def test_a_later_call_goes_on_with_what_an_earlier_one_left(server: Server, tmp_path: Path) -> None:
    (tmp_path / "a.jar.part").write_bytes(CONTENT[:2_000_000])
    progress = fetch(server, tmp_path / "a.jar")
    assert file_sha256(tmp_path / "a.jar") == SHA
    assert server.asked == [("/g/a.jar", "bytes=2000000-")]
    assert progress.bytes == len(CONTENT)


def test_a_part_that_is_complete_is_not_asked_for_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / "a.jar.part").write_bytes(CONTENT)
    fetch(server, tmp_path / "a.jar")
    assert server.asked == []
    assert file_sha256(tmp_path / "a.jar") == SHA


def test_a_part_that_is_too_long_is_begun_anew(server: Server, tmp_path: Path) -> None:
    (tmp_path / "a.jar.part").write_bytes(CONTENT + b"more")
    fetch(server, tmp_path / "a.jar")
    assert file_sha256(tmp_path / "a.jar") == SHA


def test_a_server_without_ranges_sends_all_again(server: Server, tmp_path: Path) -> None:
    server.ranges = False
    (tmp_path / "a.jar.part").write_bytes(b"wrong start")
    progress = fetch(server, tmp_path / "a.jar")
    assert file_sha256(tmp_path / "a.jar") == SHA
    assert progress.bytes == len(CONTENT)


def test_wrong_content_is_removed_and_both_hashes_told(server: Server, tmp_path: Path) -> None:
    wrong = b"\0" * len(CONTENT)
    server.files["/g/a.jar"] = wrong
    with pytest.raises(EnvironmentProblem) as told:
        fetch(server, tmp_path / "a.jar")
    assert SHA in str(told.value)
    assert hashlib.sha256(wrong).hexdigest() in str(told.value)
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_start_left_by_an_earlier_call_is_removed(server: Server, tmp_path: Path) -> None:
    (tmp_path / "a.jar.part").write_bytes(b"\0" * 1000)
    with pytest.raises(EnvironmentProblem, match="not what the lock says, removed"):
        fetch(server, tmp_path / "a.jar")
    assert list(tmp_path.iterdir()) == []


def test_a_longer_file_is_refused(server: Server, tmp_path: Path) -> None:
    server.files["/g/a.jar"] = CONTENT + b"more"
    with pytest.raises(EnvironmentProblem, match="not what the lock says"):
        fetch(server, tmp_path / "a.jar")
    assert list(tmp_path.iterdir()) == []


def test_a_shorter_file_is_refused(server: Server, tmp_path: Path) -> None:
    server.files["/g/a.jar"] = CONTENT[:-1]
    with pytest.raises(EnvironmentProblem):
        fetch(server, tmp_path / "a.jar")
    assert not (tmp_path / "a.jar").exists()


def test_a_missing_file_is_told_with_its_address_and_what_to_do(
    server: Server, tmp_path: Path
) -> None:
    with pytest.raises(EnvironmentProblem, match=r"/g/none\.jar: 404 .* HARNESS_MAVEN_REPOSITORY"):
        fetch(server, tmp_path / "a.jar", Wanted("g/none.jar", 1, SHA))
    assert len(server.asked) == 1


@pytest.mark.parametrize(("status", "what"), [(401, "login"), (403, "allow"), (302, "not an answ")])
def test_a_refusal_is_told_and_not_asked_again(
    server: Server, tmp_path: Path, status: int, what: str
) -> None:
    server.statuses = [status]
    with pytest.raises(EnvironmentProblem, match=f"{status} .*{what}"):
        fetch(server, tmp_path / "a.jar")
    assert len(server.asked) == 1


def test_a_server_that_is_out_of_order_is_asked_again(server: Server, tmp_path: Path) -> None:
    server.statuses = [503, 500]
    progress = fetch(server, tmp_path / "a.jar")
    assert file_sha256(tmp_path / "a.jar") == SHA
    assert "503" in progress.notes[0]


def test_no_server_is_told_after_some_attempts(tmp_path: Path) -> None:
    with serving() as state:
        gone = Repository(state.url.replace("://", "://user:secret@"))
    progress = Counting()
    told = pytest.raises(EnvironmentProblem, match=r"no connection.*Is the network up")
    with connected(gone) as source, told as error:
        download(WANTED, tmp_path / "a.jar", source, progress)
    assert len(progress.notes) == 3
    assert "secret" not in str(error.value) + "".join(progress.notes)


def test_a_full_disk_is_told(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "_receive", full)
    with pytest.raises(EnvironmentProblem, match=r"cannot write .*a\.jar\.part: the disk is full"):
        fetch(server, tmp_path / "a.jar")


def test_a_login_is_sent_and_never_shown(server: Server, tmp_path: Path) -> None:
    login = Repository(server.url.replace("://", "://user:secret@"), ("user", "secret"))
    with connected(login) as source, pytest.raises(EnvironmentProblem) as told:
        download(Wanted("none", 1, SHA), tmp_path / "a.jar", source, QuietProgress())
    assert "secret" not in str(told.value)
    assert server.logins == [("user", "secret")]


def test_an_address_is_shown_without_its_login() -> None:
    assert shown("https://u:p@repo.example:8443/m/a") == "https://repo.example:8443/m/a"
