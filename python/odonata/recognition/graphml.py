"""GraphML with the comments of `odonata export`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odonata.graphs import graphml
from odonata.graphs.graphml import recognises
from odonata.recognition import remarks

if TYPE_CHECKING:
    from odonata.graphs.fabric import Fabric


def read(text: str) -> Fabric:
    """The fabric in a GraphML document. Raises InputError with the line."""
    fabric = graphml.read(text)
    fabric.remarks = remarks.read(fabric.comments)
    return fabric


__all__ = ["read", "recognises"]
