"""A run: its folder, its records, and the verbs called one after another.

In: a plan. Out: the records of a run on disk, and a run loaded from them. It must not
know what was typed, nor print anything.
"""
