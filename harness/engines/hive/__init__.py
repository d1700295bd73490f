"""HiveServer2 as a reader."""
