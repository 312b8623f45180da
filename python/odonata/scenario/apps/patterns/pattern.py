"""The base class of traffic patterns: sizes, intervals, arrivals."""

from abc import abstractmethod
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


#: The mean time between two intervals of a rank.
Interval = Annotated[
    int,
    BeforeValidator(input_error_as_problem(_interval)),
    PlainSerializer(units.format_time, when_used="json"),
]
#: A number of intervals.
Intervals = Annotated[int, BeforeValidator(input_error_as_problem(whole_number("a number of intervals")))]


class Pattern(App):
    """Open-loop traffic: at every interval each rank sends what the pattern says.

    Sources: Kang 2019, sections 3.3 and 3.4, and the behaviour of its authors' generator (K11, K14 to K17).
    """

    pattern: str
    interval: Interval = Field(description="mean time between two intervals of a rank")
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
            "interval_ps": self.interval,
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
