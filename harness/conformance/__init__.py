"""CONFORMANCE: a reader → what it does that every reader must do.

In: a reader, and a cache that its engine is in. Out: a result of each check, with what was seen. It
must not know a scenario: it asks about a table of its own, which no engine wrote.
"""
