"""Graphs of routers, nodes and links: readers of files, and generators."""

from odonata.graphs.formats import read, text_of
from odonata.graphs.wired import Wired, wire

__all__ = ["Wired", "read", "text_of", "wire"]
