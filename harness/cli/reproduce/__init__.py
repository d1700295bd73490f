"""The smallest scenario that still shows a finding, as a file and as a script of SQL statements.

Findings are grouped by their cause (`causes`), a scenario is made smaller by cuts (`cuts`), the
search (`delta_debugging`) says which ones to try next, and the engines are asked about the
candidates of all searches at once (`engine_trials`).
"""
