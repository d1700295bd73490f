"""Waiting in tests."""

import time
from collections.abc import Callable
from typing import Final

SOON_S: Final = 120.0
LOOK_S: Final = 0.1


def until(condition: Callable[[], bool], otherwise: str, within_s: float = SOON_S) -> None:
    """Wait for a condition; fail with a text where it does not come true soon."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, otherwise
        time.sleep(LOOK_S)
