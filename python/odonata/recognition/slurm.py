"""The switches in `topology.conf` and `scontrol show topology` of Slurm, for trees and blocks, and those of topograph.

A tree groups leaf switches below a common switch, but does not list cables. So the kind of machine and its cables come
from comments of Odonata or from a system that the user names. If a leaf is below several switches, as in the output of
`slurmibtopology` for an InfiniBand fabric, the lines are the cables.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from odonata import reading
from odonata.errors import InputError, shortened
from odonata.graphs.fabric import Fabric, Link, Nic
from odonata.queue import topograph, topology_yaml
from odonata.queue.hosts import fold
from odonata.queue.topology import parse_lines, parse_topology
from odonata.recognition import remarks
from odonata.recognition.grouped import Grouping
from odonata.recognition.names import node_names, router_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from odonata.machine import System
    from odonata.queue.topology import Switch


def recognises(text: str) -> bool:
    """Whether a text is a topology of Slurm."""
    bare = text.lower()
    known = topology_yaml.is_topology(text) or topograph.is_topograph(text)
    return "switchname=" in bare or "blockname=" in bare or known


def read(text: str) -> Fabric | Grouping:
    """The cables of a fabric, or the nodes by leaf switch and group. Raises InputError with the line."""
    rows = enumerate(reading.lines(text), 1)
    comments = [(line, match[1]) for line, row in rows if (match := remarks.MARK.fullmatch(row.strip())) is not None]
    parsed = parse_lines(text)
    if parsed.switches:
        parents = Counter(child for switch in parsed.switches.values() for child in dict.fromkeys(switch.switches))
        if any(parents[name] > 1 for name, switch in parsed.switches.items() if not switch.switches):
            return _cabled(parsed.switches, comments)
    topology = parse_topology(text)
    blocks = bool(parsed.blocks) and len(topology.groups) == 1
    several = len(topology.fabrics) > 1
    notes = [f"assumed: the {len(topology.fabrics):,} fabrics of the file, which no switch joins, are one machine"]
    notes = notes if several else []
    return Grouping(_kind(text), topology.groups, remarks.read(comments), whole=blocks, notes=notes)


def _kind(text: str) -> str:
    return "topology of topograph" if topograph.is_topograph(text) else "topology of Slurm"


def _cabled(switches: dict[str, Switch], comments: list[tuple[int, str]]) -> Fabric:
    """Every line is a switch with its cables."""
    fabric = Fabric("topology of Slurm with every switch", remarks=remarks.read(comments))
    number = {name: fabric.add_switch(name, switch.line) for name, switch in switches.items()}
    cables: dict[tuple[str, str], Counter[str]] = {}
    for name, switch in switches.items():
        for far in switch.switches:
            if far not in number:
                message = f"the switch `{name}` joins `{shortened(far, 60)}`, which is not listed"
                raise InputError(message, line=switch.line)
            a, b = sorted((name, far))
            cables.setdefault((a, b), Counter())[name] += 1
    hosts: dict[str, str] = {}
    # `scontrol` lists all nodes below a switch. Nodes of a leaf belong to the leaf.
    on_leaves = {host for switch in switches.values() if not switch.switches for host in switch.nodes}
    for name, switch in switches.items():
        for host in switch.nodes:
            if switch.switches and host in on_leaves:
                continue
            if hosts.setdefault(host, name) != name:
                message = f"the node `{shortened(host, 60)}` is on `{hosts[host]}` and on `{name}`"
                raise InputError(message, line=switch.line)
            fabric.add_nic(Nic(host, number[name], -1, switch.line))
    for (a, b), sides in cables.items():
        # A cable may be listed at both ends.
        for _ in range(max(sides.values())):
            fabric.add_link(Link(number[a], -1, number[b], -1, switches[a].line))
    fabric.notes.append("assumed: one cable wherever two switches are joined; the file does not say how many")
    return fabric


def tree_lines(system: System) -> Iterator[str]:
    """A machine as a tree: leaf switches, a switch for each group, and one above them."""
    yield from remarks.comments(system, cabled=False)
    names = _leaves(system)
    for _, leaf, nodes in names:
        yield f"SwitchName={leaf} Nodes={fold(nodes)}"
    groups = dict.fromkeys(group for group, _, _ in names)
    for group in groups:
        yield f"SwitchName=g{group} Switches={fold(leaf for of, leaf, _ in names if of == group)}"
    if len(groups) > 1:
        yield f"SwitchName=all Switches={fold(f'g{group}' for group in groups)}"


def block_lines(system: System) -> Iterator[str]:
    """A machine as blocks: one for each leaf switch."""
    yield from remarks.comments(system, cabled=False)
    for _, leaf, nodes in _leaves(system):
        yield f"BlockName={leaf} Nodes={fold(nodes)}"
    yield f"BlockSizes={system.shape.nodes_per_router}"


def _leaves(system: System) -> list[tuple[int, str, list[str]]]:
    """Group, name and nodes of every switch with nodes; of routers that share their nodes, only the first."""
    shape, nodes, routers = system.shape, node_names(system), router_names(system)
    first: dict[int, str] = {}
    for router, name in enumerate(routers):
        for node in system.table.nodes_of_router(router):
            first.setdefault(shape.router_of(node), name)
    return [
        (shape.group_of(leaf * shape.nodes_per_router), name, [nodes[node] for node in shape.nodes_on(leaf)])
        for leaf, name in sorted(first.items())
    ]
