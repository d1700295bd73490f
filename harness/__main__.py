"""``python -m harness``: the same as the ``harness`` command, whose program this is."""

import gc
import sys
from typing import Final

from harness.cli import compiled, process

NEW_OBJECTS: Final = 500_000
"""So many objects have to come before Python looks for circles among them, more than a run of a
thousand checks makes in which nothing changed: by default 700, which takes a fifth of its time."""


def main() -> int:
    """Run the command line on the program's own streams; give its exit status."""
    process.prepare_streams()
    # Records hold nothing that holds them, so that few collections find anything.
    gc.set_threshold(NEW_OBJECTS, 20, 20)
    with process.ending_at_once(process.print_interrupted), compiled.dataclasses_kept():
        process.say_what_begins(sys.argv[1:])
        # It takes a second in which people may think better of it.
        from harness.cli import app  # noqa: PLC0415

        gc.freeze()  # what is imported stays

        status = process.finish_streams(app.main())
    gc.freeze()  # what is left ends with the process: Python would look through all of it
    return status


if __name__ == "__main__":
    sys.exit(main())
