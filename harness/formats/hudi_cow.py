"""Hudi copy-on-write: a changed row rewrites its base file."""

from __future__ import annotations

from harness.formats.hudi import Hudi
from harness.model.identifiers import TABLE

FORMAT = Hudi("hudi-cow", "cow", {"snapshot": TABLE})
