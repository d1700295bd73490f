"""A compatibility test harness for lake tables: write once, read with every engine, judge."""

import logging

__version__ = "0.2.0"

# Nothing is logged before a run, or `--verbose`, asks for it.
logging.getLogger(__name__).addHandler(logging.NullHandler())
