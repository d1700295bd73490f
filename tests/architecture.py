"""Reads source files as trees: who imports whom, and which classes there are.

Used by `test_architecture`, which holds the rules themselves.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Graph = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Import:
    """One thing a module imports: `name` is a module, or a module and what is taken from it."""

    module: str
    line: int
    name: str
    for_types_only: bool


@dataclass(frozen=True, slots=True)
class Source:
    """A module: its dotted name, where it is, and its tree."""

    name: str
    path: Path
    text: str = field(repr=False)
    tree: ast.Module = field(repr=False)

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]


def source(name: str, path: Path, text: str) -> Source:
    """Parse one module; a syntax error is raised as it is."""
    return Source(name, path, text, ast.parse(text, filename=str(path)))


def sources(package: Path) -> tuple[Source, ...]:
    """Every module under a package folder, symlinked folders included, sorted by name."""
    found = []
    for folder, subfolders, files in os.walk(package, followlinks=True):
        subfolders[:] = [name for name in subfolders if name != "__pycache__"]
        for path in (Path(folder, name) for name in files if name.endswith(".py")):
            parts = path.relative_to(package.parent).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found.append(source(name, path, path.read_text(encoding="utf-8")))
    return tuple(sorted(found, key=lambda module: module.name))


def imports(module: Source) -> tuple[Import, ...]:
    """All imports: at the top, inside functions, for types only, and by a literal name."""
    return tuple(_imports_in(module.tree, module, for_types_only=False))


def _imports_in(node: ast.AST, module: Source, *, for_types_only: bool) -> Iterator[Import]:
    for name in _names_imported_by(node, module):
        yield Import(module.name, getattr(node, "lineno", 0), name, for_types_only)
    guarded = node.body if isinstance(node, ast.If) and _is_type_checking(node.test) else []
    for child in ast.iter_child_nodes(node):
        typing = for_types_only or child in guarded
        yield from _imports_in(child, module, for_types_only=typing)


def _is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def _names_imported_by(node: ast.AST, module: Source) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(names=names):
            base = _base(node, module)
            return [f"{base}.{alias.name}" for alias in names]
        case ast.Call(func=func, args=[ast.Constant(value=str(name)), *_]):
            dynamic = ast.unparse(func) in {
                "import_module",
                "importlib.import_module",
                "__import__",
            }
            return [name] if dynamic else []
    return []


def _base(node: ast.ImportFrom, module: Source) -> str:
    if not node.level:
        return node.module or ""
    parts = module.package.split(".")
    start = parts[: len(parts) - node.level + 1]
    return ".".join([*start, node.module] if node.module else start)


def re_exports(modules: Iterable[Source]) -> dict[str, str]:
    """Where a name that a package passes on comes from: `harness.a.X` → `harness.a.b.X`."""
    packages = [module for module in modules if module.path.name == "__init__.py"]
    return {
        f"{module.name}.{name.rpartition('.')[2]}": name
        for module in packages
        for name in (imported.name for imported in imports(module))
        if name.startswith(f"{module.name}.")
    }


def origin(name: str, passed_on: Mapping[str, str]) -> str:
    """The name as defined, following what packages pass on."""
    seen = {name}
    while (name := passed_on.get(name, name)) not in seen:
        seen.add(name)
    return name


def module_of(name: str, known: Iterable[str]) -> str:
    """The longest known module that a dotted name lies in; empty where it is none of ours."""
    known = set(known)
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def graph(modules: Iterable[Source]) -> Graph:
    """Which module needs which to be loaded or to work; imports for types only are left out."""
    modules = tuple(modules)
    known = {module.name for module in modules}
    return {
        module.name: frozenset(
            target
            for needed in imports(module)
            if not needed.for_types_only
            and (target := module_of(needed.name, known)) not in {"", module.name}
        )
        for module in modules
    }


def cycle(edges: Graph) -> tuple[str, ...]:
    """One import cycle as a path that ends where it began; empty where there is none."""
    finished: set[str] = set()
    for start in sorted(edges):
        if found := _cycle_from(start, edges, (), finished):
            return found
    return ()


def _cycle_from(
    name: str, edges: Graph, path: tuple[str, ...], finished: set[str]
) -> tuple[str, ...]:
    if name in path:
        return (*path[path.index(name) :], name)
    if name in finished:
        return ()
    for target in sorted(edges.get(name, ())):
        if found := _cycle_from(target, edges, (*path, name), finished):
            return found
    finished.add(name)
    return ()


def classes(module: Source) -> tuple[str, ...]:
    """Return the names of all classes that a module defines, private and nested ones too."""
    return tuple(node.name for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef))
