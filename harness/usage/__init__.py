"""What somebody's tables look like, for weighing the verdict of an upgrade.

In: the address of a metastore. Out: `usage.yaml`, and which of its tables can meet a cause. It must
not know what any engine answers: it reads the catalog's entries and the formats' own records, never
a row, and it writes nothing but that file.
"""
