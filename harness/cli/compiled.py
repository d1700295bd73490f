"""The code of dataclasses, kept from one command to the next beside Python's compiled modules.

Python writes six functions for each dataclass as text, and compiles them in every process: of five
hundred classes that takes a quarter of a second. A text is always compiled to the same code.
"""

import builtins
import dataclasses
import marshal
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from types import CodeType
from typing import Final

FILE: Final = Path(cache_from_source(__file__)).with_suffix(".dataclasses")
MOST: Final = 20_000
"""Of more texts than these most are of classes that were changed since."""


@contextmanager
def dataclasses_kept(file: Path = FILE) -> Iterator[None]:
    """Take the code of dataclasses from a file; add what was not in it, where one may write."""
    code, new = dict[str, CodeType](), dict[str, CodeType]()
    # A file of another Python, or of half a write, is as none.
    with suppress(OSError, EOFError, ValueError, TypeError):
        magic, texts = marshal.loads(file.read_bytes())  # noqa: S302 - as trusted as its neighbours
        code |= texts if magic == MAGIC_NUMBER and len(texts) <= MOST else {}

    def execute(text: str, *namespaces: dict[str, object]) -> None:
        if text not in code:
            code[text] = new[text] = compile(text, "<string>", "exec")
        builtins.exec(code[text], *namespaces)  # noqa: S102 - as `dataclasses` does

    # The name by which `dataclasses` calls what is built in: another one of its own goes first.
    vars(dataclasses)["exec"] = execute
    try:
        yield
    finally:
        vars(dataclasses).pop("exec", None)
        part = file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            if new and not sys.dont_write_bytecode:
                file.parent.mkdir(exist_ok=True)
                part.write_bytes(marshal.dumps((MAGIC_NUMBER, code)))
                part.replace(file)
