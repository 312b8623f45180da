"""The placement policies."""
