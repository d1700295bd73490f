"""Plain Hive tables."""
