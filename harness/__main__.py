"""``python -m harness``: the same as the ``harness`` command, whose program this is."""

from __future__ import annotations

import sys

from harness import interrupts, streams


def main() -> int:
    """Run the command line on the program's own streams; give its exit status."""
    streams.prepare()
    with interrupts.ending_at_once(interrupts.told):
        # It takes a second in which people may think better of it.
        from harness import cli  # noqa: PLC0415

        return streams.finish(cli.main())


if __name__ == "__main__":
    sys.exit(main())
