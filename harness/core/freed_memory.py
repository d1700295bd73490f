"""Memory that was freed, and that the C library keeps for itself."""

from __future__ import annotations

import ctypes


def give_back() -> None:
    """Give it back to the system, where the C library can: glibc's `malloc_trim(3)`.

    What a parser of a huge text needed is else never used again: Python takes most of its own
    memory past the C library.
    """
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
