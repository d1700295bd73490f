"""Delta Lake."""
