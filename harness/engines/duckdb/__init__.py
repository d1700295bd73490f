"""DuckDB in a Python process of its own, with its extension for Delta."""
