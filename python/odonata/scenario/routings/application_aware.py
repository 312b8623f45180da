"""Application-aware routing: a policy selects the mode of Aries for each message."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from odonata.core_options import bounds
from odonata.document import Count, Ratio, Size
from odonata.errors import InputError
from odonata.machine import System
from odonata.scenario.routings.aries import BIASES
from odonata.scenario.routings.routing import GATEWAYS, LISTED, Gateways, Routing, checked_bias, gateways_on

Alone = Literal["default", "high-bias", "app-aware", "app-aware-continuous", "app-aware-h", "bandit"]
Policy = Literal["default", "high-bias", "app-aware", "app-aware-continuous", "app-aware-h", "bandit", "in-turn"]

_REMEMBERING = ("app-aware-continuous", "app-aware-h", "bandit")
_CHANGING = ("app-aware", *_REMEMBERING)
_COMPARING = ("app-aware-continuous", "app-aware-h")
#: Option -> the policies that use it, and its default (docs/application-aware.md has the sources).
_OPTIONS: Mapping[str, tuple[tuple[str, ...], int | Fraction]] = {
    "threshold": (_CHANGING, 4096),
    "sample_age": (_REMEMBERING, 64),
    "latency_ratio": (_COMPARING, Fraction(8, 10)),
    "stall_ratio": (_COMPARING, Fraction(13, 10)),
    "margin": (("app-aware-h",), Fraction(5, 100)),
    "dwell": (("app-aware-h",), 8),
}
_BOUNDS = {option["name"]: bounds(option) for option in LISTED["application-aware"]["options"] if option["range"]}
#: Option -> the smallest and the largest ratio.
_RATIOS = {
    key: (Fraction(_BOUNDS[f"{key}_ppm"][0], 1_000_000), Fraction(_BOUNDS[f"{key}_ppm"][1], 1_000_000))
    for key in ("latency_ratio", "stall_ratio", "margin")
}
#: The largest number and the largest size.
_MOST = _BOUNDS["bias_high_bytes"][1]


class ApplicationAware(Routing):
    """A policy of each rank selects the mode of Aries for each message, from what the NIC counted for earlier ones.

    It chooses between the default (adaptive-0, and adaptive-1 for all-to-all collectives) and adaptive-3. Needs NICs
    that count: `fabric.nic = "aries"`. Source: De Sensi 2019, section 4.2.

    Machines: dragonfly, cascade.
    """

    core: ClassVar[str] = "application-aware"
    name: Literal["application-aware"]
    policy: Policy = Field(
        "app-aware",
        description="`app-aware`: what the authors' library does; `app-aware-continuous`: Algorithm 1 of the paper "
        "with learned factors; `app-aware-h`: the same without oscillation; `bandit`: explores; `default` and "
        "`high-bias`: always that side; `in-turn`: the policies of `turns`",
    )
    turns: list[Alone] | None = Field(
        None, description="`in-turn`: the policy of iteration 0, of iteration 1, and so on, then again the first"
    )
    bias_high: Size | None = Field(
        None,
        description="bias to minimal paths in adaptive-3, and in adaptive-1 at its last decision, in bytes queued "
        "(default: 1/2 of the buffer of a link between groups; assumed)",
    )
    threshold: Size | None = Field(
        None,
        description="bytes of messages that must add up before the counters decide; until then adaptive-3 (default: "
        "4 KiB; De Sensi 2019, section 4.2)",
    )
    sample_age: Count | None = Field(
        None,
        description="decisions after which an observation is too old, unless the policy is `app-aware` (default: 64; "
        "assumed)",
    )
    latency_ratio: Ratio | None = Field(
        None,
        description="initial lambda: latency with adaptive-3, divided by that with the default (default: 0.8; assumed)",
    )
    stall_ratio: Ratio | None = Field(None, description="initial sigma: the same for stalls (default: 1.3; assumed)")
    margin: Ratio | None = Field(
        None, description="`app-aware-h`: share of the time that a change must save (default: 0.05; assumed)"
    )
    dwell: Count | None = Field(
        None, description="`app-aware-h`: observed messages between two changes (default: 8; assumed)"
    )
    gateways: Gateways | None = Field(None, description=GATEWAYS)

    def decided(self, system: System, compat: str | None) -> Self:  # noqa: ARG002
        """With the machine's gateways and bias, and the options that the policy has."""
        filled: dict[str, Any] = {"gateways": gateways_on(system, self.gateways)}
        buffer = system.fabric["links"][system.table.between_groups]["buffer_bytes"]
        share = BIASES["bias_high"][1]
        bias = self.bias_high
        filled["bias_high"] = buffer // share if bias is None else checked_bias(bias, "bias_high")
        used = self._used()
        for name, (policies, default) in _OPTIONS.items():
            given = getattr(self, name)
            if not used.isdisjoint(policies):
                filled[name] = default if given is None else _checked(name, given)
            elif given is not None:
                message = f"the policy `{self.policy}` does not use `{name}`"
                if self.turns is not None:
                    message = f"none of `turns` uses `{name}`"
                raise InputError(message, hint=f"it is for {' and '.join(policies)}", path=(name,))
        return self.model_copy(update=filled)

    def _used(self) -> set[str]:
        """The policies of its messages. Raises InputError if `turns` and `policy` do not fit together."""
        if self.policy != "in-turn":
            if self.turns is not None:
                message = f"the policy `{self.policy}` does not use `turns`"
                raise InputError(message, hint='policy = "in-turn"', path=("turns",))
            return {self.policy}
        if self.turns is None:
            message = "the policy `in-turn` needs `turns`, the policies that take turns"
            raise InputError(message, hint='turns = ["default", "high-bias"]', path=("policy",))
        if len(self.turns) < 2:
            message = f"`turns` needs at least two policies, found {len(self.turns)}"
            raise InputError(message, hint='turns = ["default", "high-bias"]', path=("turns",))
        return set(self.turns)

    def spec(self) -> dict[str, Any]:
        """The routing as the core reads it; an option that the policy does not have has its default."""
        of = {name: default for name, (_, default) in _OPTIONS.items()}
        of |= {name: getattr(self, name) for name in _OPTIONS if getattr(self, name) is not None}
        policies: list[str] = [*self.turns] if self.turns else [self.policy]
        first, *then = policies
        return {
            "name": self.core,
            "policy": first,
            **({"then": then} if then else {}),
            "bias_high_bytes": self.bias_high,
            "threshold_bytes": of["threshold"],
            "sample_age": of["sample_age"],
            **{f"{name}_ppm": (of[name] * 1_000_000).numerator for name in _RATIOS},
            "dwell": of["dwell"],
            "gateways": self.gateways,
        }

    def of_packets(self) -> list[dict[str, Any]]:
        """The three modes that a policy selects."""
        biases = {"adaptive-0": 0, "adaptive-1": self.bias_high, "adaptive-3": self.bias_high}
        shared = {"name": "aries", "bias_low_bytes": 0, "gateways": self.gateways}
        return [{**shared, "mode": mode, "bias_high_bytes": bias} for mode, bias in biases.items()]


def _checked(name: str, value: Any) -> Any:
    """The value of an option. Raises InputError, at `name`, if it is out of range."""
    if name in _RATIOS:
        least, most = _RATIOS[name]
        if (value * 1_000_000).denominator != 1:
            raise InputError(f"`{name}` has more than six decimals", path=(name,))
        if not least <= value <= most:
            message = f"`{name}` must be between {float(least):g} and {float(most):g}, found {float(value):g}"
            raise InputError(message, path=(name,))
    elif value > _MOST:
        raise InputError(f"`{name}` must be at most {_MOST:,}, found {value:,}", path=(name,))
    return value
