"""JUDGE: answers → verdicts. Pure.

In: a variant with its recorded states, its cells and their answers. Out: a verdict for each cell.
"""
