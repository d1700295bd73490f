"""A method that works out each thing once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast

Given = ParamSpec("Given")
Made = TypeVar("Made")


class cached_method(Generic[Given, Made]):  # noqa: N801 - a decorator, as cached_property is
    """Keep what a method returns for the same arguments, as long as its object lives.

    The arguments are hashable. The object's class has no slots, like that of a `cached_property`.
    """

    def __init__(self, method: Callable[Concatenate[Any, Given], Made]) -> None:
        """`method` is called at most once for the same arguments, unless it raises."""
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, instance: object, _: type) -> Callable[Given, Made]:
        """Return the method of an object; from then on the object has it itself."""
        found = cast("Callable[Given, Made]", cache(partial(self._method, instance)))
        instance.__dict__[self._method.__name__] = found
        return found
