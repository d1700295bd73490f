"""The scenarios and profiles that come with the harness (data only)."""
