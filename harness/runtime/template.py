"""Configuration files of servers, rendered from the templates that container images use too."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final

import jinja2

SUFFIX: Final = ".j2"


def render(engine: str, name: str, values: Mapping[str, object]) -> str:
    """Return the template `containers/<engine>/<name>.j2` filled in, escaped in `*.xml`."""
    return _templates().get_template(f"{engine}/{name}{SUFFIX}").render(values)


def sources(engine: str) -> tuple[tuple[str, str], ...]:
    folder = resources.files("harness.containers") / engine
    files = sorted(folder.iterdir(), key=lambda file: file.name) if folder.is_dir() else []
    return tuple(
        (file.name, file.read_text(encoding="utf-8"))
        for file in files
        if file.name.endswith(SUFFIX)
    )


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(_source),
        autoescape=jinja2.select_autoescape((f"xml{SUFFIX}",), default=False),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _source(name: str) -> str | None:
    file = resources.files("harness.containers") / name
    return file.read_text(encoding="utf-8") if file.is_file() else None
