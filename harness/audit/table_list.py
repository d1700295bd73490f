"""The tables that somebody names: addresses, several of them, and files that list them."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import glob
from pathlib import Path
from typing import Final

from harness.audit.tables import METADATA_FILES, PinnedTable, pinned
from harness.core import yaml_reader
from harness.core.errors import HarnessError, UsageProblem
from harness.core.problems import Problems
from harness.core.texts import printable, without_login
from harness.usage.usage_file import UsedFormat, UsedTable

_COMMENT: Final = re.compile(r"(^|\s)#.*")
_GLOB: Final = re.compile(r"[*?[]")
ALLOWED: Final = "allowed: an address, and behind it names of tables, such as sales.orders"


@dataclass(frozen=True, slots=True)
class TableAddress:
    """Where tables are: a folder (`/sales.db/ord*` are several), a metastore, a REST catalog."""

    address: str
    tables: tuple[str, ...] = ()
    """Patterns of `database.table`, those that are taken; all if none."""

    def takes(self, name: str) -> bool:
        return not self.tables or any(fnmatchcase(name.lower(), p.lower()) for p in self.tables)

    @property
    def databases(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(pattern.rpartition(".")[0] for pattern in self.tables))


def read(path: Path) -> tuple[TableAddress, ...]:
    """Read a list: a line for each address, or YAML. Raises ScenarioProblem, by file and line."""
    text, problems = yaml_reader.read(path, kind="a list of tables"), Problems(str(path))
    of_yaml = path.suffix in {".yaml", ".yml"}
    addresses = _of_yaml(text, str(path)) if of_yaml else tuple(_of_lines(text, problems))
    problems.raise_if_any()
    if not addresses:
        problems.stop(1, f"the list names no table; {ALLOWED}")
    return addresses


def _of_lines(text: str, problems: Problems) -> Iterator[TableAddress]:
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            words = shlex.split(_COMMENT.sub("", line))
        except ValueError as wrong:
            problems.add(number, f"{wrong}; quote an address that holds a blank")
            continue
        if words:
            yield _checked(TableAddress(words[0], tuple(words[1:])), number, problems)


def _of_yaml(text: str, path: str) -> tuple[TableAddress, ...]:
    document = yaml_reader.parse(text, path)
    entries = document.data if document.data is not None else []
    if not isinstance(entries, list):
        document.problems.stop(1, "tables are a list; write `- ADDRESS` for each")
    addresses = []
    for at, entry in enumerate(entries):
        data = {"address": entry} if isinstance(entry, str) else entry
        if address := yaml_reader.make(TableAddress, data, document, (at,), "a table"):
            addresses.append(_checked(address, document.line((at,)), document.problems))
    document.problems.raise_if_any()
    return tuple(addresses)


def _checked(address: TableAddress, line: int, problems: Problems) -> TableAddress:
    if not address.address.strip():
        problems.add(line, f"the address is empty; {ALLOWED}")
    for pattern in address.tables:
        if "." not in pattern:
            problems.add(line, f"'{pattern}' is no database.table; {ALLOWED}")
    return address


def pinned_tables(
    addresses: Sequence[TableAddress], databases: Sequence[str] = ()
) -> tuple[PinnedTable | UsedTable, ...]:
    """Return the tables at addresses, each once; what cannot be looked at says why.

    Raises HarnessError where one address alone is named, and wrong.
    """
    listed: dict[tuple[str, str], PinnedTable | UsedTable] = {}
    for one in (TableAddress(a, e.tables) for e in addresses for a in _expanded(e.address)):
        name = without_login(one.address)
        try:
            at_address = [
                table
                for table in pinned(one.address, one.databases or databases)
                if one.takes(_name(table))
            ]
        except HarnessError as problem:
            if len(addresses) == 1:
                raise
            at_address = [UsedTable(name, UsedFormat.OTHER, unread=str(problem))]
        if not at_address:
            which = f" like {', '.join(one.tables)}" if one.tables else ""
            why = printable(f"there is no table{which} at {name}")
            if len(addresses) == 1:
                raise UsageProblem(why)
            at_address = [UsedTable(name, UsedFormat.OTHER, unread=why)]
        for table in at_address:
            location = table.table.location if isinstance(table, PinnedTable) else ""
            listed.setdefault((_name(table), location), table)
    return tuple(listed.values())


def _expanded(address: str) -> Sequence[str]:
    local = "://" not in address and _GLOB.search(address) is not None
    names = sorted(glob(address)) if local else []  # noqa: PTH207 - of a whole path
    # Beside tables lie lists, notes and the like.
    return [n for n in names if Path(n).is_dir() or n.endswith(METADATA_FILES)] or [address]


def _name(table: PinnedTable | UsedTable) -> str:
    return table.name if isinstance(table, UsedTable) else table.table.name
