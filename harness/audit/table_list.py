"""The tables that somebody names: addresses, several of them, and files that list them."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Final

from harness.audit.tables import METADATA_FILES, PinnedTable, pinned
from harness.core import yaml_reader
from harness.core.errors import HarnessError, UsageProblem
from harness.core.problems import Problems
from harness.core.texts import printable, without_login
from harness.usage.catalog_table import fits
from harness.usage.named_catalog import CATALOGS
from harness.usage.usage_file import UsedFormat, UsedTable

_COMMENT: Final = re.compile(r"(^|\s)#.*")
_GLOB: Final = re.compile(r"[*?[]")
ALLOWED: Final = "allowed: an address, and behind it names of tables, such as sales.orders"


@dataclass(frozen=True, slots=True)
class TableAddress:
    """Where tables are: a folder (`/sales.db/ord*` are several), a metastore, a REST catalog.

    A catalog of a platform file is called by its name there; `lake:sales.orders` is a table of it.
    """

    address: str
    tables: tuple[str, ...] = ()
    """Patterns of `database.table`, those that are taken; all if none."""

    def takes(self, name: str) -> bool:
        return fits(name, self.tables)

    @property
    def databases(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(pattern.rpartition(".")[0] for pattern in self.tables))


def read(path: Path) -> tuple[TableAddress, ...]:
    """Read a list, a line for each address. Raises ScenarioProblem, by file and line."""
    text, problems = yaml_reader.read(path, kind="a list of tables"), Problems(str(path))
    addresses = list[TableAddress]()
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            words = shlex.split(_COMMENT.sub("", line))
        except ValueError as wrong:
            problems.add(number, f"{wrong}; quote an address that holds a blank")
            continue
        for pattern in words[1:]:
            if "." not in pattern:
                problems.add(number, f"'{pattern}' is no database.table; {ALLOWED}")
        if words[:1] == [""]:
            problems.add(number, f"the address is empty; {ALLOWED}")
        addresses += [TableAddress(words[0], tuple(words[1:]))] if words else []
    problems.raise_if_any()
    if not addresses:
        problems.stop(1, f"the list names no table; {ALLOWED}")
    return tuple(addresses)


def pinned_tables(
    addresses: Sequence[TableAddress], databases: Sequence[str] = ()
) -> tuple[PinnedTable | UsedTable, ...]:
    """Return the tables at addresses, each once; what cannot be looked at says why.

    Raises HarnessError where one address alone is named, and wrong.
    """
    listed: dict[tuple[str, str], PinnedTable | UsedTable] = {}
    for one in (one for address in addresses for one in expanded(address)):
        name = without_login(one.address)
        try:
            at_address = [
                table
                for table in pinned(one.address, one.databases or databases)
                if one.takes(_name(table))
            ]
            if not at_address:
                which = f" like {', '.join(one.tables)}" if one.tables else ""
                raise UsageProblem(printable(f"there is no table{which} at {name}"))
        except HarnessError as problem:
            if len(addresses) == 1:
                raise
            at_address = [UsedTable(name, UsedFormat.OTHER, unread=str(problem))]
        for table in at_address:
            location = table.table.location if isinstance(table, PinnedTable) else ""
            listed.setdefault((_name(table), location), table)
    return tuple(listed.values())


def expanded(given: TableAddress) -> list[TableAddress]:
    """Return what an address stands for: several folders, or what a catalog's name says."""
    address, tables = given.address, given.tables
    name, _, chosen = address.partition(":")
    if name in CATALOGS:
        one = (chosen if "." in chosen else f"{chosen}.*",) if chosen else ()
        return [TableAddress(name, (*one, *tables))]
    local = "://" not in address and _GLOB.search(address) is not None
    names = sorted(glob(address)) if local else []  # noqa: PTH207 - of a whole path
    # Beside tables lie lists, notes and the like.
    names = [n for n in names if Path(n).is_dir() or n.endswith(METADATA_FILES)]
    return [TableAddress(name, tables) for name in names or [address]]


def _name(table: PinnedTable | UsedTable) -> str:
    return table.name if isinstance(table, UsedTable) else table.table.name
