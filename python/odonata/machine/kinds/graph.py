"""Any graph: routers, nodes and links from a file, from a list, or made by a generator (`graphs`)."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from odonata.document import Count, input_error_as_problem, validate
from odonata.errors import InputError
from odonata.machine import core, flight
from odonata.machine.core import Naming
from odonata.machine.kinds.kind import MachineTable, with_rail
from odonata.machine.kinds.pairs import Pairs
from odonata.machine.shape import Shape, UnevenShape

#: Of a machine whose names nobody asks for.
UNNAMED = Naming()
#: Most channels of a fabric that are used by default.
_MOST_CHANNELS = 16
#: Classes of links between routers.
_MOST_CLASSES = 7
#: Most routers: those of a graph that a generator makes.
_MOST_ROUTERS = 100_000


def _links(value: Any) -> tuple[tuple[int, int, int], ...]:
    whole = isinstance(value, list | tuple) and all(
        isinstance(row, list | tuple) and len(row) == 3 and all(type(n) is int and n >= 0 for n in row) for row in value
    )
    if not whole:
        raise InputError("expected a file, a list of links, or the table of a generator")
    for at, row in enumerate(value):
        for router in row[:2]:
            _check_router(router, f"links[{at}]")
        if row[2] > _MOST_CLASSES:
            raise InputError(f"`links[{at}]`: expected a class of links from 1 to {_MOST_CLASSES}, found {row[2]:,}")
    return tuple((row[0], row[1], row[2]) for row in value)


def _check_router(router: int, where: str) -> None:
    if router >= _MOST_ROUTERS:
        message = f"`{where}`: expected the number of a router, from 0 to {_MOST_ROUTERS - 1:,}, found {router:,}"
        raise InputError(message)


def _routers(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or not all(type(n) is int and n >= 0 for n in value):
        raise InputError("expected the router of each NIC, a list of whole numbers from 0 on")
    for at, router in enumerate(value):
        _check_router(router, f"nics[{at}]")
    return tuple(value)


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) and name for name in value):
        raise InputError("expected a list of names")
    return tuple(value)


#: Links as the core reads them: two routers and the number of the class.
NumberedLinks = Annotated[tuple[tuple[int, int, int], ...], BeforeValidator(input_error_as_problem(_links))]
#: A router for each NIC.
Routers = Annotated[tuple[int, ...], BeforeValidator(input_error_as_problem(_routers))]
Names = Annotated[tuple[str, ...], BeforeValidator(input_error_as_problem(_names))]


class GraphTable(MachineTable):
    """A graph with numbers. `loading` makes it from the file, the list or the generator that `links` names."""

    classes: ClassVar[tuple[str, ...]] = ("node", "link", "link2", "link3", "link4", "link5", "link6", "link7")
    rules_of_pairs: ClassVar[tuple[str, ...]] = ()
    usual_rules: ClassVar[Mapping[str, str]] = {}
    default_sources: ClassVar[Mapping[str, str]] = {
        "rails": "default: one NIC per node",
        "shortest": "default: by the number of links, as switches do that give every link the same cost (assumed)",
        "fabric.channels": "default: enough for every routing with its defaults, 16 at most (docs/routings.md)",
        "fabric.nic.rail": "default: the NIC is drawn for each message",
    }
    intra_numbers: ClassVar[int | None] = None
    keys_first: ClassVar[tuple[str, ...]] = ("links", "nics", "rails", "shortest")

    kind: Literal["graph"] = Field(description="kind of machine")
    links: NumberedLinks = Field(
        description="a file (a list of links as CSV, GraphML, a topology file of ns-3, HPCC or SimAI), a list of links "
        '`[a, b, bandwidth, latency]`, or a generator, for example `{ generator = "torus", dimensions = [4, 4] }`; in '
        "a resolved machine two routers and the number of the class of each link"
    )
    nodes: str | list[str] | None = Field(
        None,
        description="names of the vertices that are nodes, or patterns such as `h*`, for a file that does not say it "
        "(default: vertices with one link)",
    )
    nodes_per_router: Count | None = Field(
        None, description="nodes that each vertex gets, for a graph of routers only; links of class `node` join them"
    )
    nics: Routers = Field((), description="router of each NIC, node by node; made from `links` and `nodes`")
    rails: Count = Field(1, description="NICs per node; from `links`")
    router_names: Names = Field((), description="names of the routers; from `links`")
    node_names: Names = Field((), description="names of the nodes; from `links`")
    left_out: Names = Field((), description="what of the file is left out, in sentences; from `links`")
    shortest: Literal["links", "latency"] = Field(
        "links",
        description="what the length of a path is: the number of its `links`, or the `latency` of a full packet on it "
        "when nothing else is sent",
    )

    @property
    def not_modelled(self) -> tuple[str, ...]:
        """What of the file is left out."""
        return self.left_out

    @classmethod
    def classes_of(cls, table: Mapping[str, Any]) -> tuple[str, ...]:
        """`node`, and a class for each kind of link."""
        links = table.get("links")
        if "nics" not in table or not isinstance(links, list | tuple):
            return cls.classes
        kinds = [row[2] for row in links if isinstance(row, list | tuple) and len(row) == 3 and type(row[2]) is int]
        return cls.classes[: min(max(kinds, default=1), len(cls.classes) - 1) + 1]

    @classmethod
    def completed(cls, table: Mapping[str, Any]) -> dict[str, Any]:
        """The table with the default choice between several NICs, and channels for every routing."""
        result = with_rail(dict(table))
        if isinstance(table.get("fabric"), Mapping) and "channels" not in table["fabric"]:
            result["fabric"] = {**result["fabric"], "channels": cls._channels(table)}
        return result

    @classmethod
    def _channels(cls, table: Mapping[str, Any]) -> int:
        """Channels for the longest paths of any routing on the graph of a table, which may not be valid."""
        try:
            alike = validate(cls, {**table, "fabric": {**table["fabric"], "channels": 1}})
            return min(2 * _diameter(alike._json), _MOST_CHANNELS)
        except InputError:
            return 1  # refused later

    @property
    def own_classes(self) -> tuple[str, ...]:
        """Classes of links of this machine."""
        return self.classes[: max((link[2] for link in self.links), default=1) + 1]

    def check(self) -> None:
        """Raises InputError if the lists do not fit together, or the machine is too large."""
        if not self.nics:
            raise InputError("a graph without nodes", path=("nics",))
        self.check_common()
        self.check_rail(self.rails)
        _ = _diameter(self._json, self.names())

    def topology(self) -> dict[str, Any]:
        """The topology as the core reads it."""
        topology: dict[str, Any] = json.loads(self._json)
        return topology

    @cached_property
    def _json(self) -> str:
        if self.shortest == "links" or any(name not in self.fabric.links for name in self.own_classes):
            weights = [1] * (len(self.own_classes) - 1)
        else:
            fabric = self.fabric
            size = fabric.wire_bytes
            links = [fabric.links[name] for name in self.own_classes[1:]]
            weights = [flight.serialisation_ps(link, size) + link.latency + fabric.router_delay for link in links]
            if max(weights) >= 2**32:
                message = "a full packet takes longer than 4 ms on a link, too long to compare paths by latency"
                raise InputError(message, hint='shortest = "links"', path=("shortest",))
        return _topology(self.links, self.nics, self.rails, weights)

    def shape(self) -> Shape:
        """Nodes sit on the router of their first NIC."""
        on = Counter(self.nics[:: self.rails])
        counts = [on[router] for router in sorted(on)]
        return UnevenShape.of(counts)

    def pairs(self) -> Pairs:
        """All routers are one group."""
        return Pairs(1, 0, 0, None, (), ())

    def longest_path(self) -> tuple[str, ...]:
        """As many links as a longest shortest path, of every class at least one, the slowest most often (assumed)."""
        own = [name for name in self.own_classes[1:] if name in self.fabric.links]
        if not self.links or not own:
            return ("node", "node") if not self.links else ("node", *self.own_classes[1:], "node")
        slowest = max(own, key=lambda name: self.fabric.links[name].latency)
        more = max(_diameter(self._json) - len(own), 0)
        return ("node", *own, *[slowest] * more, "node")

    def routers_in_all(self) -> int:
        """Routers of the machine."""
        return 1 + max((*self.nics, *(router for link in self.links for router in link[:2])), default=0)

    def nodes_of_router(self, router: int) -> Sequence[int]:
        """The nodes that have a NIC on a router."""
        return self._nodes_on.get(router, ())

    @cached_property
    def _nodes_on(self) -> dict[int, list[int]]:
        nodes: dict[int, list[int]] = {}
        for nic, router in enumerate(self.nics):
            on = nodes.setdefault(router, [])
            if not on or on[-1] != nic // self.rails:
                on.append(nic // self.rails)
        return nodes

    def group_of_router(self, router: int) -> int | None:  # noqa: ARG002 - as on other kinds
        """All routers are one group."""
        return 0

    def router_name(self, router: int) -> str | None:
        """The name in the file."""
        return self.router_names[router] if router < len(self.router_names) else None

    def names(self) -> Naming:
        """Those in the file."""
        return Naming(self.router_names, self.node_names)

    def global_ports_of(self, router: int) -> int:  # noqa: ARG002 - as on other kinds
        """No link leaves the group."""
        return 0

    def facts(self) -> list[tuple[str, str]]:
        """Routers with and without nodes, ports, the longest shortest path, kinds of links."""
        ports = Counter(router for link in self.links for router in link[:2]) + Counter(self.nics)
        with_nodes, routers = len(set(self.nics)), self.routers_in_all()
        least, most = min(ports.values()), max(ports.values())
        rows = [
            ("routers with nodes", f"{with_nodes:,} of {routers:,}"),
            ("links between routers", f"{len(self.links):,}"),
            ("ports used", f"{most} of a router" if least == most else f"{least} to {most} of a router"),
            ("longest shortest path", f"{_diameter(self._json) if self.links else 0} links between routers"),
        ]
        if self.rails > 1:
            rows.append(("NICs of a node", f"{self.rails}"))
        return rows


def _topology(links: Sequence[Sequence[int]], nics: Sequence[int], rails: int, weights: Sequence[int]) -> str:
    """The topology as the core reads it, as JSON."""
    routers = 1 + max((*nics, *(router for link in links for router in link[:2])), default=0)
    topology: dict[str, Any] = {
        "kind": "graph",
        "routers": routers,
        "nics": list(nics),
        "weights": list(weights),
        "links": [list(link) for link in links],
    }
    return json.dumps(topology | {"rails": rails} if rails > 1 else topology)


@lru_cache(maxsize=16)
def _diameter(topology_json: str, names: Naming = UNNAMED) -> int:
    """The most links of a shortest path; 1 if there is none. Raises InputError for a graph that cannot be built."""
    from odonata import _core

    minimal = '{"name": "minimal", "select": "random"}'
    channels = _core.routing_channels(minimal, topology_json)
    if channels is None:
        core.describe(json.loads(topology_json), names=names)  # says why
    return channels or 1
