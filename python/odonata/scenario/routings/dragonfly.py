"""The routings of dragonflies, cascades and Dragonfly+ machines, except the modes of Aries.

What each of them does is in `docs/model.md`, section 6.
"""

from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field

from odonata.document import Ratio, Size, input_error_as_problem
from odonata.errors import InputError
from odonata.machine import System
from odonata.scenario.routings.routing import (
    DIRECT,
    DRAGONFLY_PLUS,
    GATEWAYS,
    Gateways,
    Routing,
    Via,
    checked_bias,
    gateways_on,
    thousandths,
)

Select = Literal["random", "hash", "least-loaded"]
#: Description of the option `select`.
SELECT = (
    "how one of several equal paths is chosen: `random` for each packet, by a `hash` of source and destination, or the "
    "`least-loaded`"
)


#: Kind -> where the second phase can begin, the default first.
VIA: dict[str, tuple[str, ...]] = {
    DRAGONFLY_PLUS: ("spine", "leaf"),
    **dict.fromkeys(DIRECT, ("group", "router")),
    "hyperx": ("router",),
    "graph": ("router",),
}


Inside = Literal["minimal", "router"]


def inside_of(via: str | None, inside: Inside | None) -> dict[str, Any]:
    """`inside` as the core reads it. What follows from `via` is left out, so that runs keep their identity."""
    follows = "router" if via == "router" else "minimal"
    return {} if inside in (None, follows) else {"inside": inside}


class Valiant(Routing):
    """Every packet between groups takes a path through a random intermediate group.

    On a HyperX or a graph every packet goes through a random router of the machine. With `inside = "router"`, a packet
    inside a group takes a path through a random router of it. Source: Valiant 1982; Kim 2008, section 4.1 (via group);
    SST's merlin (inside a group).

    Machines: dragonfly-plus, dragonfly, cascade, hyperx, graph.
    """

    core: ClassVar[str] = "valiant"
    name: Literal["valiant"]
    via: Literal["spine", "leaf", "group", "router"] | None = Field(
        None,
        description="where in the intermediate group a packet turns to its destination: on a dragonfly-plus at the "
        "`spine` where it enters (default) or at a random `leaf`; on other machines where it enters the `group` "
        "(default) or at a random `router`; on a hyperx or graph at a random `router` of the machine, with nodes",
    )
    select: Select = Field("random", description=SELECT)
    inside: Inside | None = Field(
        None,
        description="packets that stay in their group take `minimal` paths or go through a random `router` of it; on "
        "a dragonfly or cascade (default: router if `via` is, else minimal)",
    )
    gateways: Gateways | None = Field(None, description=GATEWAYS)

    def decided(self, system: System, compat: str | None) -> Self:  # noqa: ARG002
        """With the machine's `via` and gateways."""
        kind = system.table.kind
        stops = VIA[kind]
        if self.via is not None and self.via not in stops:
            machines = " and ".join(k for k, known in VIA.items() if self.via in known)
            raise InputError(f"`via`: `{self.via}` is for {machines}; a {kind} has: {', '.join(stops)}", path=("via",))
        if self.inside is not None and kind not in DIRECT:
            message = f"packets inside a group of a {kind} take minimal paths only"
            if kind != DRAGONFLY_PLUS:
                message = f"on a {kind}, packets inside a group are routed as all others"
            raise InputError(message, hint="leave out `inside`", path=("inside",))
        return self.model_copy(
            update={"via": self.via or stops[0], "gateways": gateways_on(system, self.gateways)},
        )

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        spec = {"name": self.core, "via": self.via, **inside_of(self.via, self.inside), "select": self.select}
        return spec if self.gateways is None else spec | {"gateways": self.gateways}


def _one_or_two(value: Any) -> int:
    if type(value) is not int or value not in (1, 2):
        raise InputError(f"expected 1 or 2, found `{value!r}`")
    return value


Candidates = Annotated[int, BeforeValidator(input_error_as_problem(_one_or_two))]


class UgalBase(Routing):
    """A packet takes the minimal path unless `load > factor x load of a non-minimal path + bias`.

    Source: Kim 2008, section 4; Jiang 2009.
    """

    via: Via = Field(
        "group",
        description="where a packet on a non-minimal path turns to its destination: where it enters the intermediate "
        "`group`, or at a random `router` of that group",
    )
    inside: Inside | None = Field(
        None,
        description="packets that stay in their group take `minimal` paths only, or may go through a random `router` "
        "of it by the same rule (default: router if `via` is, else minimal)",
    )
    minimal_candidates: Candidates = Field(1, description="number of minimal paths that are compared, 1 or 2")
    other_candidates: Candidates = Field(1, description="number of non-minimal paths that are compared, 1 or 2")
    factor: Ratio = Field(
        Fraction(2), description="the minimal path may have this many times the load of the non-minimal path"
    )
    bias: Size = Field(0, description="added to the load of the non-minimal path, in queued bytes")
    gateways: Gateways | None = Field(None, description=GATEWAYS)

    def decided(self, system: System, compat: str | None) -> Self:  # noqa: ARG002
        """With the machine's gateways."""
        thousandths(self.factor, "factor")
        checked_bias(self.bias, "bias")
        return self.model_copy(update={"gateways": gateways_on(system, self.gateways)})

    def options(self) -> dict[str, Any]:
        """The options as the core reads them."""
        return {
            "via": self.via,
            **inside_of(self.via, self.inside),
            "minimal_candidates": self.minimal_candidates,
            "other_candidates": self.other_candidates,
            "factor_milli": thousandths(self.factor, "factor"),
            "bias_bytes": self.bias,
            "gateways": self.gateways,
        }


