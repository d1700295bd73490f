"""A Trino 483 or a PrestoDB 0.283 as a team has it: TLS, a password file and tokens, on loopback.

    python -m tests.engines.secure_server trino-483 FOLDER thrift://127.0.0.1:9083
    SECURE_PASSWORD=canary-of-a-password harness doctor --platform FOLDER/platform.yaml

The harness brings its jars and nothing else: the configuration is its own, and the process becomes
the server, which runs until it is ended. No repository has the plugin with password files of 483;
that of 476 is the newest one, and 483 loads it.
"""

import base64
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.artifacts.fetch import Installation
from harness.cli.output import PlainProgress
from harness.engines.trino.engine import class_path
from harness.runtime.process import LOOPBACK, free_port

USER: Final = "auditor"
PASSWORD: Final = "canary-of-a-password"  # noqa: S105 - of this test
VARIABLE: Final = "SECURE_PASSWORD"
SIGNED_BY: Final = "canary-of-a-signing-key-that-is-long"
"""Signs tokens, and is the password of the store of keys."""
PLUGIN: Final = "plugin/password-authenticators"
PLUGIN_OF: Final = {"trino-483": "trino-476", "prestodb-0.283": "prestodb-0.283"}
"""Whose archive has it."""
TOKENS: Final = {
    "trino": "http-server.authentication.jwt.key-file",
    "prestodb": "http.authentication.jwt.key-file",
}
SHARED: Final = {"trino": {"internal-communication.shared-secret": SIGNED_BY}, "prestodb": {}}


def registered(name: str) -> str:
    """Return the name of a distribution with the plugin that takes passwords."""
    (archive,) = (a for a in distributions.load(PLUGIN_OF[name]).artifacts if a.into == "archive")
    members = [*(archive.members if PLUGIN_OF[name] == name else ()), PLUGIN]
    file = {"get": str(archive.coordinates), "size": archive.size, "sha256": archive.sha256}
    secure, artifacts = f"{name}-secure", {"archive": [{**file, "members": members}]}
    data = {"name": secure, "like": name, "artifacts": artifacts}
    distributions.register(secure, json.dumps(data), __file__)
    return secure


def installed(name: str) -> Installation:
    distribution, progress = distributions.load(registered(name)), PlainProgress(sys.stderr)
    return fetch.ensure(distribution, Cache.default(), progress)


def properties(file: Path, values: Mapping[str, object]) -> None:
    file.write_text(
        "".join(f"{name}={value}\n" for name, value in values.items()), encoding="utf-8"
    )


def certificate(folder: Path, java_home: Path) -> None:
    """Make `etc/store.p12` with a key, and `ca.pem` with the certificate that goes with it."""
    store = ("-keystore", str(folder / "etc/store.p12"), "-storepass", SIGNED_BY)
    key = ("-genkeypair", "-keyalg", "RSA", "-dname", "CN=secure", "-ext", f"san=ip:{LOOPBACK}")
    shown = ("-exportcert", "-rfc", "-file", str(folder / "ca.pem"))
    for command in (key, shown):
        done = [str(java_home / "bin" / "keytool"), *command, *store, "-storetype", "PKCS12"]
        subprocess.run(done, check=True, capture_output=True)


def main(name: str, given: str, metastore: str) -> None:
    folder, installation, product = Path(given), installed(name), name.partition("-")[0]
    etc, home = folder / "etc", class_path(installation)[-1].parent
    (etc / "catalog").mkdir(parents=True)
    (folder / "tmp").mkdir()
    (folder / "plugin").symlink_to(home / "plugin")
    certificate(folder, installation.java_home)
    key = base64.b64encode(SIGNED_BY.encode()).decode()
    (etc / "jwt.key").write_text(key, encoding="ascii")
    salt = os.urandom(16)
    hashed = hashlib.pbkdf2_hmac("sha1", PASSWORD.encode(), salt, 1000, 64).hex()
    (etc / "passwords").write_text(f"{USER}:1000:{salt.hex()}:{hashed}\n", encoding="ascii")
    passwords = {"password-authenticator.name": "file", "file.password-file": etc / "passwords"}
    properties(etc / "password-authenticator.properties", passwords)
    plain, port = free_port(), free_port()
    config: dict[str, object] = {
        "coordinator": "true",
        "node-scheduler.include-coordinator": "true",
        "node.environment": "production",
        "node.id": "theirs",
        "node.bind-ip": LOOPBACK,
        "node.internal-address": LOOPBACK,
        "http-server.http.port": plain,
        "discovery.uri": f"http://{LOOPBACK}:{plain}",
        "http-server.https.enabled": "true",
        "http-server.https.port": port,
        "http-server.https.keystore.path": etc / "store.p12",
        "http-server.https.keystore.key": SIGNED_BY,
        "http-server.authentication.type": "PASSWORD,JWT",
        TOKENS[product]: etc / "jwt.key",
        **SHARED[product],
        **installation.distribution.options("config"),
    }
    properties(etc / "config.properties", config)
    settings = installation.distribution.options
    connectors = {**settings("connectors")}
    for catalog, connector in connectors.items():
        values = {"connector.name": connector, "hive.metastore.uri": metastore}
        more = settings(f"{catalog}_catalog")
        properties(etc / f"catalog/{catalog}.properties", {**values, **more})
    (folder / "platform.yaml").write_text(
        f"""\
engines:
  production-{product}:
    like: {name}
    address: https://{LOOPBACK}:{port}
    user: {USER}
    password: {{env: {VARIABLE}}}
    certificate: ca.pem
    catalogs: {json.dumps({catalog: catalog for catalog in connectors})}
""",
        encoding="utf-8",
    )
    paths = os.pathsep.join(str(path) for path in class_path(installation)[:-1])
    lib = f"{paths}{os.pathsep * bool(paths)}{class_path(installation)[-1]}/*"
    java, options = str(installation.java), installation.distribution.java_options
    places = (f"-Djava.io.tmpdir={folder / 'tmp'}", "-Dconfig=etc/config.properties")
    os.chdir(folder)
    start = installation.distribution.text("main")
    os.execv(java, [java, *options, *places, "-cp", lib, start])  # noqa: S606 - no shell


if __name__ == "__main__":
    main(*sys.argv[1:])
