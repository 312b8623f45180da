"""A machine, ready to be simulated."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from odonata.errors import Attributes, InputError
from odonata.machine import core
from odonata.machine.flight import Limit, limits
from odonata.machine.kinds import MachineTable
from odonata.machine.shape import Shape
from odonata.machine.terms import ON_GPUS, ON_PROCESSORS

_CONFIDENCE = re.compile(r" *\(confidence: (high|medium|low)\)$")


@dataclass(frozen=True)
class Source:
    """Where a number of a machine comes from."""

    key: str
    value: str
    source: str

    @property
    def confidence(self) -> str | None:
        """How sure the number is: `high`, `medium` or `low`; None where the source does not say."""
        match = _CONFIDENCE.search(self.source)
        return None if match is None else match[1]

    @property
    def origin(self) -> str:
        """The source without the confidence."""
        return _CONFIDENCE.sub("", self.source)


@dataclass(frozen=True, repr=False)
class System(Attributes):
    """A machine, ready to be simulated. Immutable.

    `odonata.load(path).system` is that of a scenario; `odonata.place` takes one.

    Attributes
    ----------
    name
        Name of the preset or of the file; with `(changed)` if a number of it was overridden.
    table
        The table of the machine, with every default.
    sources
        Where each number comes from.
    measured
        What of it was held against measurements, with which error, or `never`; None if its file does not say.

    Examples
    --------
    >>> import odonata as od
    >>> od.load("examples/quick.toml").system
    System(kang2019: 3,456 nodes in 9 groups)
    """

    name: str
    table: MachineTable
    sources: tuple[Source, ...]
    measured: str | None = None

    @property
    def title(self) -> str:
        """One line about the machine."""
        return self.table.title

    @cached_property
    def shape(self) -> Shape:
        """Where its nodes sit."""
        return self.table.shape()

    @cached_property
    def topology(self) -> dict[str, Any]:
        """The topology as the core reads it (not to be changed)."""
        return self.table.topology()

    @cached_property
    def fabric(self) -> dict[str, Any]:
        """Routers, links and NICs as the core reads them (not to be changed)."""
        return self.table.fabric.spec()

    @cached_property
    def failures(self) -> dict[str, Any]:
        """What has failed as the core reads it (`links`, `routers`); empty if all works (not to be changed).

        Raises InputError (path under `failed`) for a cable or router that is not there.
        """
        if self.table.failed is None:
            return {}
        try:
            return self.table.failed.failures(core.describe(self.topology, names=self.table.names()))
        except InputError as e:
            raise e.under("failed") from None

    @cached_property
    def unusable_nodes(self) -> tuple[int, ...]:
        """Nodes that have failed or have a NIC on a failed router, ascending: no job can run there.

        Raises InputError (path under `failed`) for a node that is not there.
        """
        if self.table.failed is None:
            return ()
        routers = self.failures.get("routers", ())
        cut_off = {node for router in routers for node in self.table.nodes_of_router(router)}
        try:
            return tuple(sorted(cut_off | self.table.failed.failed_nodes(self.shape.nodes)))
        except InputError as e:
            raise e.under("failed") from None

    @cached_property
    def tgll_bandwidth(self) -> int:
        """Bandwidth of one global link in TGLL, in millionths of a byte per second (Kang 2019, equation 4, table 1)."""
        table = self.table
        return table.tgll_bandwidth or table.fabric.links[table.between_groups].bandwidth

    @property
    def rails(self) -> int:
        """NICs of a node."""
        return getattr(self.table, "rails", None) or 1

    @cached_property
    def node_bandwidth(self) -> int:
        """Bandwidth of the links of a node to its routers, all NICs together, in millionths of a byte per second."""
        return self.table.fabric.links["node"].bandwidth * self.rails

    @cached_property
    def global_bandwidth_of_group(self) -> int:
        """Bandwidth of the links from a group to elsewhere, one way, in millionths of a byte per second."""
        if self.shape.groups == 1:
            return 0
        return self.table.fabric.links[self.table.between_groups].bandwidth * self.table.links_out()

    @cached_property
    def limits(self) -> list[Limit]:
        """Links and pairs of NICs that cannot carry their bandwidth, because too little may be in flight."""
        return limits(self.table.fabric, self.table.longest_path())

    @property
    def assumed_host(self) -> str | None:
        """A sentence about costs of the host that the machine does not state; None if it states them all."""
        if self.table.host is None:
            return (
                f"system `{self.name}` states no host, so ranks send, receive and combine in no time "
                '(host = "none" confirms it, host = "leonardo" takes the costs of a preset)'
            )
        for text, whose in ((ON_PROCESSORS, "MPI on a processor"), (ON_GPUS, "NCCL's protocol Simple")):
            keys = [f"`{row.key.removeprefix('host.')}`" for row in self.sources if row.source == text]
            if keys:
                listed = f"{', '.join(keys[:-1])} and {keys[-1]}" if len(keys) > 1 else keys[0]
                return f"system `{self.name}` does not state {listed} of its host: assumed as {whose}"
        return None

    @cached_property
    def links_per_pair(self) -> int:
        """Cables between each pair of groups, the most there are (0 if there is only one group)."""
        return self.table.pairs().range[1]

    def describe(self) -> dict[str, Any]:
        """Return the wired machine as the core describes it (`odonata._core.Machine.describe`); made once.

        Returns
        -------
        dict
            Numbers of nodes, routers and links, and arrays over the ports of all routers.

        Raises
        ------
        InputError
            If failures disconnect the machine.
        """
        return self._description

    @cached_property
    def _description(self) -> dict[str, Any]:
        return core.describe(self.topology, self.failures, self.table.names())

    def document(self) -> dict[str, Any]:
        """Return all numbers of the machine, quantities with units, as the table `[system]` of a scenario.

        Returns
        -------
        dict
        """
        return dumped(self.table)

    def __repr__(self) -> str:
        shape = self.shape
        groups = f"{shape.groups} {self.table.group_name}{'' if shape.groups == 1 else 's'}"
        return f"System({self.name}: {shape.nodes:,} nodes in {groups})"


def dumped(table: MachineTable) -> dict[str, Any]:
    """A table as JSON, with the names of the document and without empty values."""
    return _without_empty(table.model_dump(mode="json", by_alias=True, exclude_none=True))


def _without_empty(table: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _without_empty(value) if isinstance(value, dict) else value for key, value in table.items() if value != []
    }
