"""The formats of a fabric: recognises the format of a file, and lists the writers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from odonata import foreign
from odonata.errors import InputError
from odonata.reading import read_output
from odonata.recognition import any_graph, cray, export, graphml, ibnetdiscover, node_map, slurm
from odonata.recognition.grouped import Grouping, machine_of
from odonata.recognition.recognise import Recognised, recognise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from odonata.graphs.fabric import Fabric
    from odonata.machine import System


@dataclass(frozen=True)
class Format:
    """A format in which a machine can be written."""

    text: str
    """A description in a few words."""
    lines: Callable[[System], Iterator[str]]
    """The lines of a machine. Raises InputError for a machine that the format cannot hold."""
    suffix: str | None = None
    """The ending of file names that mean this format."""


#: What `odonata export` writes.
WRITTEN: dict[str, Format] = {
    "graphml": Format("GraphML, for networkx, Gephi and yEd", export.graphml_lines, ".graphml"),
    "json": Format("JSON, a node, router or link a line", export.json_lines, ".json"),
    "ibnetdiscover": Format("the output of ibnetdiscover", ibnetdiscover.lines, ".ibnetdiscover"),
    "cray": Format("rtr --interconnect of a Cray XC, or the point-to-point file of Slingshot", cray.lines),
    "slurm-tree": Format("topology.conf of the plugin topology/tree", slurm.tree_lines, ".conf"),
    "slurm-block": Format("topology.conf of the plugin topology/block", slurm.block_lines),
    "node-map": Format("CSV with the leaf switch and the cell of each node", node_map.lines, ".csv"),
}


def import_fabric(
    file: str | Path,
    *,
    node_name_map: str | Path | None = None,
    like: str | None = None,
    rails: int | None = None,
    graph: bool = False,
) -> Recognised:
    """Recognise the machine in a file of a fabric.

    Parameters
    ----------
    file
        What `ibnetdiscover` or `scontrol show topology` prints, `topology.conf`, GraphML, a list of cables of Cray, or
        a map of nodes as CSV; recognised by its content.
    node_name_map
        The node-name map of `ibnetdiscover`: names of GUIDs.
    like
        The system whose links and routers are used where the file gives none.
    rails
        NICs of a node, in place of those of `like`, for a file that lists no cables.
    graph
        Take a file that lists cables as a graph machine, whatever kind it is.

    Returns
    -------
    Recognised

    Raises
    ------
    InputError
        For a file of unknown format, for errors in it (with the line), and for a network that is not a Dragonfly+,
        dragonfly, cascade or fat tree.
    """
    try:
        text = read_output(file)
    except InputError as e:
        raise foreign.explained(e, file, "fabric") from None
    name = str(file).rsplit("/", 1)[-1]
    names = None
    if node_name_map is not None:
        if not ibnetdiscover.recognises(text):
            raise InputError("a node-name map belongs to the output of ibnetdiscover", file=file)
        try:
            names = ibnetdiscover.read_names(read_output(node_name_map))
        except InputError as e:
            raise e.at(node_name_map, e.line) from None
    try:
        read: Fabric | Grouping
        if graphml.recognises(text):
            read = graphml.read(text)
        elif ibnetdiscover.recognises(text):
            read = ibnetdiscover.read(text, names)
        elif cray.is_interconnect(text):
            read = cray.read_interconnect(text)
        elif cray.is_point_to_point(text):
            read = cray.read_point_to_point(text)
        elif slurm.recognises(text):
            read = slurm.read(text)
        elif node_map.recognises(text):
            read = node_map.read(text)
        else:
            raise InputError(
                "this is no file of a fabric that can be read",
                hint="give GraphML, what ibnetdiscover or scontrol show topology prints, topology.conf, a map of nodes "
                "(CSV), or a list of cables of Cray",
            )
        if isinstance(read, Grouping):
            if graph:
                raise InputError("the file lists no cables, so it is no graph", hint="leave out --graph")
            return machine_of(read, name, like, rails)
        if rails is not None:
            raise InputError("the file lists the NICs of every host", hint="leave out --rails")
        if graph:
            return any_graph.graph_of(read, name, like)
        try:
            return recognise(read, name, like)
        except InputError as e:
            raise (any_graph.offered(e, read) if e.line is None else e) from None
    except InputError as e:
        raise foreign.explained(e.at(file, e.line), file, "fabric") from None
