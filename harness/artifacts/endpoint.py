"""How a server that already runs is reached, and as which user."""

import os
import re
import ssl
import stat
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field

from harness.core.errors import EnvironmentProblem
from harness.core.texts import without_login

NonEmptyText = Annotated[str, Field(min_length=1)]
HIVE: Final = "hive2"
"""Begins addresses of HiveServer2, also for JDBC (Hive's manual, "HiveServer2 Clients")."""
_TLS: Final = ";ssl=true"
_ADDRESS: Final = rf"https?://[^/@\s]+/?|{HIVE}://[^/@;\s]+/?({_TLS})?"


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a password or token is: in a variable, or in a file that its owner alone can read."""

    env: str = ""
    file: Path | None = None

    def __post_init__(self) -> None:
        if bool(self.env) == bool(self.file):
            raise ValueError("a secret has env, the name of a variable, or file; not both")

    def read(self) -> str:
        """Return it; raises EnvironmentProblem, which never has it."""
        if self.file is None:
            if not (result := os.environ.get(self.env, "").strip()):
                raise EnvironmentProblem(f"the variable {self.env} is not set; it has the secret")
            return self._sendable(result)
        try:
            if stat.S_IMODE(self.file.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
                raise EnvironmentProblem(f"{self.file}: others can read it; chmod 600 {self.file}")
            return self._sendable(self.file.read_text(encoding="utf-8").strip())
        except (OSError, UnicodeDecodeError) as problem:
            raise EnvironmentProblem(f"{self.file}: the secret cannot be read") from problem

    def _sendable(self, text: str) -> str:
        if not text.isprintable():  # who sends it would quote it in an error
            raise EnvironmentProblem(f"{self.env or self.file}: the secret has several lines")
        return text


def _place(given: object) -> object:
    if given is not None and not isinstance(given, dict):  # it would be quoted
        raise ValueError("no secret stands here; name its place: {env: VARIABLE} or {file: PATH}")
    return given


SPARK: Final = "a Spark is asked by its master, in readers.yaml, and none by Spark Connect"
OptionalSecret = Annotated[Secret | None, BeforeValidator(_place)]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The keys of an engine in a platform file."""

    like: NonEmptyText
    """The distribution whose language it speaks."""
    address: str
    """`https://host:port`; of HiveServer2 `hive2://host:port;ssl=true`."""
    catalogs: Mapping[str, NonEmptyText] = field(default_factory=dict)
    """By family of formats, the catalog in which its tables are; Hive has one of all."""
    user: NonEmptyText = "harness"
    password: OptionalSecret = None
    token: OptionalSecret = None
    """A JSON Web Token."""
    certificate: Path | None = None
    """Of who signed the server's, where this machine does not know it."""
    sasl: bool = True
    """Of HiveServer2: False where its `hive.server2.authentication` is NOSASL."""

    def __post_init__(self) -> None:
        if not re.fullmatch(_ADDRESS, self.address):
            allowed = f"https://host:port, and {HIVE}://host:port{_TLS} of HiveServer2"
            raise ValueError(
                f"its address is {without_login(self.address)!r}; allowed: {allowed}; http:// and "
                f"no {_TLS} where nothing is secret; {SPARK}"
            )
        if self.password and self.token:
            raise ValueError("an engine has a password, or a token; not both")
        if (self.password or self.token) and not self.is_encrypted:
            raise ValueError(f"secrets are sent to https addresses and those with {_TLS} alone")
        if not self.sasl and (not self.is_hive or self.password):
            raise ValueError("sasl: false is said of a HiveServer2 that takes no password")

    @property
    def is_encrypted(self) -> bool:
        return self.address.startswith("https:") or self.address.endswith(_TLS)

    @property
    def is_hive(self) -> bool:
        return self.address.startswith(HIVE)

    @property
    def host_and_port(self) -> tuple[str, int]:
        parts = urlsplit(self.address.removesuffix(_TLS))
        usual = 10000 if self.is_hive else 443 if self.is_encrypted else 80
        return parts.hostname or "", parts.port or usual

    def headers(self) -> Mapping[str, str]:
        """Return what says who asks; raises EnvironmentProblem."""
        if self.token:
            return {"Authorization": f"Bearer {self.token.read()}"}
        if self.password:
            login = b64encode(f"{self.user}:{self.password.read()}".encode()).decode()
            return {"Authorization": f"Basic {login}"}
        return {}

    def tls(self) -> ssl.SSLContext | None:
        """Return what a certificate is checked by; raises EnvironmentProblem."""
        try:
            return (
                ssl.create_default_context(cafile=self.certificate) if self.is_encrypted else None
            )
        except OSError as problem:  # ssl.SSLError is one
            raise EnvironmentProblem(
                f"{self.certificate}: no certificates can be read: {problem}"
            ) from problem
