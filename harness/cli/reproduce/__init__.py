"""The smallest scenario that still shows a finding, as a file and as a script of SQL statements.

Findings are grouped by their cause (`causes`), a scenario is made smaller by cuts (`cuts`), the
search (`minimise`) says which ones to try next, and engines are asked in rounds (`rounds`).
"""
