"""What all routings have in common, and the options that several of them have."""

import json
from abc import abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from odonata import _core, units
from odonata.core_options import bounds
from odonata.document import Table
from odonata.errors import InputError
from odonata.machine import System

#: The core's list of routings by name.
LISTED: "dict[str, _core.RoutingInfo]" = {info["name"]: info for info in _core.routings()}


class Routing(Table):
    """A routing and its options."""

    #: Its name in the core. The core knows how many channels it needs.
    core: ClassVar[str]
    #: Kinds of machines that it is for.
    kinds: ClassVar[tuple[str, ...]]
    #: Its own congestion metric, with which runs that use it are simulated unless they name another.
    sensing: ClassVar[str] = "backlog"
    elsewhere: ClassVar[Mapping[str, str]] = {
        "sensing": "`sensing`, the congestion metric of the run, stands beside `routing`"
    }

    name: str

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """The core lists the machines of a routing, if the class does not."""
        super().__pydantic_init_subclass__(**kwargs)
        if hasattr(cls, "core") and "kinds" not in vars(cls):
            cls.kinds = tuple(LISTED[cls.core]["machines"])

    def channels_needed(self, system: System) -> int:
        """Number of virtual channels that rules out a deadlock, if nothing has failed."""
        spec = json.dumps(self.decided(system, None).spec())
        needed = _core.routing_channels(spec, json.dumps(system.topology))
        assert needed is not None
        return needed

    @property
    def called(self) -> str:
        """What messages call it."""
        return self.name

    def located(self, folder: Path) -> Self:  # noqa: ARG002
        """The same with the contents of the files that it names, which are relative to a folder."""
        return self

    @abstractmethod
    def decided(self, system: System, compat: str | None) -> Self:
        """The same with every default filled in that depends on the machine or on `compat`.

        Raises InputError, whose path leads into the routing's table, for an option that does not apply.
        """

    @abstractmethod
    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it. Call it on the result of `decided`."""

    def of_packets(self) -> list[dict[str, Any]]:
        """The routings that its packets may have, as the core reads them. Call it on the result of `decided`."""
        return [self.spec()]


#: The kinds of direct machines.
DIRECT = ("dragonfly", "cascade")
DRAGONFLY_PLUS = "dragonfly-plus"

Gateways = Literal["nearest", "all"]
#: Description of the option `gateways`.
GATEWAYS = (
    "which cables to another group are used: those at the `nearest` router, for the fewest links, or `all` (default: "
    "nearest on a dragonfly, all on a cascade)"
)
#: Kind -> default. On a cascade `all`, as in the public models of Theta (assumed; docs/routings.md).
_GATEWAYS: dict[str, Gateways] = {"dragonfly": "nearest", "cascade": "all"}

Via = Literal["group", "router"]


def gateways_on(system: System, given: Gateways | None) -> Gateways | None:
    """The option `gateways` on this machine; None on a kind that has no such choice."""
    kind = system.table.kind
    if kind in _GATEWAYS:
        return given or _GATEWAYS[kind]
    if given is not None:
        message = f"a {kind} has no `gateways`: all its shortest paths are used"
        raise InputError(message, path=("gateways",))
    return None


_OF_UGAL = {option["name"]: bounds(option)[1] for option in LISTED["ugal"]["options"] if option["range"]}
#: The largest factor between two loads, and the largest bias.
MAX_FACTOR, MAX_BIAS = _OF_UGAL["factor_milli"] // 1_000, _OF_UGAL["bias_bytes"]


def checked_bias(bytes_: int, name: str) -> int:
    """The size of a bias. Raises InputError, at `name`, if it is above MAX_BIAS."""
    if bytes_ > MAX_BIAS:
        raise InputError(f"`{name}` must be at most 1 GB, found {units.format_bytes(bytes_)}", path=(name,))
    return bytes_


def thousandths(value: Fraction, name: str) -> int:
    """A ratio in thousandths. Raises InputError, at `name`, if it is not a whole number of them."""
    if value > MAX_FACTOR:
        raise InputError(f"`{name}` must be at most {MAX_FACTOR:,}, found {float(value):g}", path=(name,))
    milli = value * 1000
    if milli.denominator != 1:
        raise InputError(f"`{name}` has more than three decimals", path=(name,))
    return milli.numerator
