"""Values as Python writes them, for writers that are libraries of it. Pure."""

import datetime
import decimal
import math

from harness.model.canonical import MapValue, Value


def expression(value: Value) -> str:
    r"""Return a value of one of our types as Python for Arrow.

    >>> expression({"a": (1, None), "b": "{location}"})
    "{'a': [1, None], 'b': '\\x7blocation}'}"
    """
    match value:
        case MapValue():
            return f"[{', '.join(f'({expression(k)}, {expression(v)})' for k, v in value.pairs)}]"
        case dict():
            parts = (f"{expression(name)}: {expression(part)}" for name, part in value.items())
            return f"{{{', '.join(parts)}}}"
        case tuple():
            return f"[{', '.join(map(expression, value))}]"
        case float() if not math.isfinite(value):
            return f"float({str(value)!r})"
        case decimal.Decimal():
            return f"Decimal({str(value)!r})"
        case datetime.datetime():
            return f"datetime.fromisoformat({value.isoformat()!r})"
        case datetime.date():
            return f"date.fromisoformat({value.isoformat()!r})"
        case str() | bytes():
            # Braces would be taken for a placeholder of ours.
            return repr(value).replace("{", "\\x7b")
    return repr(value)
