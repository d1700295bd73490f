"""The smallest scenario of each cause, tried on real engines, as files for people."""
