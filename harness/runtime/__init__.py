"""How an engine is run: processes, ports, memory, readiness, templates, and the metastore.

In: an installation and a folder. Out: a running server that is stopped at the end. It must not
know any SQL, answer or scenario.
"""
