"""The verdicts of two sides, or of stored runs → what changed from one to the other. Pure.

It must not know how a side came to be: an engine, a setting, a writer or a metastore.
"""
