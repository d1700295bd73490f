"""Whose doing a wrong answer is."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Responsible(StrEnum):
    """Who is to blame for a wrong answer."""

    READER = "reader"
    """The files hold what was written, and the answer shows something else."""
    WRITER = "writer"
    """The files hold something else than the statements sent, and the answer shows it."""
    CATALOG = "catalog"
    """The writer too: it left the catalog without what the files hold, and the answer lacks it."""
    COLUMNS = "columns"
    """The writer too: it left the catalog with other columns, and the answer shows these."""
    HISTORY = "history"
    """The writer too: what the table itself says of its schema is wrong, ids of columns or else."""
    COMMIT = "commit"
    """The writer too: the record of its commit has other metadata than it was told."""
    STATISTICS = "statistics"
    """The writer too: by its statistics no file can hold what is asked for, and files do."""
    FOLDER = "folder"
    """The writer too: the name of a folder says something else, and the answer shows that."""
    MODEL = "model"
    """Files and engines are against the truth, which is looked into before anybody is blamed."""
    UNSURE = "unsure"
    """The files hold what the answer shows; it may be the writer, or a mistake of our own."""


WRITERS: Final = frozenset(
    {
        *(
            Responsible.WRITER,
            Responsible.CATALOG,
            Responsible.COLUMNS,
            Responsible.HISTORY,
            Responsible.COMMIT,
        ),
        *(Responsible.STATISTICS, Responsible.FOLDER),
    }
)
"""The parties that are the writer, each by evidence beside the truth."""
