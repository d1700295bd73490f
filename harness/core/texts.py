"""Texts as people see them."""

import re
from collections.abc import Iterable


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "cell"), counted(6, "cell")
    ('1 cell', '6 cells')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def first_of(texts: Iterable[str], most: int, between: str = ", ") -> str:
    """Return the first of some texts, and how many more there are.

    >>> first_of(["a", "b", "c"], 2), first_of(["a", "b"], 2, "; ")
    ('a, b and 1 more', 'a; b')
    """
    every = list(texts)
    more = f" and {len(every) - most:,} more" if len(every) > most else ""
    return f"{between.join(every[:most])}{more}"


def printable(text: str) -> str:
    r"""Escape what ends a line or controls a terminal: messages quote files and engines.

    >>> printable("a\x1b[31m b")
    'a\\x1b[31m b'
    """
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text
    )


def without_login(text: str) -> str:
    """Return a text without the user names and passwords of the addresses in it. Pure.

    >>> without_login("no answer from https://me:secret@repo.example:8443/m")
    'no answer from https://repo.example:8443/m'
    """
    return re.sub(r"(?<=://)[^/\s]*@", "", text)
