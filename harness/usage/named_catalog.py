"""Catalogs that a platform file names, what they must be told, and the store of their tables."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

from harness.artifacts.endpoint import OptionalSecret, Secret
from harness.core.texts import without_login

_ADDRESS: Final = r"thrift://[^/@\s]+:\d+|https?://[^/@\s]+(/\S*)?|s3a?://[^/@\s]+(/\S*)?"
_UNHEARD: Final = r"https://.*|http://(127(\.\d+){3}|localhost)([:/].*)?|"
"""What is sent there is sent over TLS, or does not leave this machine."""


@dataclass(frozen=True, slots=True)
class NamedCatalog:
    """The keys of a catalog in a platform file."""

    address: str
    """Of an Iceberg REST catalog, a metastore, or a folder of an object store."""
    warehouse: str = ""
    """Of a REST catalog that has several."""
    token: OptionalSecret = None
    credential: OptionalSecret = None
    """`id:secret` of a client, which gets a token for it there, or else of the catalog."""
    oauth2_server_uri: str = ""
    scope: str = ""

    def __post_init__(self) -> None:
        if not re.fullmatch(_ADDRESS, self.address):
            allowed = "https://host/path, thrift://host:port, s3://bucket/path"
            raise ValueError(f"its address is {without_login(self.address)}; allowed: {allowed}")
        secret = self.token or self.credential
        if (secret or self.warehouse) and not self.address.startswith("http"):
            raise ValueError("warehouse, token and credential are of REST catalogs")
        if self.token and self.credential:
            raise ValueError("a catalog has a token, or a credential; not both")
        sent_to = self.address, self.oauth2_server_uri
        if secret and not all(re.fullmatch(_UNHEARD, address) for address in sent_to):
            raise ValueError("secrets are sent to https addresses, and on this machine, alone")

    def settings(self) -> Mapping[str, str]:
        """Return what the catalog is told; raises EnvironmentProblem."""
        every = {field.name: getattr(self, field.name) for field in fields(self)}
        return {k: v.read() if isinstance(v, Secret) else v for k, v in every.items() if v}


@dataclass(frozen=True, slots=True)
class TableStore:
    """How an object store that speaks S3's protocol is reached."""

    endpoint: str = ""
    region: str = ""
    access_key: OptionalSecret = None
    secret_key: OptionalSecret = None

    def use(self) -> None:
        """Let this process, and what reads tables for it, find no other one.

        Arrow and the libraries know a store by these variables. Raises EnvironmentProblem.
        """
        variables = {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": self.region,
            "AWS_ACCESS_KEY_ID": self.access_key.read() if self.access_key else "",
            "AWS_SECRET_ACCESS_KEY": self.secret_key.read() if self.secret_key else "",
            "AWS_SESSION_TOKEN": "",
        }
        for name in variables:
            os.environ.pop(name, None)
        os.environ.update({name: text for name, text in variables.items() if text})


CATALOGS: Final[dict[str, NamedCatalog]] = {}
"""Those of the platform file of this command."""
