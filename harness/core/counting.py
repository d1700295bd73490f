"""Numbers with their nouns, as people say them."""


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "cell"), counted(6, "cell")
    ('1 cell', '6 cells')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
