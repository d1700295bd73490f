"""LOAD: a scenario file → `Scenario`. Pure.

In: a file, read strictly. Out: a table and its steps, or errors with file and line. It must not
know which engine or format will execute a step.
"""
