"""Which artifact repository to fetch from: configuration first, else a library's default."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

from harness.core.errors import EnvironmentProblem

ENVIRONMENT_VARIABLE = "HARNESS_MAVEN_REPOSITORY"


@dataclass(frozen=True, slots=True)
class Repository:
    """Base URL of a repository in Maven layout, without trailing slash, and how to log in."""

    url: str
    login: tuple[str, str] | None = None


def configured() -> Repository:
    """Return the repository that a variable or Maven's settings name, else jgo's default."""
    if named := os.environ.get(ENVIRONMENT_VARIABLE):
        return _checked(Repository(named.rstrip("/")), ENVIRONMENT_VARIABLE)
    settings = Path.home() / ".m2" / "settings.xml"
    if settings.is_file():
        try:
            text = settings.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise _wrong_repository(str(settings), f"cannot be read: {error}") from error
        if mirror := mirror_of_central(text, str(settings), os.environ):
            return _checked(mirror, str(settings))
    # Imported when it is needed: the package is slow to load and downloads are rare.
    from jgo.constants import MAVEN_CENTRAL_URL  # noqa: PLC0415

    return Repository(str(MAVEN_CENTRAL_URL).rstrip("/"))


def _wrong_repository(where: str, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(f"{where}: {reason}")


def mirror_of_central(text: str, where: str, environ: Mapping[str, str]) -> Repository | None:
    try:
        # The file is the user's own configuration; what Maven trusts, we may.
        root = ET.fromstring(text)  # noqa: S314
    except ET.ParseError as error:
        raise _wrong_repository(where, f"not well-formed XML: {error}") from error
    for mirror in root.iterfind("{*}mirrors/{*}mirror"):
        url = _text(mirror, "url", environ)
        # Source: the Maven guide on mirrors (patterns `*`, `external:*`, names, `!name`).
        patterns = {part.strip() for part in _text(mirror, "mirrorOf", environ).split(",")}
        central = "!central" not in patterns and patterns & {"central", "*", "external:*"}
        if url and central:
            login = _login(root, _text(mirror, "id", environ), where, environ)
            return Repository(url.rstrip("/"), login)
    return None


def _checked(repository: Repository, where: str) -> Repository:
    try:
        parts = urlsplit(repository.url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        # Not shown as it is: what is no address may still hold a password.
        problem = "the repository's address is none that can be fetched from"
        raise _wrong_repository(where, f"{problem}; it begins with http:// or https:// and a host")
    return repository


def _login(
    root: ET.Element, server_id: str, where: str, environ: Mapping[str, str]
) -> tuple[str, str] | None:
    for server in root.iterfind("{*}servers/{*}server"):
        if _text(server, "id", environ) == server_id:
            user, password = (_text(server, key, environ) for key in ("username", "password"))
            if password.startswith("{"):
                raise _wrong_repository(
                    where,
                    f"the password of server {server_id!r} is encrypted, which only Maven can "
                    f"read; write it as ${{env.NAME}}, or set {ENVIRONMENT_VARIABLE}",
                )
            return (user, password) if user else None
    return None


def _text(parent: ET.Element, tag: str, environ: Mapping[str, str]) -> str:
    result = (parent.findtext(f"{{*}}{tag}") or "").strip()
    return re.sub(r"\$\{env\.(\w+)\}", lambda match: environ.get(match[1], ""), result)
