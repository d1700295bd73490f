"""Iceberg."""
