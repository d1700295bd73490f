"""A compatibility test harness for lake tables: write once, read with every engine, judge."""

from __future__ import annotations

__version__ = "0.1.0"
