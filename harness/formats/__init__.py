"""One file per format: wording, views, fork and catalog entries."""
