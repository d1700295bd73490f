"""Make the image of a release of Debian that others are built on.

`python -m tests.engines.base_image REFERENCE` ends with 1 where there is no such image;
with a second argument, the folder of a root file system, it is made of that.
"""

import sys
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path

from docker.errors import ImageNotFound

from harness.runtime import docker_daemon

LEFT_OUT = ("usr/share/doc/", "usr/share/man/", "usr/share/locale/", "var/lib/apt/lists/", "proc/")
"""What no image needs."""
TIMEOUT_S = 600


def there(reference: str) -> bool:
    with closing(docker_daemon.client()) as client:
        try:
            client.images.get(reference)
        except ImageNotFound:
            return False
        return True


def make(reference: str, root: Path) -> None:
    def included(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        return None if entry.name.startswith(LEFT_OUT) else entry

    with tempfile.NamedTemporaryFile(suffix=".tar") as file:
        with tarfile.open(fileobj=file, mode="w") as tar:
            for child in sorted(root.iterdir()):
                tar.add(child, child.name, filter=included)
        file.flush()
        repository, _, tag = reference.partition(":")
        with closing(docker_daemon.client()) as client:
            client.api.timeout = TIMEOUT_S
            path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
            client.api.import_image_from_file(file.name, repository, tag, changes=[f"ENV {path}"])


def main() -> int:
    reference, *root = sys.argv[1:]
    if root:
        make(reference, Path(root[0]))
    return 0 if there(reference) else 1


if __name__ == "__main__":
    sys.exit(main())
