"""chDB, which is ClickHouse in a Python process."""
