"""What a scenario alone tells of its table's files: their rows, and names of folders. Pure."""

import re
from collections import Counter
from typing import Final

from harness.model.canonical import text_of
from harness.scenario.definition import Scenario

ESCAPED: Final = re.compile(r"[\x00-\x1f\"#%'*/:=?\\\x7f{\[\]^]")
"""What is not written as it is into a folder's name (`FileUtils.escapePathName` of Hive,
`PartitionPathEncodeUtils` of Hudi)."""


def largest_file(scenario: Scenario) -> int:
    """Return how many rows the largest data file gets, where each insert makes files of its own."""
    every = scenario.survey.history
    counts = (Counter(row.group for row in truth.rows.values()) for truth in every)
    return max((number for count in counts for number in count.values()), default=0)


def has_escaped_values(scenario: Scenario) -> bool:
    """Return whether some partition's value has a character that a folder's name must escape."""
    every = scenario.survey.history
    groups = {row.group for truth in every for row in truth.rows.values()}
    values = (value for _, partition in groups for value in partition if value is not None)
    return any(ESCAPED.search(text_of(value)) for value in values)


def one_row_group(scenario: Scenario) -> str:
    """Return that no file has two rows, so that none has two row groups; empty where one has."""
    if largest_file(scenario) > 1:
        return ""
    return "row_groups=small: every file of this table has one row"
