"""A method that works out each thing once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Given = ParamSpec("Given")
Made = TypeVar("Made")


def cached_method(
    method: Callable[Concatenate[Any, Given], Made],
) -> Callable[Concatenate[Any, Given], Made]:
    """Return a method that keeps its results, by arguments, in its object, which has no slots.

    What raises is tried again. `functools.cache` would keep objects alive.
    """
    name = f"{method.__name__}()"

    @wraps(method)
    def cached(self: Any, /, *args: Given.args, **kwargs: Given.kwargs) -> Made:  # noqa: ANN401
        results: dict[object, Made] = self.__dict__.setdefault(name, {})
        key = args, *kwargs.items()
        if key not in results:
            results[key] = method(self, *args, **kwargs)
        return results[key]

    return cached
