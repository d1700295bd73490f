"""What a command prints, and how: progress, results, closed and full outputs."""
