"""Plain data as YAML text, in quotes where some reader might take a text for something else."""

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

_PLAIN: Final = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)
_NOT_PLAIN: Final = re.compile(r"true|false|null|y|n|yes|no|on|off", re.IGNORECASE)
_WIDE: Final = 1 << 20


def block(value: Mapping[str, Any] | Sequence[Any]) -> CommentedMap | CommentedSeq:
    """Return a collection whose entries get a line each; what is in them has only one."""
    if isinstance(value, Mapping):
        return CommentedMap((_flow(name), _flow(entry)) for name, entry in value.items())
    return CommentedSeq(map(_flow, value))


def _flow(value: Any) -> Any:  # noqa: ANN401 - YAML holds anything
    result = value
    match value:
        case str():
            plain = _PLAIN.fullmatch(value) and not _NOT_PLAIN.fullmatch(value)
            return value if plain else DoubleQuotedScalarString(value)
        case CommentedMap() | CommentedSeq():  # of lines of its own
            return value
        case Mapping() | list() | tuple():
            result = block(value)
            result.fa.set_flow_style()
    return result


def written(root: object, *, offset: int) -> str:
    """Return the text of data; `offset`: by how much the items of lists are indented."""
    yaml, text = YAML(typ="rt", pure=True), io.StringIO()
    yaml.width = _WIDE
    yaml.indent(mapping=2, sequence=2 + offset, offset=offset)
    yaml.dump(root, text)
    return text.getvalue()
