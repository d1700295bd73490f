"""COMPARISON: the verdicts of two sides → what changed from one to the other. Pure.

In: two judged runs, and which cells of one answer to which of the other. Out: a class for each pair
of cells, what is worse and since which operation, and the answer to "may I upgrade?". It must not
know how a side came to be: an engine, a setting, a writer or a metastore.
"""
