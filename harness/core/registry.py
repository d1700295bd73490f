"""Things that are found by name: those of the harness, and those that installed packages add.

A package adds one by an entry point of a group such as `lake_table_harness.formats`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, Generic, TypeVar

from harness.core.errors import EnvironmentProblem
from harness.core.problems import unknown_name

GROUPS: Final = "lake_table_harness"
OURS: Final = "the harness"
PAGE: Final = "docs/contributing.md#a-package-that-adds-something"

Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Registry(Generic[Thing]):
    """Everything of one kind, by name."""

    kind: str
    """What one is called: `format`; its group of entry points is the plural."""
    ours: Callable[[], Mapping[str, Thing]]
    interface: type | None = None
    """The class whose public members an object has; None: nothing is asked of it."""

    def names(self) -> tuple[str, ...]:
        return tuple(sorted((*_ours(self), *_added(self))))

    def load(self, name: str) -> Thing:
        """Return the thing of a name; EnvironmentProblem: a package's that cannot be loaded."""
        ours, added_ = _ours(self), _added(self)
        if name not in ours and name not in added_:
            raise unknown_name(self.kind, name, self.names())
        result: Thing = ours[name] if name in ours else _loaded(self, name)
        return result

    def all(self) -> Mapping[str, Thing]:
        return {name: self.load(name) for name in self.names()}


@cache
def added() -> bool:
    return any(group.startswith(f"{GROUPS}.") for group in entry_points().groups)


@cache
def _ours(registry: Registry[Any]) -> Mapping[str, Any]:
    return registry.ours()


@cache
def _added(registry: Registry[Any]) -> Mapping[str, EntryPoint]:
    result: dict[str, EntryPoint] = {}
    for entry in entry_points(group=f"{GROUPS}.{registry.kind}s"):
        if entry.name in result or entry.name in _ours(registry):
            other = _owner(result[entry.name]) if entry.name in result else OURS
            message = (
                f"two {registry.kind}s are called '{entry.name}': {other} and {_owner(entry)} have"
            )
            raise EnvironmentProblem(f"{message} one; uninstall one of the packages")
        result[entry.name] = entry
    return result


@cache
def _loaded(registry: Registry[Thing], name: str) -> Thing:
    entry = _added(registry)[name]
    message = f"the {registry.kind} '{name}' of {_owner(entry)} cannot be used"
    try:
        result: Thing = entry.load()
    except Exception as wrong:  # whatever the module of somebody else raises
        why = f"{entry.value}: {type(wrong).__name__}: {wrong}"
        raise EnvironmentProblem(f"{message}: {why}") from wrong
    if (local := getattr(result, "NAME", name)) != name:
        raise EnvironmentProblem(f"{message}: it calls itself '{local}'")
    if missing := [
        member for member in _members(registry.interface) if not hasattr(result, member)
    ]:
        why = f"it is made for another version of the harness, and has no {', '.join(missing)}"
        raise EnvironmentProblem(f"{message}: {why}; see {PAGE}")
    return result


def _members(interface: type | None) -> list[str]:
    classes = (
        [] if interface is None else [c for c in interface.__mro__ if c.__module__ != "typing"]
    )
    names = {name for c in classes for name in (*vars(c), *vars(c).get("__annotations__", ()))}
    return sorted(name for name in names if not name.startswith("_"))


def _owner(entry: EntryPoint) -> str:
    package = entry.dist
    return f"package {package.name} {package.version}" if package else entry.value
