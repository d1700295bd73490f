"""Who is to blame for a finding, as all reports say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from harness.core.responsible import Responsible


@dataclass(frozen=True, slots=True)
class Blame:
    """Who is to blame for a finding, in words."""

    short: str
    meaning: str


PARTIES: Final[Mapping[Responsible | None, Blame]] = {
    Responsible.READER: Blame(
        "the files hold what was written",
        "The reader is to blame: the data files hold what was written, and the answer differs.",
    ),
    Responsible.WRITER: Blame(
        "the files hold the same: the writer is to blame",
        "The writer is to blame: the data files themselves differ from what was written, and the "
        "reader shows what they hold.",
    ),
    Responsible.CATALOG: Blame(
        "the catalog does not list the partition: the writer is to blame",
        "The writer is to blame: the data files hold these rows, but no step entered their "
        "partition in the catalog, and whoever goes by the catalog cannot find them.",
    ),
    Responsible.COLUMNS: Blame(
        "the catalog has other columns: the writer is to blame",
        "The writer is to blame: it left the catalog with other columns than the table has, and "
        "whoever goes by the catalog shows those.",
    ),
    Responsible.HISTORY: Blame(
        "the table's own record of its columns is wrong: the writer is to blame",
        "The writer is to blame: what the table itself says of its columns does not fit older "
        "files: a column has the id of another one there, or its place. Whoever goes by it shows "
        "that one's values, or none.",
    ),
    Responsible.COMMIT: Blame(
        "the commit has other metadata: the writer is to blame",
        "The writer is to blame: the record of its commit, or what it shows of that, has other "
        "extra metadata than the write was told.",
    ),
    Responsible.STATISTICS: Blame(
        "stored statistics exclude the rows: the writer is to blame",
        "The writer is to blame: the data files hold these rows, but the stored statistics of a "
        "column say that they cannot, and whoever leaves out files by these loses them.",
    ),
    Responsible.FOLDER: Blame(
        "the name of the folder says the same: the writer is to blame",
        "The writer is to blame: the name of the folder, by which readers know the value of a "
        "partition, says something else than was written, and whoever goes by it shows that.",
    ),
    Responsible.MODEL: Blame(
        "engines and files agree: check the expected table first",
        "Nobody is blamed yet: several engines give this answer, and the data files hold it. Only "
        "the expected table disagrees, so the mistake may be the harness's own.",
    ),
    Responsible.UNSURE: Blame(
        "the files hold the same: the mistake is the writer's or our own",
        "It is not certain who is to blame: the data files, as we read them, hold this answer. But "
        "the statements do not prove it wrong, or another engine shows what was written. The "
        "mistake may be the writer's, or the harness's: in what it expects, or in how it reads "
        "the files.",
    ),
    None: Blame(
        "",
        "It is not known who is to blame: the values in the data files or the statistics of their "
        "columns could not be checked, or the run is older than that check. Or stored statistics "
        "exclude the rows, and the reader may have lost them in another way as well. Or the "
        "table's history takes the column of a condition for another one.",
    ),
}
