"""``python -m harness``: the same as the ``harness`` command, whose program this is."""

from __future__ import annotations

import sys

from harness.cli import signals
from harness.cli.console import stdio


def main() -> int:
    """Run the command line on the program's own streams; give its exit status."""
    stdio.prepare()
    with signals.ending_at_once(signals.told):
        # It takes a second in which people may think better of it.
        from harness.cli import app  # noqa: PLC0415

        return stdio.finish(app.main())


if __name__ == "__main__":
    sys.exit(main())
