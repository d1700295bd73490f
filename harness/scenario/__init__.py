"""Scenario files: strict reading, and the objects they become. Pure."""
