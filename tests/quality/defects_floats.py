"""A planted reader that takes doubles for floats: seen where a value needs more than a float has.

Made values are exact in both, so the histories have explicit ones.
"""

from __future__ import annotations

import math
import random
import struct
from dataclasses import replace

from harness.core.records import FindingKind
from harness.model.canonical import Value
from tests.builders.random_story import Plot
from tests.builders.table_story import Story
from tests.builders.traced_answer import Seen, read, spoil
from tests.quality.planted import planted


def _precise(plot: Plot, _: random.Random) -> Plot:
    columns = plot.columns.replace("ts long, ", "ts long, x double, ", 1)
    steps = f"{plot.steps}; row id=401 x=0.1; row id=402 x=1234567.891; touch some"
    return replace(plot, columns=columns, steps=steps)


def _as_float(value: Value) -> Value:
    if value is None:
        return None
    try:
        (short,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:  # Python refuses where Java's cast gives infinity
        return math.copysign(math.inf, value)
    return value if short == value else short


@planted("doubles with the digits of a float", twist=_precise)
def _short(story: Story, _: random.Random) -> Seen:
    return spoil(read(story), ["double"], FindingKind.ALTERED_VALUE, _as_float)
