"""The command line, the pytest plugin, and what goes on from a finding.

In: what somebody typed. Out: calls of the verbs, text on a terminal and an exit status. Nothing
imports it.
"""
