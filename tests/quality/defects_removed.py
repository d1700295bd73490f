"""Planted readers of tables of which old files were cleaned away, or old commits archived.

What is older than the first commit of the list was committed: a reader that goes by the list alone
overlooks the files that have not been written anew since.
"""

from __future__ import annotations

import random
from dataclasses import replace

from tests.quality.chance import Plot
from tests.quality.notation import Told
from tests.quality.planted import plant
from tests.quality.shadow import Seen, read


def _archived(plot: Plot, _: random.Random) -> Plot:
    """Let file groups stay as they were before commits are archived, and one be written anew."""
    before = "insert 401..403; insert 404,405; upsert 401; delete 402"
    since = "upsert 404; insert 406"
    return replace(plot, mor=False, steps=f"{plot.steps}; {before}; clean; archive; {since}")


def _by_the_list(told: Told, _: random.Random) -> Seen:
    archived = told.truth.oldest
    return read(told, files=lambda file: None if file.step < archived else file)


plant("archive: all files (right)", lambda told, _: read(told), harmless=True, twist=_archived)
plant("archive: files of archived commits overlooked", _by_the_list, twist=_archived)
