"""Tables that exist already: their rows by their own files, and what readers show of them.

In come a table's folder and its records; out go its rows and where readers differ from them. It
writes nothing but its own records, and knows nothing of scenarios.
"""
