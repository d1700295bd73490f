"""COMPARISON: the verdicts of two sides → what changed from one to the other. Pure.

In: two judged runs, and which cells of one answer to which of the other; or the runs that are kept.
Out: a class for each pair of cells, what is worse and since which operation, and the answer to "may
I upgrade?"; when each cell turned. It must not know how a side came to be: an engine, a setting, a
writer or a metastore.
"""
