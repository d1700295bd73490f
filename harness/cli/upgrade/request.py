"""What was typed of an upgrade, but for what somebody's own tables are asked by."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from harness.cli.named_parts import NONE, READER, NamedParts
from harness.comparison.acceptance import Acceptance
from harness.usage.usage_file import Usage


@dataclass(frozen=True, slots=True)
class UpgradeRequest:
    old: Sequence[str]
    new: Sequence[str]
    tables: Usage | None = None
    usage: Path | None = None
    """The file that `tables` were read from."""
    accepted: tuple[Acceptance, ...] = ()
    partial_allowed: bool = False
    named: NamedParts = NONE
    k: str = ""
    role: str = READER
    mixed: bool = False
    paths: Sequence[Path] = ()
    profile: str | None = None
    queries: Sequence[str] = ()
    settings: Sequence[str] = ()
    rollout: Path | None = None
    platform: Path | None = None
    dry_run: bool = False

    @property
    def command(self) -> str:
        """Return what asks engines about the same sides, to which options can be added."""
        named = [("--from", name) for name in self.old] + [("--to", name) for name in self.new]
        named += [("--usage", str(self.usage))] if self.usage else []
        named += [("--platform", str(self.platform))] if self.platform else []
        named += [("--as", self.role)] if self.role != READER else []
        named += [("--format", name) for name in self.named.formats]
        named += [("-k", self.k)] if self.k else []
        return shlex.join(["harness", "upgrade", *chain.from_iterable(named), "--run"])

    @property
    def of_runs_alone(self) -> bool:
        """Return whether it is about what no evidence has, such as somebody's own scenarios."""
        parts = self.paths, self.profile, self.queries, self.settings, self.rollout, self.platform
        return any(parts) or bool(self.named.file) or self.mixed or self.role != READER
