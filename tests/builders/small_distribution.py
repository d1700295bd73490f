"""A distribution of small files: an archive, jars, a patched class."""

import hashlib
import io
import struct
import tarfile
import zipfile

from harness.artifacts.distribution import Artifact, ClassPatch, Distribution, coordinates

COMPILED = b"\xca\xfe\xba\xbe\0\0\0\x34" + struct.pack(">H", 2) + b"\x01\x00\x03old" + b"end"
PATCH = ClassPatch("exec-1.jar", "p.A$B", {"old": "newer"})


def tarball() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name in ("top/lib/a.jar", "top/plugin/hive/b.jar", "top/plugin/other/c.jar", *OLDER):
            info = tarfile.TarInfo(name)
            info.size = len(name)
            tar.addfile(info, io.BytesIO(name.encode()))
    return out.getvalue()


OLDER = tuple(
    f"top/plugin/hive/{name}.jar" for name in ("reader-0.9", "g_reader-0.9", "reader-spi-0.9")
)
"""Two are another version of what is put beside them, one is not."""


def jar_with_class() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as jar:
        jar.writestr("p/A$B.class", COMPILED)
    return out.getvalue()


FILES = {
    "g:server:1:tar.gz": tarball(),
    "g:reader:1:jar": b"reader",
    "g:front:1:jar": b"front",
    "g:exec:1:jar": jar_with_class(),
    "g:also-front:1:jar": b"front",
}


def artifact(name: str, into: str, *members: str) -> Artifact:
    content = FILES[name]
    sha256 = hashlib.sha256(content).hexdigest()
    return Artifact(coordinates(name), len(content), sha256, into, members)


WHOLE = Distribution(
    name="x-1",
    engine="trino",
    version="1",
    fidelity="stock",
    jre="17",
    heap_mb=1,
    memory_mb=1,
    disk_mb=1,
    artifacts=(
        artifact("g:server:1:tar.gz", "archive", "lib", "plugin/hive"),
        artifact("g:reader:1:jar", "plugin/hive"),
        artifact("g:front:1:jar", "front"),
        artifact("g:exec:1:jar", "lib"),
    ),
    patches=(PATCH,),
    listens="loopback",
    settings={},
)
