"""Data files, whatever table they belong to: rows, footers and statistics."""
