"""One check in full, from the records of a run; no engine is started."""
