"""Which official images are taken by digest, so that a run is repeated with those that it had."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from harness.artifacts import distributions
from harness.core.errors import UsageProblem
from harness.runtime import image

PINS: Final = "HARNESS_IMAGES"
"""The variable with official images by digest, written as `run.json` does: `name:tag@sha256:…`."""
_PIN: Final = re.compile(r"(?P<name>[^@]+)@sha256:[0-9a-f]{64}")


@dataclass(eq=False)
class PinProblem(UsageProblem):
    """The variable holds something else than official images by digest."""

    given: str

    def __str__(self) -> str:
        return (
            f"{PINS}: {self.given!r} is no official image by digest; allowed are, separated by "
            "spaces, names as run.json has them: trinodb/trino:476@sha256:… with 64 digits"
        )


def pinned(official: str) -> str:
    """Return what the user wants instead of an official image, registry and digest included.

    Empty where it is any image of this name.

    Raises:
        PinProblem: the variable is wrong, whichever image it is about.

    """
    text = os.environ.get(PINS, "")
    if not text:
        return ""
    every = {image.official(distributions.load(each)) for each in distributions.names()}
    return read(text, every - {""}).get(official, "")


def read(text: str, known: Collection[str]) -> Mapping[str, str]:
    """Return images by digest by the official names that they stand for. Pure.

    Raises:
        PinProblem: one is written wrongly, or stands for none of `known`.

    """
    pins = dict[str, str]()
    for each in text.split():
        found = _PIN.fullmatch(each)
        fitting = [one for one in known if found and f"/{found['name']}".endswith(f"/{one}")]
        if not fitting:
            raise PinProblem(each)
        pins[fitting[0]] = each
    return pins
