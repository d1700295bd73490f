"""`harness upgrade` and `harness compare`: what changes between two sides.

In: two sides, and what both are asked. Out: a run for each side, and the report on both. What a
change is, and which are worse, `harness.comparison` knows.
"""
