"""An installed package as Python finds it: metadata with entry points, in a folder on the path."""

from collections.abc import Mapping
from pathlib import Path


def install(folder: Path, groups: Mapping[str, Mapping[str, str]], name: str = "toys") -> None:
    """Make the metadata of a package; `groups`: its entry points by the kind of thing they add."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    info.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = []
    for group, entries in groups.items():
        lines.append(f"[lake_table_harness.{group}]")
        lines += [f"{text} = {object_}" for text, object_ in entries.items()]
    info.joinpath("entry_points.txt").write_text("\n".join(lines))
