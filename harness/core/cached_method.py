"""A method that works out each thing once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def cached_method(
    method: Callable[Concatenate[Any, Arguments], Result],
) -> Callable[Concatenate[Any, Arguments], Result]:
    """Return a method that keeps its results, by arguments, in its object, which has no slots.

    What raises is tried again. `functools.cache` would keep objects alive.
    """
    name = f"{method.__name__}()"

    @wraps(method)
    def cached(self: Any, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:  # noqa: ANN401
        results: dict[object, Result] = self.__dict__.setdefault(name, {})
        key = args, *kwargs.items()
        if key not in results:
            results[key] = method(self, *args, **kwargs)
        return results[key]

    return cached
