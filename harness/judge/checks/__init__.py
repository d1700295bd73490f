"""One file per finding: each tells whether a wrong place is of its kind, with its witness. Pure."""
