"""Skeletons of applications: the messages of one iteration, from published sources (docs/skeletons.md)."""
