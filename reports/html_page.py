"""What all HTML reports share: templates that escape whatever they are given, and how to write."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from harness.core.counting import counted


def rendered(template: str, values: dict[str, object]) -> str:
    """Return a page made of one of our own templates; every value in it is escaped."""
    made = Environment(
        loader=PackageLoader("harness.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["counted"] = counted
    return made.get_template(template).render(values)


def own(*names: str) -> Markup:
    """Return files of our own as they stand, one below the other."""
    folder = resources.files("harness.reports") / "templates"
    texts = ((folder / name).read_text(encoding="utf-8") for name in names)
    return Markup("\n".join(texts))  # noqa: S704 - our own files


def write(page: str, path: Path) -> Path:
    """Write a page, complete or not at all."""
    part = path.with_suffix(".html.part")
    # A lone surrogate in an engine's text has no UTF-8 form.
    part.write_text(page, encoding="utf-8", errors="backslashreplace")
    part.replace(path)
    return path
