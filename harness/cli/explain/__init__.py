"""One case in full: what was expected and found, and what every read strategy would have shown.

It works on what a run recorded; no engine is started.
"""
