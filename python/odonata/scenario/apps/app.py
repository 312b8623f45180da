"""What all traffic patterns have in common: sizes, intervals, arrivals."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer

from odonata import units
from odonata.document import Table, Time, input_error_as_problem
from odonata.errors import InputError
from odonata.machine import System

#: Largest message of the core.
MAX_MESSAGE_BYTES = 2**40
#: Longest interval and jitter of the core: 2^54 ps, 5 hours.
MAX_INTERVAL_PS = 2**54
#: Jitter of the generator of Kang 2019 (K11): exponential with this mean.
DEFAULT_JITTER_PS = 1_000


def _message(value: Any) -> int:
    size = units.size_bytes(value)
    if not 1 <= size <= MAX_MESSAGE_BYTES:
        raise InputError(f"a message has between 1 B and 2^40 B (1 TiB), found `{value}`")
    return size


def _interval(value: Any) -> int:
    ps = units.time_ps(value)
    if ps == 0:
        raise InputError(f"an interval of `{value}` would send everything at once; it must be longer")
    if ps > MAX_INTERVAL_PS:
        raise InputError(f"`{value}` is longer than the longest interval, 2^54 ps (5 hours)")
    return ps


def _messages(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
        hint = f"write {int(value):_}" if whole else None
        raise InputError(f"expected a number of intervals (a whole number), found `{value!r}`", hint=hint)
    if not 1 <= value <= 2**31 - 1:
        raise InputError(f"expected a number of intervals from 1 to 2^31 - 1, found {value}")
    return value


#: The size of a message, 1 to 2^40 bytes.
MessageSize = Annotated[
    int,
    BeforeValidator(input_error_as_problem(_message)),
    PlainSerializer(lambda v: None if v is None else units.format_bytes(v), when_used="json"),
]
#: The mean time between two intervals of a rank.
Interval = Annotated[
    int,
    BeforeValidator(input_error_as_problem(_interval)),
    PlainSerializer(units.format_time, when_used="json"),
]
#: A number of intervals.
Intervals = Annotated[int, BeforeValidator(input_error_as_problem(_messages))]


@dataclass(frozen=True)
class Ranks:
    """Where the ranks of a job are: what a pattern may depend on."""

    system: System
    nodes: list[int]

    @property
    def count(self) -> int:
        """Number of ranks."""
        return len(self.nodes)

    def by_group(self) -> dict[int, int]:
        """Number of ranks in each group that has any, by ascending group."""
        counts: dict[int, int] = {}
        for node in self.nodes:
            group = self.system.shape.group_of(node)
            counts[group] = counts.get(group, 0) + 1
        return dict(sorted(counts.items()))


class App(Table):
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
        description="how intervals vary: in step with a jitter, exponential, or in step after a random phase",
    )
    jitter: Time | None = Field(
        None, description="mean of the exponential jitter of constant and staggered arrivals (default: 1 ns)"
    )
    first: Literal["after-interval", "at-zero"] = Field("after-interval", description="when a rank sends first")

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
                message = "`jitter` means nothing with poisson arrivals, which are random already"
                raise InputError(message, path=("jitter",))
            return {"name": "poisson"}
        jitter = DEFAULT_JITTER_PS if self.jitter is None else self.jitter
        if jitter > MAX_INTERVAL_PS:
            raise InputError("`jitter` is longer than 2^54 ps (5 hours)", path=("jitter",))
        return {"name": self.arrival, "jitter_ps": jitter}


class SizedApp(App):
    """A pattern whose messages have the size that is given."""

    message: MessageSize = Field(description="size of each message")

    def message_bytes(self, ranks: Ranks) -> int:  # noqa: ARG002
        """Size of every message."""
        return self.message
