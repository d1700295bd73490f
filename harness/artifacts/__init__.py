"""How an engine comes to this machine: lock data, download, unpacking, the cache, JREs.

In: the name of a distribution. Out: an installation in the user's cache, verified by SHA-256. It
must not know how anything is run, nor any table.
"""
