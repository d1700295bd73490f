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
    """Return a method that keeps what it returns for the same arguments in its object.

    The arguments are hashable; the object's class has no slots, as for a `cached_property`. What
    raises is tried again. `functools.cache` would keep objects alive, or tie each to itself.
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
