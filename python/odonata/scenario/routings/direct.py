"""What routings on dragonflies and cascades have in common, machines whose every router has nodes."""

from abc import abstractmethod
from fractions import Fraction
from typing import ClassVar, Literal

from odonata import units
from odonata.errors import InputError
from odonata.machine import System
from odonata.scenario.routings.routing import Routing

#: The kinds of such machines.
DIRECT = ("dragonfly", "cascade")
DRAGONFLY_PLUS = "dragonfly-plus"

Gateways = Literal["nearest", "all"]
#: Description of the option `gateways`.
GATEWAYS = (
    "which cables to another group are used: those at the `nearest` router, for the fewest links, or `all` (default: "
    "nearest on a dragonfly, all on a cascade)"
)
#: Kind -> default. On a cascade all, as assumed of the public models of Theta (docs/routings.md).
_GATEWAYS: dict[str, Gateways] = {"dragonfly": "nearest", "cascade": "all"}

Via = Literal["group", "router"]


def gateways_on(system: System, given: Gateways | None) -> Gateways | None:
    """The option `gateways` on this machine; None on a Dragonfly+, which has no such choice."""
    kind = system.table.kind
    if kind in _GATEWAYS:
        return given or _GATEWAYS[kind]
    if given is not None:
        message = f"`gateways` means nothing on a {kind}, whose ways between two groups are all equally long"
        raise InputError(message, path=("gateways",))
    return None


def subs(system: System) -> int:
    """Channels of each stage of a way: 2 if a way inside a group can turn from a row into a column, else 1.

    docs/model.md, section 6 (S of a machine without failures).
    """
    topology = system.topology
    return 2 if topology.get("rows", 1) > 1 and topology.get("columns", 1) > 1 else 1


class DirectRouting(Routing):
    """A routing of direct machines only."""

    kinds: ClassVar[tuple[str, ...]] = DIRECT

    def channels_needed(self, system: System) -> int:
        """As many as the stages of its longest way, times those of a stage."""
        return self.stages() * subs(system)

    @abstractmethod
    def stages(self) -> int:
        """Stages of its longest way: one more after each global link and each turn (docs/model.md, section 6)."""


#: Largest factor between two loads, and largest bias of one (1 GB), of the core.
MAX_FACTOR, MAX_BIAS = 1_000_000, 10**9


def checked_bias(bytes_: int, name: str) -> int:
    """The size of a bias. Raises InputError, at `name`, if it is beyond all measure."""
    if bytes_ > MAX_BIAS:
        raise InputError(f"`{name}` must be at most 1 GB, found {units.format_bytes(bytes_)}", path=(name,))
    return bytes_


def thousandths(value: Fraction, name: str) -> int:
    """A ratio in thousandths. Raises InputError, at `name`, if it is none of them."""
    if value > MAX_FACTOR:
        raise InputError(f"`{name}` must be at most {MAX_FACTOR:,}, found {float(value):g}", path=(name,))
    milli = value * 1000
    if milli.denominator != 1:
        raise InputError(f"`{name}` has more than three decimals", path=(name,))
    return milli.numerator
