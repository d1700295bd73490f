"""The templates of each engine's configuration.

In: the values of a run. Out: the files that a server is started with. It must not know how a server
is run: as a process or in a container.
"""
