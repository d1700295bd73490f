"""Transactional tables of Hive."""
