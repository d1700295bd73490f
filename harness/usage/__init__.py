"""What somebody's tables look like, for weighing the verdict of an upgrade.

In: the address of a catalog, or a folder. Out: `usage.yaml`, and which tables can meet a cause.
It reads the catalog's entries and the formats' own records, never a row, and knows no engine's
answers.
"""
