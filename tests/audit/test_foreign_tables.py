"""Tables that other projects wrote: what their files give is what those expect.

They lie in `../shared/tables` beside the checkout and are no part of it; the variable
LAKE_TABLE_HARNESS_SHARED names another folder `shared`.
"""

import os
from pathlib import Path
from typing import Final

import pytest

from harness.audit import expected_answers
from harness.audit.expected_answers import TableWithAnswers
from tools import foreign_tables

VARIABLE: Final = "LAKE_TABLE_HARNESS_SHARED"


def shared() -> Path:
    """Return the folder beside the checkout, or beside a folder that it lies in."""
    if given := os.environ.get(VARIABLE):
        return Path(given)
    beside = [folder / "shared" for folder in Path(__file__).resolve().parents[3:]]
    return next((folder for folder in beside if (folder / "tables").is_dir()), beside[0])


TABLES: Final = tuple(expected_answers.tables(shared() / "tables"))
MISSING: Final = "../shared/tables is not there (tables that other projects wrote)"


@pytest.mark.skipif(not TABLES, reason=MISSING)
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_version_and_question_is_as_its_project_expects(table: TableWithAnswers) -> None:
    assert list(foreign_tables.wrong(table)) == []