class UgalL(UgalBase):
    """Minimal or non-minimal path, decided at the first router by its own queues.

    Source: Kim 2008, section 4 (UGAL-L).

    Machines: dragonfly, cascade.
    """

    core: ClassVar[str] = "ugal"
    name: Literal["ugal-l"]

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        return {"name": self.core, "knowledge": "local", **self.options()}


class UgalG(UgalBase):
    """Minimal or non-minimal path, decided at the first router by the queues at all global links of its group.

    No real machine can do this. It is the ideal that UGAL-L is compared with. Source: Kim 2008, section 4 (UGAL-G).

    Machines: dragonfly, cascade.
    """

    core: ClassVar[str] = "ugal"
    name: Literal["ugal-g"]

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        return {"name": self.core, "knowledge": "global", **self.options()}


class Par(UgalBase):
    """Like ugal-l, but a packet on a minimal path decides again at each other router of its source group.

    Source: Jiang 2009 (progressive adaptive routing).

    Machines: dragonfly, cascade.
    """

    core: ClassVar[str] = "par"
    name: Literal["par"]

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        return {"name": self.core, **self.options()}


class AdaptiveLocal(Routing):
    """Through an intermediate group if its port has more than `factor` times the free buffer of the minimal port.

    Inside a group, through a random router of the group by the same rule.

    Source: the dragonfly of SST's merlin (`adaptive-local`), as Zhang 2018 used it.

    Machines: dragonfly, cascade.
    """

    core: ClassVar[str] = "adaptive-local"
    name: Literal["adaptive-local"]
    factor: Ratio = Field(
        Fraction(2),
        description="the non-minimal port must have more than this many times the minimal port's share of free buffer",
    )
    inside: Inside = Field(
        "router",
        description="packets that stay in their group may go through a random `router` of it, as in SST, or take "
        "`minimal` paths only",
    )
    gateways: Gateways | None = Field(None, description=GATEWAYS)

    def decided(self, system: System, compat: str | None) -> Self:  # noqa: ARG002
        """With the machine's gateways."""
        thousandths(self.factor, "factor")
        return self.model_copy(update={"gateways": gateways_on(system, self.gateways)})

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        return {
            "name": self.core,
            "factor_milli": thousandths(self.factor, "factor"),
            **({"inside": self.inside} if self.inside == "router" else {}),
            "gateways": self.gateways,
        }


class Fpar(Routing):
    """A non-minimal path is taken if its load is below the threshold and that of no minimal path is.

    The load of a port is its queue, here and behind the link, by default (`sensing = "occupancy"`): the "port queue
    occupancy normalized by the queue length" of Kang 2019. `odonata show sensing` lists the congestion metrics.

    Source: Shpiner 2017; Kang 2019, section 3.1.2.

    Machines: dragonfly-plus.
    """

    core: ClassVar[str] = "fpar"
    sensing: ClassVar[str] = "occupancy"
    name: Literal["fpar"]
    threshold: Ratio = Field(
        Fraction(1, 2),
        description="share of a port's buffers from which the port counts as busy (Kang 2019, section 3.1.2: 50 %)",
    )
    compare: Literal["below", "at-most"] | None = Field(
        None,
        description="whether a port at the threshold is still free: `below` (the paper) or `at-most` "
        "(the authors' code); default `below`, under `compat` as the code has it",
    )
    candidates: Literal["all-groups", "one-group"] = Field(
        "all-groups", description="which non-minimal ports are considered at the source spine"
    )
    channel_switch: Literal["intermediate", "intermediate-leaf"] = Field(
        "intermediate", description="where a diverted packet changes to channel 1"
    )

    def decided(self, system: System, compat: str | None) -> Self:  # noqa: ARG002
        """With the comparison of the paper, or with that of the simulator that `compat` names."""
        if (self.threshold * 1_000_000).denominator != 1:
            raise InputError("`threshold` has more than six decimals", path=("threshold",))
        if self.threshold > 1:
            message = f"`threshold` must be at most 1 (100 %), found {float(self.threshold):g}"
            raise InputError(message, hint='50 % is written 0.5 or "50 %"', path=("threshold",))
        return self.model_copy(update={"compare": self.compare or ("at-most" if compat else "below")})

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it."""
        return {
            "name": self.core,
            "threshold_ppm": (self.threshold * 1_000_000).numerator,
            "compare": self.compare,
            "candidates": self.candidates,
            "channel_switch": self.channel_switch,
        }
