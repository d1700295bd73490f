"""The PySpark worker: a process per (Spark, format bundle), spoken to in JSON lines."""
