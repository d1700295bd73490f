"""Files of JSON lines in which a shared value stands once, with an id by which lines refer to it.

A line with a `variant` begins what is said of it. A line with an `id` says something once for the
whole file; the id ends with a digest of what is said. A file's name tells whether it is text
(`answers.jsonl`) or the same text compressed (`answers.jsonl.xz`).
"""

import hashlib
import json
import lzma
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.scenario.cells import Cell

COMPRESSED: Final = ".xz"
DIGITS: Final = 8
"""Of a digest in an id; as many again where two things have those in common."""

Body = Mapping[str, Any]
"""A line, in the words of JSON."""


@dataclass(slots=True)
class Lines:
    lines: list[str] = field(default_factory=list)
    _texts: dict[str, str] = field(default_factory=dict)

    def add(self, body: Body) -> None:
        self.lines.append(json.dumps(body, ensure_ascii=False))

    def once(self, label: str, body: Body) -> str:
        """Add a line where it is not there yet; give its id."""
        text = json.dumps(body, ensure_ascii=False, sort_keys=True)
        digest, digits = hashlib.sha256(text.encode()).hexdigest(), DIGITS
        while self._texts.get(name := f"{label}-{digest[:digits]}", text) != text:
            digits += DIGITS
        if name not in self._texts:
            self._texts[name] = text
            self.add({"id": name} | dict(body))
        return name

    def table(self, named: Mapping[Cell, str]) -> None:
        rows: dict[tuple[str, str, str], dict[str, str]] = {}
        for cell, name in named.items():
            rows.setdefault((cell.reader, cell.view, cell.query), {})[str(cell.step)] = name
        for (reader, view, query), steps in rows.items():
            self.add({"reader": reader, "view": view, "query": query, "steps": steps})

    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)


@dataclass(slots=True)
class Parsed:
    once: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The shared values by their ids."""
    variants: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """The other lines of each variant."""


def parse(text: str) -> Parsed:
    parsed, lines = Parsed(), list[dict[str, Any]]()
    for line in text.split("\n")[:-1]:  # `splitlines` knows other ends of lines as well
        body = json.loads(line)
        if "id" in body:
            parsed.once[body.pop("id")] = body
        elif "variant" in body:
            lines = parsed.variants.setdefault(body.pop("variant"), [])
            lines += [body] if body else []
        else:
            lines.append(body)
    return parsed


def cells(variant: str, lines: Iterable[Body]) -> Iterator[tuple[Cell, str]]:
    for line in lines:
        for step, name in line["steps"].items():
            yield Cell(variant, int(step), line["reader"], line["view"], line["query"]), name


def find(folder: Path, name: str) -> Path | None:
    both = (folder / name, folder / f"{name}{COMPRESSED}")
    return next((path for path in both if path.is_file()), None)


def read(path: Path) -> str:
    data = path.read_bytes()
    return (lzma.decompress(data) if path.suffix == COMPRESSED else data).decode()


def write(path: Path, text: str) -> None:
    """Write a file, compressed where its name says so.

    One that holds this text stays as it is: another compressor would make other bytes of it.
    """
    if path.is_file() and read(path) == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode()
    path.write_bytes(lzma.compress(data) if path.suffix == COMPRESSED else data)
