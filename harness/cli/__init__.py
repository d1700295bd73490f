"""The command line, the pytest plugin, and what goes on from a finding.

In: what somebody typed. Out: calls of the verbs, text on a terminal and an exit status. No
other package imports it, and it must not know how a verb does its work.
"""
