"""Read lock data (a YAML file for each distribution) strictly into a Distribution. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Never

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError

from harness.artifacts.distribution import (
    ARCHIVE,
    Artifact,
    ClassPatch,
    CodePatch,
    Coordinates,
    Distribution,
    Reads,
    Setting,
)
from harness.core.errors import UsageProblem

_COORDINATES = (4, 5)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_BYTE = re.compile(r"[0-9a-f]{2}")
_SAFE_FOLDER = re.compile(r"[a-z0-9][a-z0-9_-]*(/[a-z0-9][a-z0-9_.-]*)*")


@dataclass(frozen=True, slots=True)
class Block:
    """A mapping of the file, with the place it came from for messages."""

    where: str
    items: CommentedMap

    def fail(self, what: str, key: str | None = None) -> Never:
        """Raise UsageProblem `file:line: what`, at the line of `key` when it is in the block."""
        place = self.items.lc.key(key) if key in self.items else (self.items.lc.line, 0)
        raise UsageProblem(f"{self.where}:{place[0] + 1}: {what}")

    def only(self, *allowed: str) -> None:
        """Refuse every key that is not one of `allowed`."""
        for key in self.items:
            if key not in allowed:
                self.fail(f"unknown key {key!r}; allowed are: {', '.join(allowed)}", key)

    def text(self, key: str) -> str:
        """The text under `key`, which must be there and not be empty."""
        value = self._get(key)
        if not isinstance(value, str) or not value:
            self.fail(f"{key} is {value!r}; it must be a text (quote numbers)", key)
        return str(value)

    def number(self, key: str) -> int:
        """The whole number, not negative, under `key`, which must be there."""
        value = self._get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            self.fail(f"{key} is {value!r}; it must be a whole number, not negative", key)
        return int(value)

    def texts(self, key: str) -> tuple[str, ...]:
        """The list of texts under `key`; empty when it is absent."""
        value = self.items.get(key, CommentedSeq())
        if not isinstance(value, CommentedSeq) or not all(isinstance(v, str) for v in value):
            self.fail(f"{key} must be a list of texts", key)
        return tuple(str(item) for item in value)

    def block(self, key: str) -> Block:
        """The mapping under `key`; empty when it is absent."""
        value = self.items.get(key, CommentedMap())
        if not isinstance(value, CommentedMap):
            self.fail(f"{key} must be a mapping", key)
        return Block(self.where, value)

    def blocks(self, key: str) -> tuple[Block, ...]:
        """The list of mappings under `key`; empty when it is absent."""
        value = self.items.get(key, CommentedSeq())
        if not isinstance(value, CommentedSeq) or not all(
            isinstance(item, CommentedMap) for item in value
        ):
            self.fail(f"{key} must be a list of mappings", key)
        return tuple(Block(self.where, item) for item in value)

    def _get(self, key: str) -> object:
        if key not in self.items:
            self.fail(f"{key} is missing")
        return self.items[key]


def read_block(text: str, where: str) -> Block:
    """The mapping that a YAML text is. Raises UsageProblem `file:line: what is wrong`."""
    try:
        content = YAML(typ="rt", pure=True).load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or error
        raise UsageProblem(f"{where}:{mark.line + 1 if mark else 1}: not YAML: {what}") from error
    if not isinstance(content, CommentedMap):
        raise UsageProblem(f"{where}:1: the file must be a mapping")
    return Block(where, content)


def parse(text: str, where: str, other: Callable[[str], Distribution]) -> Distribution:
    """A distribution from the text of its lock file.

    `where` is the file's name for messages; `other` loads the distribution that `artifacts_from`
    names, whose artifacts and patches come before the ones of this file.
    Raises UsageProblem `file:line: what is wrong; what is allowed`.
    """
    top = read_block(text, where)
    top.only(
        "name", "engine", "version", "fidelity", "jre", "heap_mb", "memory_mb", "disk_mb",
        "listens", "artifacts_from", "artifacts", "patches", "reads", "settings",
    )  # fmt: skip
    base = other(top.text("artifacts_from")) if "artifacts_from" in top.items else None
    return Distribution(
        name=top.text("name"),
        engine=top.text("engine"),
        version=top.text("version"),
        fidelity=_fidelity(top),
        jre=top.text("jre"),
        heap_mb=top.number("heap_mb"),
        memory_mb=top.number("memory_mb"),
        disk_mb=top.number("disk_mb"),
        artifacts=(base.artifacts if base else ()) + _artifacts(top.block("artifacts")),
        patches=(base.patches if base else ()) + tuple(map(_patch, top.blocks("patches"))),
        listens=top.text("listens"),
        settings=_settings(top.block("settings")),
        reads=_reads(top.block("reads"), top.block("settings")),
    )


def coordinates(text: str) -> Coordinates:
    """`group:artifact:version[:classifier]:extension` taken apart. Raises ValueError."""
    parts = text.split(":")
    if len(parts) not in _COORDINATES or not all(parts):
        raise ValueError(f"{text!r} is not group:artifact:version[:classifier]:extension")
    if any("/" in part or part.startswith(".") for part in parts):
        raise ValueError(f"{text!r} holds a part that cannot be a file name")
    classifier = parts[3] if len(parts) > min(_COORDINATES) else None
    return Coordinates(parts[0], parts[1], parts[2], classifier, parts[-1])


def sha256(block: Block) -> str:
    """The SHA-256 under the key `sha256`."""
    value = block.text("sha256")
    if not _SHA256.fullmatch(value):
        block.fail(f"sha256 is {value!r}; it must be 64 lower-case hexadecimal digits", "sha256")
    return value


def _fidelity(top: Block) -> str:
    fidelity = top.text("fidelity")
    if fidelity != "stock" and not re.match(r"(repackaged|modified): \S", fidelity):
        allowed = "`stock`, `repackaged: how` or `modified: what`"
        top.fail(f"fidelity is {fidelity!r}; allowed are: {allowed}", "fidelity")
    return fidelity


def _artifacts(roles: Block) -> tuple[Artifact, ...]:
    found: list[Artifact] = []
    for role in roles.items:
        if not isinstance(role, str) or not _SAFE_FOLDER.fullmatch(role):
            roles.fail(f"{role!r} is not a role such as lib, front or plugin/hive", role)
        found += [_artifact(block, role) for block in roles.blocks(role)]
    return tuple(found)


def _artifact(block: Block, role: str) -> Artifact:
    block.only("get", "size", "sha256", "members")
    if "members" in block.items and role != ARCHIVE:
        block.fail(f"only what goes into {ARCHIVE!r} has members", "members")
    try:
        found = coordinates(block.text("get"))
    except ValueError as error:
        block.fail(str(error), "get")
    return Artifact(found, block.number("size"), sha256(block), role, block.texts("members"))


def _patch(block: Block) -> ClassPatch:
    block.only("jar", "class", "replace", "code")
    if "replace" not in block.items and "code" not in block.items:
        block.fail("a patch has replace, or code, or both")
    constants = block.block("replace")
    replace = tuple((str(old), constants.text(old)) for old in constants.items)
    code = _code(block.block("code")) if "code" in block.items else None
    return ClassPatch(block.text("jar"), block.text("class"), replace, code)


def _code(block: Block) -> CodePatch:
    block.only("find", "put", "text")
    found = {key: block.text(key).split() for key in ("find", "put")}
    for key, wildcard in (("find", ".."), ("put", "tt")):
        if not all(item == wildcard or _BYTE.fullmatch(item) for item in found[key]):
            block.fail(f"{key} must be bytes such as 0f, or {wildcard}, with spaces between", key)
    if len(found["find"]) != len(found["put"]):
        block.fail("put must be as long as find: what follows stays where it is", "put")
    return CodePatch(" ".join(found["find"]), " ".join(found["put"]), block.text("text"))


def _reads(families: Block, settings: Block) -> tuple[Reads, ...]:
    """Read the newest table versions that are known, each of a library that `settings` name."""
    found: list[Reads] = []
    for family in families.items:
        if family not in settings.items:
            families.fail(f"settings say no version of the library {family!r}", family)
        block = families.block(family)
        block.only("up_to", "source")
        found.append(Reads(family, block.number("up_to"), block.text("source")))
    return tuple(found)


def _settings(block: Block) -> Mapping[str, Setting]:
    return MappingProxyType({str(key): _setting(block, key) for key in block.items})


def _setting(block: Block, key: str) -> Setting:
    value = block.items[key]
    if isinstance(value, CommentedMap):
        inner = block.block(key)
        return MappingProxyType({str(name): inner.text(name) for name in inner.items})
    if isinstance(value, CommentedSeq):
        return block.texts(key)
    if isinstance(value, bool | int):
        return value
    return block.text(key)
