"""Traffic patterns as a scenario names them, listed in `listed.PATTERNS`.

What a pattern sends is in `docs/model.md`, section 7; `docs/applications.md` has the table.
"""

from abc import abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, PlainSerializer

from odonata import units
from odonata.document import Bandwidth, Count, Time, input_error_as_problem
from odonata.errors import InputError
from odonata.placement import format_ids
from odonata.placement.policy import read_groups
from odonata.scenario.apps.app import OFF, ON, App, Ranks
from odonata.scenario.apps.bursts import BurstLength
from odonata.scenario.apps.values import MAX_DURATION_PS, MAX_MESSAGE_BYTES, MessageSize, whole_number

#: Jitter of the generator of Kang 2019: exponential with this mean.
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

    Sources: Kang 2019, sections 3.3 and 3.4, and the behaviour of its authors' generator.
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
    on: BurstLength | None = Field(None, description=ON)
    off: BurstLength | None = Field(None, description=OFF)

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

    def traffic(self, ranks: Ranks) -> dict[str, Any]:
        """The traffic of a job as the core reads it. Raises InputError with a path into the app's table."""
        return {
            "pattern": {"name": self.pattern, **self.pattern_spec(ranks)},
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


class UniformRandom(LoadedPattern):
    """At every interval each rank sends one message to a rank drawn uniformly.

    Source: Kang 2019, section 3.4.1; the own rank is replaced by the next, as in its authors' code.
    """

    pattern: Literal["uniform-random"]

    def leaving(self, ranks: Ranks) -> Fraction:
        """The share of the other ranks that are in another group."""
        inside = sum(count * (count - 1) for count in ranks.by_group().values())
        pairs = ranks.count * (ranks.count - 1)
        return Fraction(pairs - inside, pairs) if pairs else Fraction(0)

    def pattern_spec(self, ranks: Ranks) -> dict[str, Any]:  # noqa: ARG002
        """Nothing beyond the name."""
        return {}


def _grid(value: Any) -> tuple[int, ...]:
    right = isinstance(value, list | tuple) and len(value) == 3
    if not right or not all(type(n) is int and 1 <= n < 2**32 for n in value):
        raise InputError(f"expected three numbers of ranks such as [12, 12, 16], found `{value!r}`")
    return tuple(value)


class Stencil3d(LoadedPattern):
    """At every interval each rank sends one message to each of its six neighbours.

    The grid is periodic and x runs fastest. Source: Kang 2019, section 3.4.1; the grid of 12 x 12 x 16 for 2,304
    ranks is its authors'.
    """

    pattern: Literal["stencil-3d"]
    grid: Annotated[tuple[int, ...], BeforeValidator(input_error_as_problem(_grid))] | None = Field(
        None, description="ranks along x, y and z (default: as near to a cube as possible)"
    )

    def per_interval(self) -> int:
        """One to each neighbour."""
        return 6

    def pattern_spec(self, ranks: Ranks) -> dict[str, Any]:
        """The grid, whose product is the number of ranks."""
        grid = self.grid or near_cubic(ranks.count)
        x, y, z = grid
        if x * y * z != ranks.count:
            raise InputError(
                f"a grid of {x} x {y} x {z} has {x * y * z} points for {ranks.count} ranks",
                hint="{} x {} x {} would fit".format(*near_cubic(ranks.count)),
                path=("grid",),
            )
        return {"grid": list(grid)}


def near_cubic(ranks: int) -> tuple[int, int, int]:
    """The grid of that many points with the smallest surface, in ascending order."""
    best, least = (1, 1, ranks), 2 * ranks + 1
    x = 1
    while x**3 <= ranks:
        if ranks % x == 0:
            rest = ranks // x
            y = next(y for y in range(int(rest**0.5) + 1, 0, -1) if rest % y == 0)
            sides = sorted((x, y, rest // y))
            surface = sides[0] * sides[1] + sides[1] * sides[2] + sides[0] * sides[2]
            if surface < least:
                best, least = (sides[0], sides[1], sides[2]), surface
        x += 1
    return best


class Tornado(LoadedPattern):
    """At every interval each rank sends one message to rank + offset, modulo the number of ranks.

    Source: Kang 2019, section 3.4.1; the offset is the number of nodes of a group.
    """

    pattern: Literal["tornado"]
    offset: Count | None = Field(None, description="distance in ranks (default: the number of nodes of a group)")

    def leaving(self, ranks: Ranks) -> Fraction:
        """The share of the ranks whose partner is in another group."""
        offset = self.offset or ranks.system.shape.nodes_per_group
        groups = [ranks.system.shape.group_of(node) for node in ranks.nodes]
        away = sum(group != groups[(rank + offset) % ranks.count] for rank, group in enumerate(groups))
        return Fraction(away, ranks.count)

    def pattern_spec(self, ranks: Ranks) -> dict[str, Any]:
        """The offset."""
        offset = self.offset or ranks.system.shape.nodes_per_group
        if offset % ranks.count == 0:
            default = "" if self.offset else " (the nodes of a group)"
            raise InputError(
                f"an offset of {offset}{default} makes each of {ranks.count} ranks its own partner",
                hint=f"give an `offset` from 1 to {ranks.count - 1}",
                path=("offset",),
            )
        return {"offset": offset}


class Broadcast(SizedPattern):
    """At every interval the root sends one message to each other rank, after all its previous ones have arrived.

    Source: Kang 2019, section 3.4.1; a flat broadcast without a tree, as in its authors' code.
    """

    pattern: Literal["broadcast"]
    root: int = Field(0, description="rank that sends")

    def pattern_spec(self, ranks: Ranks) -> dict[str, Any]:
        """The root, which is one of the ranks."""
        if not 0 <= self.root < ranks.count:
            message = f"root {self.root} is not one of the ranks 0 to {ranks.count - 1}"
            raise InputError(message, path=("root",))
        return {"root": self.root}


_Groups = Annotated[list[int], BeforeValidator(input_error_as_problem(read_groups))]


class GroupPeers(Pattern):
    """At every interval each rank sends one message to the rank of the same number in each other group.

    Source: Kang 2019, section 3.3. The size of the messages is given, or solved from the theoretical
    global link load (equation 4): with n ranks per group, each sending one message per interval to each
    other group, a group pair's links carry n x message / interval in each direction, so

        message = tgll x bandwidth of a global link x interval x links per pair / n

    rounded to a whole byte. On `kang2019` this gives the sizes of table 1: 2,340, 4,212 and 6,084 B for
    50, 90 and 130 % at 1 us.
    """

    pattern: Literal["group-peers"]
    message: MessageSize | None = Field(None, description="size of each message (or give `tgll`)")
    tgll: Load | None = Field(None, description="load of the links between two groups, from which the size follows")
    tgll_bandwidth: Bandwidth | None = Field(
        None, description="bandwidth of a global link in TGLL (default: the system's)"
    )
    groups: _Groups | None = Field(None, description="groups in which the ranks must be (default: not checked)")

    def pattern_spec(self, ranks: Ranks) -> dict[str, Any]:
        """Nothing beyond the name; checks that every group has as many ranks as the others."""
        counts = ranks.by_group()
        if self.groups is not None and self.groups != list(counts):
            raise InputError(
                f"the ranks are in groups {format_ids(counts)}, not in {format_ids(self.groups)}",
                path=("groups",),
            )
        if len(counts) < 2:
            raise InputError("group-peers needs ranks in at least two groups", path=("pattern",))
        (first, n), *others = counts.items()
        for group, other in others:
            if other != n:
                raise InputError(
                    "group-peers needs equally many ranks in each group, but group "
                    f"{first} has {n} and group {group} has {other}",
                    path=("pattern",),
                )
        return {}

    def message_bytes(self, ranks: Ranks) -> int:
        """The given size, or the one for the wanted load."""
        if self.message is not None:
            if self.tgll is not None:
                raise InputError("`message` and `tgll` exclude each other", path=("tgll",))
            return self.message
        if self.tgll is None:
            raise InputError("the size of the messages is missing: give `message` or `tgll`")
        size = self._solve(self.tgll, ranks)
        if not 1 <= size <= MAX_MESSAGE_BYTES:
            message = f"a load of {float(self.tgll):g} needs messages of {size} B, not between 1 B and 2^40 B"
            raise InputError(message, path=("tgll",))
        return size

    def _solve(self, tgll: Fraction, ranks: Ranks) -> int:
        if not ranks.system.links_per_pair:
            kind = ranks.system.table.kind
            raise InputError(f"`tgll` is about cables between two groups, which a {kind} has not", path=("tgll",))
        bandwidth = Fraction(self.tgll_bandwidth or ranks.system.tgll_bandwidth, 10**6)
        interval = Fraction(self.interval_ps(ranks), 10**12)
        per_group = next(iter(ranks.by_group().values()))
        return round(tgll * bandwidth * interval * ranks.system.links_per_pair / per_group)


class GroupShift(LoadedPattern):
    """At every interval each rank sends one message to a random rank of the group that is `shift` groups further.

    The groups are those of the job, in ascending cyclic order. All traffic of a group needs the few cables to one other
    group: the worst case of minimal routing. Source: Kim 2008, section 4 (there `worst-case`, with a shift of 1; also
    called ADV+i).
    """

    elsewhere: ClassVar[Mapping[str, str]] = {"offset": "did you mean `shift`? It counts groups"}

    pattern: Literal["group-shift"]
    shift: Count = Field(1, description="number of groups to shift by, among the groups of the job")

    def leaving(self, ranks: Ranks) -> Fraction:  # noqa: ARG002
        """All messages leave their group."""
        return Fraction(1)

    def pattern_spec(self, ranks: Ranks) -> dict[str, Any]:
        """The shift; refuses one that leads back to the own group."""
        groups = len(ranks.by_group())
        if groups < 2:
            raise InputError(f"{self.pattern} needs ranks in at least two groups", path=("pattern",))
        if self.shift % groups == 0:
            raise InputError(
                f"a shift of {self.shift} leads from each of the job's {groups} groups to itself",
                hint=f"give a `shift` from 1 to {groups - 1}",
                path=("shift",),
            )
        return {"shift": self.shift}
