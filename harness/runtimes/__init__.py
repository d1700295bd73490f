"""Runtimes: what is run for an engine (distributions, and how they are fetched) and how."""
