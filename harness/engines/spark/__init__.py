"""Spark, a JVM in a process of its own: as a reader, and as the session that writes."""
