"""Numbers as Java prints them: which decimal texts stand for a floating one. Pure.

Java prints the fewest digits that tell a number from its neighbours, at least two; before Java 19
too many of some (JDK-4511638), whole numbers and powers of two. Source: `Float.toString` and
`Double.toString` of Java 11.0.13 and 25.0.2, by 600,000 floats and 144,000 doubles.
"""

import decimal
import math
from collections.abc import Callable
from typing import Final

from harness.model.canonical import single

Read = Callable[[float], float]
"""Gives the number of a width that is nearest; the sign is that of what it is given."""

_WHOLE: Final = {"float": 2.0**24, "double": 2.0**53}
"""From here on not every whole number is one of the type."""
_READ: Final[dict[str, Read]] = {"float": single, "double": float}
_LEAST: Final = 2
"""Java prints `2.0`, and `1.4E-45` where one digit would do."""
_EXACT: Final = decimal.Context(prec=1_100)


def number_of(sent: float | decimal.Decimal, kind: str) -> float:
    """Return the `float` or `double` (by `kind`) that a sent number is the text of.

    Raises ArithmeticError: it is greater than all of them. Raises ValueError: it is no text of one.
    """
    number = _READ[kind](float(sent))
    if math.isnan(number) or sent == number:
        return number
    text = sent if isinstance(sent, decimal.Decimal) else decimal.Decimal(str(sent))
    if not is_printed(text, number, kind):
        raise ValueError(f"{text} is near to {number!r}, but no text of it")
    return number


def is_printed(text: decimal.Decimal, number: float, kind: str) -> bool:
    exact = decimal.Decimal(number)
    if not number or not math.isfinite(number) or text == exact:
        return text == exact
    digits = len(text.normalize(_EXACT).as_tuple().digits)
    if text not in _cut(exact, digits):
        return False
    power_of_two = math.frexp(abs(number))[0] == 0.5  # noqa: PLR2004 - its only digit
    if digits <= _LEAST or power_of_two or abs(number) >= _WHOLE[kind]:
        return True
    return not any(_stands_for(shorter, number, kind) for shorter in _cut(exact, digits - 1))


def _cut(exact: decimal.Decimal, digits: int) -> tuple[decimal.Decimal, ...]:
    """Return a number with so many digits: what is behind them left out, and if any, rounded up."""
    last = decimal.Decimal(1).scaleb(exact.adjusted() - digits + 1)
    cut = exact.quantize(last, decimal.ROUND_DOWN, _EXACT)
    return (cut,) if cut == exact else (cut, _EXACT.add(cut, last.copy_sign(exact)))


def _stands_for(text: decimal.Decimal, number: float, kind: str) -> bool:
    try:
        return _READ[kind](float(text)) == number
    except OverflowError:  # greater than the greatest one
        return False
