"""CONFORMANCE: a reader → what it does that every reader must do.

It asks about tables of its own, which no engine wrote, and must not know a scenario.
"""
