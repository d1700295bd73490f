"""Download one file: streamed, resumed where it broke off, and checked before it is used."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO

import requests
import urllib3.exceptions

from harness.artifacts.repository import ENVIRONMENT_VARIABLE, Repository
from harness.core.errors import EnvironmentProblem, unwritable
from harness.core.progress import Progress
from harness.core.texts import counted, without_login

_CHUNK = 1 << 18
"""Bytes taken at once; so many are lost at most when a transfer breaks off."""
_PAUSES = (1.0, 4.0)
"""Seconds before the second and the third attempt."""
_TIMEOUTS = (20, 60)
"""Seconds to connect, and between two pieces of the body."""
_PATIENCE_S = 60.0
_SLOWEST = 1 << 10
"""Bytes a second: whoever sends less, looked at for so long, is taken for silent."""
_AGAIN = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)
"""Refusals that are over after a while, beside those of a server that is out of order."""


@dataclass(frozen=True, slots=True)
class ExpectedFile:
    """A file to download: its path below the repository, and what it must be."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class OpenRepository:
    """A repository with the connection to it, which is kept open between files."""

    url: str
    session: requests.Session


@contextmanager
def connected(repository: Repository) -> Iterator[OpenRepository]:
    with requests.Session() as session:
        session.auth = repository.login
        yield OpenRepository(repository.url, session)


