"""The scenario of two jobs on sixteen nodes."""

from tests.run.conftest import tiny

__all__ = ["tiny"]
