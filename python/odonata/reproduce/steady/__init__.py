"""Runs with skipped iterations against whole runs."""
