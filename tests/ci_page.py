"""What docs/ci.md tells people to paste, taken apart."""

import re
from typing import Any, Final

from ruamel.yaml import YAML

from tests.wheel import ROOT

PAGE: Final = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
FILES: Final[dict[str, str]] = {
    text.partition("\n")[0].removeprefix("# "): text
    for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
}
"""Every file of the page, by the path that its first line names."""
OWN: Final = tuple(name for name in FILES if name.startswith("my/"))
"""The files that belong to the harness."""


def read(name: str) -> Any:  # noqa: ANN401
    """What a file of the page says."""
    return YAML(typ="safe").load(FILES[name])


def commands(heading: str) -> tuple[str, ...]:
    """The lines of the first block of commands below a heading."""
    below = PAGE.partition(f"\n## {heading}\n")[2]
    result = re.search(r"```\n(.*?)```", below, re.DOTALL)
    assert result, f"no commands below {heading}"
    return tuple(result[1].splitlines())
