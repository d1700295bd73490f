"""Planted readers of tables of which old files were cleaned away, or old commits archived.

What is older than the first commit of the list was committed: a reader that goes by the list alone
overlooks the files that have not been written anew since.
"""

from __future__ import annotations

import random
from dataclasses import replace

from tests.builders.random_story import Plot
from tests.builders.table_story import Story
from tests.builders.traced_answer import Seen, read
from tests.quality.planted import plant


def _archived(plot: Plot, _: random.Random) -> Plot:
    """Let file groups stay as they were before commits are archived, and one be written anew."""
    before = "insert 401..403; insert 404,405; upsert 401; delete 402"
    since = "upsert 404; insert 406"
    return replace(plot, mor=False, steps=f"{plot.steps}; {before}; clean; archive; {since}")


def _by_the_list(story: Story, _: random.Random) -> Seen:
    archived = story.truth.oldest
    return read(story, files=lambda file: None if file.step < archived else file)


plant("archive: all files (right)", lambda story, _: read(story), harmless=True, twist=_archived)
plant("archive: files of archived commits overlooked", _by_the_list, twist=_archived)
