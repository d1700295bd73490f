"""How an engine is run: processes, ports, memory, readiness, templates, and the metastore.

In: an installation and a folder. Out: a running server that is stopped at the end. It knows no
SQL, no answer and no scenario.
"""
