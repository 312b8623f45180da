"""A graph as the core numbers it: routers with nodes first, nodes router by router, links with a class.

Source of the order: docs/model.md, section 6, "Positions in a graph".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from odonata import units
from odonata.errors import InputError, shortened
from odonata.graphs.fabric import Nic, count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from odonata.graphs.fabric import Fabric

#: Classes of links between routers, as the core names them.
CLASSES = ("link", "link2", "link3", "link4", "link5", "link6", "link7")


class Speed(NamedTuple):
    """Bandwidth in millionths of a byte per second and latency in picoseconds; None where they are not given."""

    bandwidth: int | None
    latency: int | None

    def or_(self, usual: Speed) -> Speed:
        """With what is usual where nothing is given."""
        return Speed(
            usual.bandwidth if self.bandwidth is None else self.bandwidth,
            usual.latency if self.latency is None else self.latency,
        )

    def __str__(self) -> str:
        bandwidth = "no bandwidth" if self.bandwidth is None else units.format_bandwidth(self.bandwidth)
        return f"{bandwidth} and {units.format_time(self.latency or 0)}"


@dataclass
class Wired:
    """A graph with numbers."""

    routers: list[str]
    """Names of routers."""
    nodes: list[str]
    """Names of nodes."""
    rails: int
    """NICs of a node."""
    nics: list[int]
    """Router of each NIC, node by node."""
    links: list[list[int]]
    """Two routers and the number of the class, from 1 on."""
    speeds: dict[str, Speed]
    """Class of links -> its bandwidth and latency."""
    failed_links: list[str] = field(default_factory=list)
    """Ends of cables that do not work, as `router:port`."""
    failed_routers: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def wire(fabric: Fabric, usual: Mapping[str, Speed], nodes_per_router: int | None = None) -> Wired:
    """Numbers a graph. `usual` has the bandwidths and latencies of `node` and `link` where the file gives none.

    Raises InputError, with a line of the file, for nodes that differ, or links of too many kinds.
    """
    nics = _with_nodes(fabric, nodes_per_router) if nodes_per_router else fabric.nics
    hosts: dict[str, list[Nic]] = {}
    for nic in nics:
        hosts.setdefault(nic.host, []).append(nic)
    if not hosts:
        raise InputError(
            "the graph has no nodes",
            hint='`nodes = "h*"` says which vertices are nodes; `nodes_per_router = 1` puts nodes on every vertex',
        )
    first = next(iter(hosts))
    rails = len(hosts[first])
    for host, own in hosts.items():
        if len(own) != rails:
            message = (
                f"the node `{shortened(host, 60)}` has {count(len(own), 'link')} and `{shortened(first, 60)}` has "
                f"{rails}: all nodes must have as many NICs"
            )
            raise InputError(message, line=own[0].line or None)
    order = _order(fabric, hosts)
    number = {switch: place for place, switch in enumerate(order)}
    # Nodes by the router of their first NIC, and there in the order of the file.
    ordered = sorted(hosts, key=lambda host: number[hosts[host][0].switch])
    links, speeds, failed = _links(fabric, number, usual)
    of_nodes = _of_nodes(nics, usual["node"])
    # Where no link joins routers, the numbers of the class mean nothing.
    speeds = {"node": of_nodes, **(speeds or {"link": usual["link"].or_(of_nodes)})}
    free = [0] * len(order)
    nic_routers = [number[nic.switch] for host in ordered for nic in hosts[host]]
    for router in nic_routers:
        free[router] += 1
    failed_links = []
    for (a, b, _), broken in zip(links, failed, strict=True):
        if broken:
            failed_links.append(f"{a}:{free[a]}")
        free[a] += 1
        free[b] += 1
    return Wired(
        [fabric.switches[switch].name for switch in order],
        ordered,
        rails,
        nic_routers,
        links,
        speeds,
        failed_links,
        sorted(number[at] for at, switch in enumerate(fabric.switches) if switch.failed),
        list(fabric.notes),
    )


def _with_nodes(fabric: Fabric, each: int) -> list[Nic]:
    if fabric.nics:
        message = f"the graph has {count(len({nic.host for nic in fabric.nics}), 'node')} of its own"
        raise InputError(message, hint="leave out `nodes_per_router`", path=("nodes_per_router",))
    names = [switch.name for switch in fabric.switches]
    return [Nic(f"{name}-{at}", router, -1, 0) for router, name in enumerate(names) for at in range(each)]


def _order(fabric: Fabric, hosts: Mapping[str, list[Nic]]) -> list[int]:
    """The switches: by their first node, by their first NIC of another number, and then those without nodes."""
    first = dict.fromkeys(nics[0].switch for nics in hosts.values())
    others = dict.fromkeys(nic.switch for nics in hosts.values() for nic in nics[1:])
    return list(dict.fromkeys([*first, *others, *range(len(fabric.switches))]))


def _links(
    fabric: Fabric, number: Mapping[int, int], usual: Mapping[str, Speed]
) -> tuple[list[list[int]], dict[str, Speed], list[bool]]:
    """The links between routers, the bandwidth and latency of each class, and which links have failed."""
    kinds: dict[Speed, int] = {}
    links, failed = [], []
    for link in fabric.links:
        speed = Speed(link.bandwidth, link.latency).or_(usual["link"])
        if speed.bandwidth is None:
            raise _without_bandwidth("link", link.line)
        kind = kinds.setdefault(speed, len(kinds) + 1)
        if kind > len(CLASSES):
            message = f"links of more than {len(CLASSES)} kinds, the last with {speed}"
            hint = "links of a kind have the same bandwidth and latency: round the latencies to a few"
            raise InputError(message, line=link.line or None, hint=hint)
        links.append([number[link.a], number[link.b], kind])
        failed.append(link.failed)
    return links, dict(zip(CLASSES, kinds, strict=False)), failed


def _of_nodes(nics: list[Nic], usual: Speed) -> Speed:
    """The bandwidth and latency of the links to nodes, which are all alike."""
    first: tuple[Speed, Nic] | None = None
    for nic in nics:
        speed = Speed(nic.bandwidth, nic.latency).or_(usual)
        if speed.bandwidth is None:
            raise _without_bandwidth("node", nic.line)
        if first is None:
            first = (speed, nic)
        elif speed != first[0]:
            message = (
                f"the link of node `{shortened(nic.host, 60)}` has {speed}, that of `{shortened(first[1].host, 60)}` "
                f"{first[0]}: links to nodes must be alike"
            )
            raise InputError(message, line=nic.line or None)
    assert first is not None
    return first[0]


def _without_bandwidth(name: str, line: int) -> InputError:
    what = "a link between routers" if name == "link" else "a link to a node"
    hint = f'in the machine: fabric.links.{name} = {{ bandwidth = "100 Gbit/s", latency = "500 ns" }}'
    return InputError(f"{what} without a bandwidth", line=line or None, hint=hint)
