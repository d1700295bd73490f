"""Which official images are taken by digest, so that a run is repeated with those that it had."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from typing import Final

from harness.artifacts import distributions
from harness.core.errors import UsageProblem
from harness.runtime import image

PINS: Final = "HARNESS_IMAGES"
"""The variable with official images by digest, written as `run.json` does: `name:tag@sha256:…`."""
_PIN: Final = re.compile(r"(?P<name>[^@]+)@sha256:[0-9a-f]{64}")


def _bad_pin(given: str) -> UsageProblem:
    return UsageProblem(
        f"{PINS}: {given!r} is no official image by digest; allowed are, separated by "
        "spaces, names as run.json has them: trinodb/trino:476@sha256:… with 64 digits"
    )


def pinned(official: str) -> str:
    """Return what the user wants instead of an official image, registry and digest included.

    Empty where it is any image of this name.

    Raises:
        UsageProblem: the variable is wrong, whichever image it is about.

    """
    text = os.environ.get(PINS, "")
    if not text:
        return ""
    every = {image.official(distributions.load(each)) for each in distributions.names()}
    return read(text, every - {""}).get(official, "")


def read(text: str, known: Collection[str]) -> Mapping[str, str]:
    """Return images by digest by the official names that they stand for. Pure.

    Raises:
        UsageProblem: one is written wrongly, or stands for none of `known`.

    """
    pins = dict[str, str]()
    for each in text.split():
        found = _PIN.fullmatch(each)
        fitting = [one for one in known if found and f"/{found['name']}".endswith(f"/{one}")]
        if not fitting:
            raise _bad_pin(each)
        pins[fitting[0]] = each
    return pins
