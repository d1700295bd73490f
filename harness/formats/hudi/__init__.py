"""Hudi."""
