"""Polars in a Python process of its own."""
