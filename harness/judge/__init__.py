"""JUDGE: answers → verdicts. Pure.

In: a variant with its recorded states, its cells and their answers. Out: a verdict for each cell,
each wrong one with findings and witnesses. It must not know how anything was written, fetched or
asked.
"""
