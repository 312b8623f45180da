"""Common code of the routings on direct machines (dragonfly and cascade), whose routers all have nodes."""

from fractions import Fraction
from typing import Literal

from odonata import units
from odonata.errors import InputError
from odonata.machine import System

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
    """The option `gateways` on this machine; None on a Dragonfly+, which has no such choice."""
    kind = system.table.kind
    if kind in _GATEWAYS:
        return given or _GATEWAYS[kind]
    if given is not None:
        message = f"a {kind} has no `gateways`: all its paths between two groups are equally long"
        raise InputError(message, path=("gateways",))
    return None


#: The core's limits: the largest factor between two loads, and the largest bias (1 GB).
MAX_FACTOR, MAX_BIAS = 1_000_000, 10**9


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
