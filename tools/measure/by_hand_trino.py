"""Put a query to a Trino server with Trino's own Python client, as a person would.

    python tools/measure/by_hand_trino.py PORT FILE

FILE holds one statement. Printed are the names of the columns and below them the rows, with tabs
between the values, or the error that the server names. It is a program of its own, as the other
clients are, so that `by_hand.py` can end it when it does not end itself.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import trino


def printed(port: int, sql: str) -> str:
    """Put a statement to the server on a port of this machine; give what is to be printed."""
    connect = trino.dbapi.connect(host="127.0.0.1", port=port, user="somebody")  # type: ignore[no-untyped-call]
    with connect as connection:
        try:
            cursor = connection.cursor().execute(sql)
            rows = cursor.fetchall()
        except trino.exceptions.TrinoQueryError as refused:
            return f"{refused.error_name}: {refused.message}"
    names = [each.name for each in cursor.description]
    return "\n".join("\t".join(map(_text, row)) for row in (names, *rows))


def _text(value: object) -> str:
    return "NULL" if value is None else str(value)


def main() -> int:
    """Put the statement, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("port", type=int, help="of the server, on this machine")
    parser.add_argument("file", type=Path, help="a file with one statement")
    given = parser.parse_args()
    print(printed(given.port, given.file.read_text(encoding="utf-8").strip().rstrip(";")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
