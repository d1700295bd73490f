"""The smallest scenario that still shows a finding, as a file and as a script of SQL statements.

Findings are grouped by their cause (`causes`), a scenario is made smaller by `reductions`, the
search (`shrink`) says which of them to try next, and the engines are asked about the candidates of
all searches at once (`engine_trials`).
"""
