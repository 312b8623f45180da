"""The base class of traffic patterns: sizes, intervals, arrivals."""

from abc import abstractmethod
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer

from odonata import units
from odonata.document import Time, input_error_as_problem
from odonata.errors import InputError
from odonata.scenario.apps.app import App, Ranks
from odonata.scenario.apps.values import MAX_DURATION_PS, MessageSize, whole_number

#: Jitter of the generator of Kang 2019 (K11): exponential with this mean.
DEFAULT_JITTER_PS = 1_000


def _interval(value: Any) -> int:
    ps = units.time_ps(value)
    if ps == 0:
        raise InputError(f"an interval of `{value}` would send everything at once; it must be longer")
    if ps > MAX_DURATION_PS:
        raise InputError(f"`{value}` is longer than the longest interval, 2^54 ps (5 hours)")
    return ps


INTERVAL = "mean time between two intervals of a rank"
#: The mean time between two intervals of a rank.
Interval = Annotated[
    int,
    BeforeValidator(input_error_as_problem(_interval)),
    PlainSerializer(units.format_time, when_used="json"),
]
#: Highest load: 2,000 %. A larger number was meant as a percentage.
MAX_LOAD = 20


def _load(value: Any) -> Fraction:
    load = units.fraction(value)
    if load > MAX_LOAD:
        shown = value if isinstance(value, str) else repr(value)
        hint = '130 % is written 1.30 or "130 %"'
        raise InputError(f"a load of `{shown}` is more than {MAX_LOAD} (2,000 %)", hint=hint)
    if load <= 0:
        raise InputError(f"a load of `{value}` would send nothing; it must be more than 0")
    return load


#: A load, as a share of a capacity.
Load = Annotated[
    Fraction,
    BeforeValidator(input_error_as_problem(_load)),
    PlainSerializer(lambda v: None if v is None else float(v), when_used="json"),
]
#: A number of intervals.
Intervals = Annotated[int, BeforeValidator(input_error_as_problem(whole_number("a number of intervals")))]


class Pattern(App):
    """Open-loop traffic: at every interval each rank sends what the pattern says.

    Sources: Kang 2019, sections 3.3 and 3.4, and the behaviour of its authors' generator (K11, K14 to K17).
    """

    pattern: str
    interval: Interval | None = Field(None, description=INTERVAL)
    messages: Intervals | None = Field(
        None, description="number of intervals (default: without end; a job that a run waits for needs it)"
    )
    arrival: Literal["constant", "poisson", "staggered"] = Field(
        "constant",
        description="variation of intervals: constant with a jitter, exponential, or constant after a random phase",
    )
    jitter: Time | None = Field(
        None, description="mean of the exponential jitter of constant and staggered arrivals (default: 1 ns)"
    )
    first: Literal["after-interval", "at-zero"] = Field("after-interval", description="when a rank first sends")

    @abstractmethod
    def message_bytes(self, ranks: Ranks) -> int:
        """Size of every message."""

    def interval_ps(self, ranks: Ranks) -> int:  # noqa: ARG002
        """Mean time between two intervals of a rank. Raises InputError with a path into the app's table."""
        if self.interval is None:
            raise InputError("missing key `interval`", hint=INTERVAL)
        return self.interval

    @abstractmethod
    def pattern_spec(self, ranks: Ranks) -> dict[str, Any]:
        """The pattern as the core reads it. Raises InputError with a path into the app's table."""

    def core_name(self) -> str:
        """The pattern's name in the core."""
        return self.pattern

    def traffic(self, ranks: Ranks) -> dict[str, Any]:
        """The traffic of a job as the core reads it. Raises InputError with a path into the app's table."""
        return {
            "pattern": {"name": self.core_name(), **self.pattern_spec(ranks)},
            "message_bytes": self.message_bytes(ranks),
            "interval_ps": self.interval_ps(ranks),
            "intervals": self.messages,
            "arrival": self._arrival(),
            "first": self.first,
        }

    def _arrival(self) -> dict[str, Any]:
        if self.arrival == "poisson":
            if self.jitter is not None:
                message = "`jitter` is not used with poisson arrivals, which are already random"
                raise InputError(message, path=("jitter",))
            return {"name": "poisson"}
        jitter = DEFAULT_JITTER_PS if self.jitter is None else self.jitter
        if jitter > MAX_DURATION_PS:
            raise InputError("`jitter` is longer than 2^54 ps (5 hours)", path=("jitter",))
        return {"name": self.arrival, "jitter_ps": jitter}


class SizedPattern(Pattern):
    """A pattern with a given message size."""

    message: MessageSize = Field(description="size of each message")

    def message_bytes(self, ranks: Ranks) -> int:  # noqa: ARG002
        """Size of every message."""
        return self.message


class LoadedPattern(SizedPattern):
    """A pattern in which all ranks send equally much: its intervals are given, or solved from a load."""

    load: Load | None = Field(None, description="offered load, from which the interval follows (or give `interval`)")
    load_of: Literal["node-link", "global-links"] = Field(
        "node-link",
        description="what the load is a share of: a node's links to its routers, or the global links of a group",
    )

    def per_interval(self) -> int:
        """Messages that a rank sends in an interval."""
        return 1

    def leaving(self, ranks: Ranks) -> Fraction:  # noqa: ARG002
        """The share of all messages that leave their group."""
        raise InputError(
            f"`load_of` = `global-links` is not defined for {self.pattern}",
            hint='use load_of = "node-link"',
            path=("load_of",),
        )

    def interval_ps(self, ranks: Ranks) -> int:
        """The given interval, or the one for the wanted load, to the nearest picosecond."""
        if self.load is None:
            if self.load_of != "node-link":
                raise InputError("`load_of` is used with `load` only", path=("load_of",))
            if self.interval is None:
                raise InputError("missing key `interval` or `load`", hint=INTERVAL)
            return self.interval
        if self.interval is not None:
            raise InputError("`interval` and `load` exclude each other", path=("load",))
        sent = Fraction(self.per_interval() * self.message_bytes(ranks))
        capacity = ranks.system.node_bandwidth
        if self.load_of == "global-links":
            sent *= self.leaving(ranks) * max(ranks.by_group().values())
            capacity = ranks.system.global_bandwidth_of_group
            if not sent or not capacity:
                raise InputError("no message crosses a global link, so they have no load", path=("load_of",))
        ps = round(sent * 10**12 / (self.load * Fraction(capacity, 10**6)))
        if not 1 <= ps <= MAX_DURATION_PS:
            message = (
                f"a load of {float(self.load):g} needs an interval of {ps} ps, not between 1 ps and 2^54 ps (5 hours)"
            )
            raise InputError(message, path=("load",))
        return ps