def _not_downloaded(url: str, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(f"{without_login(url)}: {reason}")


class _Broken(Exception):
    """The transfer broke off; what came so far is kept."""


def download(
    expected: ExpectedFile, target: Path, source: OpenRepository, progress: Progress
) -> None:
    """Put the file at `target` with its SHA-256, or not at all; `<target>.part` is gone on with."""
    part = target.with_name(target.name + ".part")
    seen = receive(expected.path, expected.size, part, source, progress)
    _check(f"{source.url}/{expected.path}", expected, part, seen)
    try:
        part.replace(target)
    except OSError as error:
        raise unwritable(error, part) from error


def receive(path: str, size: int, part: Path, source: OpenRepository, progress: Progress) -> str:
    """Fetch a file of so many bytes to `part`, also its rest; return its SHA-256 (hexadecimal)."""
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        return _attempts(source.session, f"{source.url}/{path}", size, part, progress)
    except OSError as error:
        raise unwritable(error, part) from error


def measure(path: str, part: Path, source: OpenRepository, progress: Progress) -> tuple[int, str]:
    """Fetch a file that has its repository's SHA-1; return its size in bytes and its SHA-256."""
    with _asked("HEAD", path, source) as response:
        size = int(response.headers["Content-Length"])
    progress.start(f"fetch {path.rpartition('/')[2]} → {part.parent}", size)
    sha256 = receive(path, size, part, source, progress)
    progress.done()
    with _asked("GET", f"{path}.sha1", source) as response:
        stated = response.text.split()[0].lower()
    with part.open("rb") as content:
        seen = hashlib.file_digest(content, lambda: hashlib.sha1(usedforsecurity=False)).hexdigest()
    if seen != stated:
        part.unlink()
        message = f"its SHA-1 is {seen}, and the repository says {stated}; removed"
        raise _not_downloaded(f"{source.url}/{path}", message)
    return size, sha256


@contextmanager
def _asked(method: str, path: str, source: OpenRepository) -> Iterator[requests.Response]:
    url, headers = f"{source.url}/{path}", {"Accept-Encoding": "identity"}
    try:
        with source.session.request(
            method, url, headers=headers, timeout=_TIMEOUTS, allow_redirects=True
        ) as response:
            if response.status_code != HTTPStatus.OK:
                refusal = _refusal(response, url)
                raise (
                    _not_downloaded(url, str(refusal)) if isinstance(refusal, _Broken) else refusal
                )
            yield response
    except (LookupError, ValueError) as error:
        raise _not_downloaded(url, f"the repository's answer is not understood: {error}") from error
    except _NO_ADDRESS as error:
        raise _not_downloaded(url, "this is not an address to download from") from error
    except requests.RequestException as error:
        raise _not_downloaded(url, _reason(error)) from error


def _attempts(
    session: requests.Session, url: str, size: int, part: Path, progress: Progress
) -> str:
    progress.advance(_resumable_bytes(part, size))
    broken = _Broken("not tried")
    for pause in (0.0, *_PAUSES):
        time.sleep(pause)
        try:
            return _transfer(session, url, size, part, progress)
        except _Broken as error:
            broken = error
            progress.note(f"{without_login(url)}: {error}")
    raise _not_downloaded(
        url,
        f"{broken}. Is the network up? Another repository can be named in {ENVIRONMENT_VARIABLE}. "
        "What came so far is kept; the next start goes on from there.",
    )


def _transfer(
    session: requests.Session, url: str, size: int, part: Path, progress: Progress
) -> str:
    """Fetch what `part` still lacks; the SHA-256 of all of it."""
    with part.open("a+b") as out:
        have = _resumable_bytes(part, size)
        out.truncate(have)
        out.seek(0)
        digest = hashlib.file_digest(out, "sha256")
        if have == size:
            return digest.hexdigest()
        try:
            with _get(session, url, have) as response:
                if have and response.status_code == HTTPStatus.OK:  # the server sends all again
                    out.truncate(0)
                    progress.advance(-have)
                    digest, have = hashlib.sha256(), 0
                return _receive(response, out, digest, size - have, progress)
        except _NO_ADDRESS as error:
            raise _not_downloaded(url, "this is not an address to download from") from error
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise _Broken(_reason(error)) from error


def _resumable_bytes(part: Path, size: int) -> int:
    have = part.stat().st_size if part.exists() else 0
    return have if have <= size else 0


def _get(session: requests.Session, url: str, start: int) -> requests.Response:
    """The response that brings the bytes from `start` on, or all of them (status 200)."""
    headers = {"Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    response = session.get(url, headers=headers, stream=True, timeout=_TIMEOUTS)
    if response.status_code == HTTPStatus.OK:
        return response
    resumed = response.headers.get("Content-Range", "").startswith(f"bytes {start}-")
    if response.status_code == HTTPStatus.PARTIAL_CONTENT and resumed:
        return response
    response.close()
    raise _refusal(response, url)


def _refusal(response: requests.Response, url: str) -> Exception:
    status = response.status_code
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _AGAIN:
        return _Broken(f"the repository answered {status} {response.reason}")
    advice: dict[int, str] = {
        HTTPStatus.NOT_FOUND: "the repository does not have it (not every version published can "
        f"be had everywhere); another repository can be named in {ENVIRONMENT_VARIABLE}",
        HTTPStatus.UNAUTHORIZED: "the repository wants a login (settings.xml, or .netrc)",
        HTTPStatus.FORBIDDEN: "the repository does not allow it",
    }
    what = advice.get(status, "this is not an answer with the file")
    return _not_downloaded(url, f"{status} {response.reason}: {what}")


def _receive(
    response: requests.Response,
    out: BinaryIO,
    digest: hashlib._Hash,
    lacking: int,
    progress: Progress,
) -> str:
    started, got = time.monotonic(), 0
    # Piece by piece as they come: a whole chunk of a server that trickles never ends.
    while chunk := response.raw.read1(_CHUNK):
        got += len(chunk)
        waited = time.monotonic() - started
        if waited > _PATIENCE_S and got < waited * _SLOWEST:
            raise _Broken(f"no more than {got} bytes in {waited:.0f} s")
        out.write(chunk)
        digest.update(chunk)
        lacking -= len(chunk)
        progress.advance(len(chunk))
        if lacking < 0:
            break  # larger than it may be: the check that follows says so
    if lacking > 0:
        raise _Broken(f"the transfer ended {counted(lacking, 'byte')} too early")
    return digest.hexdigest()


def _check(url: str, expected: ExpectedFile, part: Path, seen: str) -> None:
    """Remove a file that is not what the lock says, and say what it was."""
    size = part.stat().st_size
    if seen == expected.sha256 and size == expected.size:
        return
    part.unlink()
    raise _not_downloaded(
        url,
        f"not what the lock says, removed: expected {expected.size} bytes with SHA-256 "
        f"{expected.sha256}, got {size} bytes with {seen}",
    )


_NO_ADDRESS = (
    requests.exceptions.InvalidSchema,
    requests.exceptions.InvalidURL,
    requests.exceptions.MissingSchema,
)


def _reason(error: Exception) -> str:
    """Return why there is no answer; never in the library's words, which hold the address."""
    reasons: tuple[tuple[type[Exception], str], ...] = (
        (
            requests.exceptions.SSLError,
            "its certificate is not trusted (REQUESTS_CA_BUNDLE names the ones to trust)",
        ),
        (requests.exceptions.ProxyError, "the proxy does not answer (HTTPS_PROXY names it)"),
        (requests.exceptions.TooManyRedirects, "it sends from one address to another for ever"),
        (requests.Timeout, "no answer in time"),
        (urllib3.exceptions.TimeoutError, "no answer in time"),
    )
    known = (text for kind, text in reasons if isinstance(error, kind))
    return next(known, "no connection, or it broke off")
