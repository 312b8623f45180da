"""The base class of the tables of all kinds of machines."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field

from odonata.document import Bandwidth, Table
from odonata.errors import InputError
from odonata.machine.core import Naming
from odonata.machine.fabric import FabricTable
from odonata.machine.failed import FailedTable
from odonata.machine.host import HostTable
from odonata.machine.kinds.listed import check_cables
from odonata.machine.kinds.pairs import Pairs
from odonata.machine.shape import Shape

#: Largest number of nodes: more than any real machine has, and few enough for the memory of this one.
MAX_NODES = 2**24


class WiringTable(Table):
    """`wiring`: links from the connection files of CODES."""

    inter: str | None = Field(None, description="file of the links between groups: they become `global_links`")
    intra: str | None = Field(None, description="file of the links inside each group: links that it lacks have failed")


class MachineTable(Table):
    """A machine, complete: every preset has this form, and so has `[system]` without a preset."""

    #: Classes of links of this kind, `node` first.
    classes: ClassVar[tuple[str, ...]]
    #: What this kind calls the level above routers.
    group_name: ClassVar[str] = "group"
    #: Keys that define the links between groups if they are not listed one by one.
    rules_of_pairs: ClassVar[tuple[str, ...]] = ("links_per_pair", "pair_links", "arrangement")
    #: Default arrangement of the links between groups.
    usual_rules: ClassVar[Mapping[str, str]]
    #: Default number of virtual channels.
    usual_channels: ClassVar[int] = 2
    #: Sources of the defaults that differ from kind to kind.
    default_sources: ClassVar[Mapping[str, str]] = {}
    #: Numbers in a record of a CODES file of links inside a group; None if CODES has no such files.
    intra_numbers: ClassVar[int | None]
    #: Keys that `odonata show` prints first, in this order.
    keys_first: ClassVar[tuple[str, ...]] = ()

    kind: str = Field(description="kind of machine")
    name: str = Field("custom", description="name in results")
    title: str = Field("", description="one line about the machine")
    tgll_bandwidth: Bandwidth | None = Field(
        None, description="bandwidth of a global link in TGLL (default: that of the links)"
    )
    routing: str | dict[str, Any] | None = Field(
        None,
        description="routing of scenarios that name none: a name, or a table with `name` and options (default: by "
        "`interconnect`, or by the kind of machine; docs/routings.md)",
    )
    sensing: str | dict[str, Any] | None = Field(
        None,
        description="congestion metric of scenarios that name none, as `sensing` of a scenario (default: that of the "
        "routing)",
    )
    failed: FailedTable | None = Field(None, description="cables and routers that do not work")
    wiring: WiringTable | None = Field(None, description="connection files of CODES: `inter`, `intra`")
    fabric: FabricTable
    host: HostTable | None = Field(
        None,
        description='costs of the host for programs: a table, `"none"`, a preset that has them, or a file (`.toml`) '
        "(default: none, and a run says so)",
    )

    @property
    def not_modelled(self) -> tuple[str, ...]:
        """What its real network has and the model has not, a sentence each."""
        return ()

    @property
    def usual_routing(self) -> str:
        """What chooses its default routing if it states none: its interconnect, if it states one, or its kind."""
        return getattr(self, "interconnect", None) or self.kind

    @abstractmethod
    def check(self) -> None:
        """Raises InputError (with a path) if such a machine cannot be built."""

    @abstractmethod
    def topology(self) -> dict[str, Any]:
        """The machine's topology as the core reads it."""

    @abstractmethod
    def shape(self) -> Shape:
        """Where its nodes sit."""

    @abstractmethod
    def pairs(self) -> Pairs:
        """The links between its groups."""

    @abstractmethod
    def routers_in_all(self) -> int:
        """Routers of the machine, with and without nodes."""

    @abstractmethod
    def nodes_of_router(self, router: int) -> Sequence[int]:
        """The nodes that have a NIC on this router (a number of the whole machine)."""

    @abstractmethod
    def group_of_router(self, router: int) -> int | None:
        """Group of a router; None if it belongs to none."""

    def links_out(self) -> int:
        """Cables from a group to elsewhere, the most that a group has with the usual number to each other group."""
        return self.pairs().range[1] * (self.shape().groups - 1)

    def router_name(self, router: int) -> str | None:  # noqa: ARG002
        """A name for a router in written files; None: by its group and place."""
        return None

    def names(self) -> Naming | None:
        """The names that its description gives to routers and nodes; None if there are none."""
        return None

    @abstractmethod
    def global_ports_of(self, router: int) -> int:
        """Global ports of a router, used or not."""

    @abstractmethod
    def facts(self) -> list[tuple[str, str]]:
        """Derived numbers for `odonata show`: name and value."""

    @classmethod
    def classes_of(cls, table: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG003
        """Classes of links of the machine of this table, which may not be valid."""
        return cls.classes

    @property
    def own_classes(self) -> tuple[str, ...]:
        """Classes of links of this machine."""
        return self.classes

    @classmethod
    def completed(cls, table: Mapping[str, Any]) -> dict[str, Any]:
        """The table with those defaults that depend on its kind and on its other keys."""
        result = dict(table) if "global_links" in table else {**cls.usual_rules, **table}
        if isinstance(table.get("fabric"), Mapping):
            result["fabric"] = {"channels": cls.usual_channels, **table["fabric"]}
        return result

    @abstractmethod
    def longest_path(self) -> tuple[str, ...]:
        """Classes of the links of a longest minimal path, from node to node. Links of other classes do not exist."""

    @property
    def between_groups(self) -> str:
        """The class that joins groups: the last of its own."""
        return self.own_classes[-1]

    def check_rail(self, rails: int) -> None:
        """Raises InputError for a choice between the NICs of a node that has only one."""
        for key in ("rail", "stripe_above"):
            if rails == 1 and getattr(self.fabric.nic, key) is not None:
                message = f"`fabric.nic.{key}` needs nodes with several NICs"
                raise InputError(message, hint="`rails = 2`", path=("fabric", "nic", key))

    def check_counts_between_groups(self, *keys: str) -> None:
        """Raises InputError for a count of links between groups that is 0 though there are several groups."""
        groups = self.shape().groups
        for key in keys:
            if getattr(self, key) == 0 and groups > 1:
                message = f"`{key}` must be at least 1 to join {groups} groups, found 0"
                raise InputError(message, hint="only a machine of one group needs none", path=(key,))

    def check_common(self) -> None:
        """Raises InputError for values that no kind of machine can have."""
        nodes = self.shape().nodes
        if nodes > MAX_NODES:
            message = f"{nodes:,} nodes are more than the {MAX_NODES:,} that can be simulated"
            raise InputError(message, path=("groups",))
        if self.failed is not None:
            try:
                self.failed.check(self.own_classes)
            except InputError as e:
                raise e.under("failed") from None
        cables = getattr(self, "global_links", None)
        if cables is None:
            return
        for key in self.rules_of_pairs:
            if getattr(self, key, None) not in (None, ()):
                message = f"`{key}` and `global_links` cannot be given together: the list is complete"
                raise InputError(message, path=(key,))
        check_cables(cables, self, lambda number: InputError(f"`global_links`: entry {number}", path=("global_links",)))


def has_several_nics(table: Mapping[str, Any]) -> bool:
    """Whether the table gives its nodes several NICs. It may not be valid."""
    rails = table.get("rails", 1)
    return isinstance(rails, int) and rails > 1


def without_links_between_groups(table: dict[str, Any], ports: str) -> dict[str, Any]:
    """The table with no global ports under the key `ports`, if it has only one group and does not say how many."""
    return {ports: 0, **table} if table.get("groups") == 1 else table


def with_rail(table: dict[str, Any]) -> dict[str, Any]:
    """The table with the default choice between several NICs of a node, if a node has several."""
    fabric = table.get("fabric")
    nic = fabric.get("nic", {}) if isinstance(fabric, Mapping) else None
    if not has_several_nics(table) or not isinstance(fabric, Mapping) or not isinstance(nic, Mapping):
        return table
    return {**table, "fabric": {**fabric, "nic": {"rail": "hash", **nic}}}
