"""WRITE: variants → table states.

In: variants, and sessions that write. Out: a frozen table state after each step, and what became of
the step. It must not know what anybody will ask.
"""
