"""Recognises the format of a file with a graph."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from odonata.errors import InputError
from odonata.graphs import astra, edges, graphml, ns3, simgrid
from odonata.reading import read_output

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from odonata.graphs.fabric import Fabric

#: What can be read, for messages.
KNOWN = (
    "a list of links (CSV: a, b, bandwidth, latency), GraphML, a topology file of ns-3, HPCC or SimAI, a network of "
    "ASTRA-sim (YAML) or a platform of SimGrid"
)


def text_of(file: Path) -> str:
    """The text of a file. Raises InputError if it cannot be read."""
    return read_output(file)


def read(text: str, nodes: Sequence[str] | None, *, routers_only: bool) -> Fabric:
    """The graph in a text.

    `nodes` are patterns of the names of nodes, for formats that do not say which vertices are nodes; with
    `routers_only` none is. Raises InputError, with the line, for a format that is not known and for errors in it.
    """
    if graphml.recognises(text):
        if re.search(r"<platform\b", text):
            _refuse_choice(nodes, routers_only=routers_only, form="a platform of SimGrid")
            return simgrid.read(text)
        return graphml.read(text, nodes, routers_only=routers_only)
    if ns3.recognises(text):
        _refuse_choice(nodes, routers_only=routers_only, form="a topology file of ns-3")
        return ns3.read(text)
    if text.lstrip().startswith(("{", "[")):
        raise InputError("JSON cannot be read as a graph", hint=f"expected {KNOWN}")
    if astra.recognises(text):
        _refuse_choice(nodes, routers_only=routers_only, form="a network of ASTRA-sim")
        return astra.read(text)
    return edges.read(text, nodes, routers_only=routers_only)


def _refuse_choice(nodes: Sequence[str] | None, *, routers_only: bool, form: str) -> None:
    for key, given in (("nodes", nodes is not None), ("nodes_per_router", routers_only)):
        if given:
            raise InputError(f"{form} says itself which are its nodes", hint=f"leave out `{key}`", path=(key,))
