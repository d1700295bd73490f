"""PrestoSQL and PrestoDB as readers."""
