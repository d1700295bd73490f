"""Trino as a reader, and the engines it was called before."""
