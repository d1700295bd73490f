"""Daft in a Python process of its own."""
