"""One file per report, and their templates."""
