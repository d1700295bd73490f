"""The scenarios and profiles that come with the harness.

In: nothing. Out: YAML files. They must not know any SQL, and scenarios must not know any engine.
"""
