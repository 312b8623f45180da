"""The Rust core of Odonata: JSON in, named columns out.

All times are picoseconds, all sizes bytes, bandwidths millionths of a byte per second. Ids are dense and start
at 0. A "slot" is one port of one router; slots are numbered router by router.
"""

from collections.abc import Callable, Sequence
from typing import Any, NotRequired, TypedDict, final, type_check_only

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CoreError",
    "Machine",
    "RoutingPolicy",
    "__fingerprint__",
    "__version__",
    "add_routing",
    "burst_lengths",
    "check",
    "collectives",
    "congestion_laws",
    "dragonfly_max_nodes",
    "dragonfly_plus_max_nodes",
    "error_codes",
    "limits",
    "options",
    "prefer_high_bias",
    "read_chakra",
    "read_trace",
    "routing_channels",
    "routing_policies",
    "routing_policy_defaults",
    "routings",
    "run",
    "serialisation_ps",
    "trace_formats",
    "traffic",
    "transmission_time",
    "write_chakra",
    "write_trace",
]

__fingerprint__: str
"""A hash of the sources of the core and of `Cargo.lock`: 16 hexadecimal digits."""
__version__: str

class CoreError(Exception):
    """The core has no result; the text is for developers."""

    #: The stable name of what is wrong.
    code: str
    #: The path of the wrong value in the specification: `("jobs", 1, "nodes")`; empty if no single value is wrong.
    path: tuple[str | int, ...]
    #: Values by name: integers, texts, None, and lists and dictionaries of them.
    parameters: dict[str, Any]
    #: The position in a trace: `line` and `column` (from 1, in characters), `byte` (from 0), `rank` and `operation`
    #: (its number in the rank, from 1), or `node` and `name` (of Chakra); empty if the error is not about a trace.
    place: dict[str, int | str]

def error_codes() -> dict[str, dict[str, str]]:
    """All codes, with names and types (`integer`, `text`, `list`, `record`) of their parameters."""

@type_check_only
class Description(TypedDict):
    nodes: int
    routers: int
    groups: int
    #: Number of cables of each link class.
    links: dict[str, int]
    #: Names of the link classes; `slot_class` is an index into it.
    classes: list[str]
    #: The largest number of cables that join two groups directly.
    links_per_pair: int
    #: NICs of each node.
    rails: int
    #: The first class of links that leave groups.
    first_global: int
    #: Router of each node (of its first NIC).
    node_router: NDArray[np.uint32]
    node_group: NDArray[np.uint32]
    #: Group of each router, or -1.
    router_group: NDArray[np.int64]
    #: What the family calls a group, and its kinds of routers from the nodes upwards.
    group_name: str
    router_kinds: list[str]
    #: An index into `router_kinds`.
    router_kind: NDArray[np.uint8]
    #: Whether each is of the lowest kind, which has the nodes.
    router_is_leaf: NDArray[np.bool_]
    slot_router: NDArray[np.uint32]
    slot_port: NDArray[np.uint16]
    slot_class: NDArray[np.uint8]
    #: Router at the far end, or -1.
    slot_peer_router: NDArray[np.int64]
    #: Node at the far end, or -1.
    slot_peer_node: NDArray[np.int64]
    slot_failed: NDArray[np.bool_]
    router_failed: NDArray[np.bool_]
    #: Router-side slot of each NIC: `node * rails + rail`.
    endpoint_slot: NDArray[np.uint32]

@type_check_only
class Option(TypedDict):
    #: Its name in a specification, which ends in its unit.
    name: str
    about: str
    #: Whether it may be absent.
    optional: bool
    #: Its default as a document writes it, if it is the same on all machines.
    default: str | None
    #: Name -> its meaning, if the option is a name.
    names: dict[str, str] | None
    #: The least and the greatest value, if it is a number.
    range: tuple[int, int] | None

@type_check_only
class RoutingInfo(TypedDict):
    name: str
    #: What it does, and its source.
    about: str
    #: Kinds of machine that it is for.
    machines: list[str]
    options: list[Option]

@type_check_only
class TraceFormat(TypedDict):
    name: str
    about: str
    #: Whether it is text, and not binary.
    text: bool

@type_check_only
class CongestionLaw(TypedDict):
    name: str
    #: What it does, and its source.
    about: str
    #: Whether switches mark packets.
    marks: bool
    options: list[Option]

@type_check_only
class Progress(TypedDict):
    now_ps: int
    events: int
    packet_hops: int
    #: Messages delivered of the jobs that the run waits for; for programs, iterations that ranks have ended.
    delivered: int
    #: The final value of `delivered`; 0 if the run ends at a given time.
    expected: int

@type_check_only
class Latency(TypedDict):
    count: int
    sum: int
    min: int
    max: int
    #: Non-empty bins: values from `lower` to below `upper`.
    lower: NDArray[np.uint64]
    upper: NDArray[np.uint64]
    bin_count: NDArray[np.uint64]

@type_check_only
class JobTotals(TypedDict):
    issued: int
    delivered: int
    packets: int
    bytes: int
    #: Links between routers that the delivered packets used.
    hops: int
    #: Delivered packets that were never diverted.
    minimal: int
    first_issue_ps: int | None
    last_delivery_ps: int | None
    latency: Latency
    #: Messages between ranks of one node, of a program.
    intra_node: int
    #: Control messages (RTS, CTS, FIN) issued, of a program.
    control: int
    #: Messages issued while measuring, and those of them that were delivered; recorded or not.
    measured_issued: int
    measured_delivered: int
    #: Of traffic: intervals begun, of all ranks together; first delivery of a message.
    intervals: int
    first_delivery_ps: int | None
    backlog: Backlog
    #: Messages and bytes sent in adaptive-0, adaptive-1 and adaptive-3, if the job is application-aware.
    modes: list[tuple[int, int]]
    #: Packets that come after later ones, with `measure.reordering`.
    reordering: NotRequired[Reordering]

@type_check_only
class Reordering(TypedDict):
    """Packets with payload that came to the NICs of a job (docs/model.md, section 9, "Reordering")."""

    arrived: int
    #: Those that came after a later one of their stream, the sum of their extents, and the largest.
    reordered: int
    extents: int
    most_extent: int
    #: Most payload that waited at one NIC for earlier packets.
    buffer_bytes: int

@type_check_only
class Backlog(TypedDict):
    """Messages of a job with traffic by slice of time, from time 0 on (docs/model.md, section 9)."""

    #: Width of a slice; 0 if there are none.
    width_ps: int
    issued: NDArray[np.uint64]
    #: Sum of their issue times, each relative to the start of its slice.
    issue_offset_ps: NDArray[np.float64]
    delivered: NDArray[np.uint64]
    #: The same of delivery times.
    delivery_offset_ps: NDArray[np.float64]

@type_check_only
class Ranks(TypedDict):
    """One row per rank of the jobs with a program, by job and rank."""

    job: NDArray[np.uint16]
    rank: NDArray[np.uint32]
    #: 2**64 - 1: not finished by the end.
    finish_ps: NDArray[np.uint64]
    #: CPU time.
    work_ps: NDArray[np.uint64]

@type_check_only
class Iterations(TypedDict):
    """One row per iteration that some rank of a job with a program has ended."""

    job: NDArray[np.uint16]
    iteration: NDArray[np.uint32]
    #: Ranks that have ended it; the other columns refer to these.
    ranks: NDArray[np.uint32]
    first_begin_ps: NDArray[np.uint64]
    last_begin_ps: NDArray[np.uint64]
    first_end_ps: NDArray[np.uint64]
    last_end_ps: NDArray[np.uint64]
    #: Longest time that one rank took, and the sum over all.
    longest_ps: NDArray[np.uint64]
    total_ps: NDArray[np.uint64]

@type_check_only
class Messages(TypedDict):
    job: NDArray[np.uint16]
    interval: NDArray[np.uint32]
    source: NDArray[np.uint32]
    destination: NDArray[np.uint32]
    issue_ps: NDArray[np.uint64]
    #: 2**64 - 1: still under way at the end.
    latency_ps: NDArray[np.uint64]

@type_check_only
class Links(TypedDict):
    """Rows: every slot times channel (slot-major), then the injection link of every NIC."""

    packets: NDArray[np.uint64]
    bytes: NDArray[np.uint64]
    #: Time during which at least one packet waited for credit.
    stalled_ps: NDArray[np.uint64]

@type_check_only
class NicCounters(TypedDict):
    """Rows: every NIC (`node * rails + rail`). Packets are Aries packets (docs/model.md, section 3)."""

    request_packets: NDArray[np.uint64]
    request_flits: NDArray[np.uint64]
    stalled_ps: NDArray[np.uint64]
    window_ps: NDArray[np.uint64]
    answered_packets: NDArray[np.uint64]
    #: Sum over the answered packets.
    latency_ps: NDArray[np.uint64]
    response_packets: NDArray[np.uint64]
    response_flits: NDArray[np.uint64]

@type_check_only
class MessageCounters(TypedDict):
    """Rows: those of `Messages`; zero as long as a response is missing, and for messages inside a node."""

    packets: NDArray[np.uint64]
    flits: NDArray[np.uint64]
    stalled_ps: NDArray[np.uint64]
    #: Sum over the packets.
    latency_ps: NDArray[np.uint64]
    #: From the issue to the last response.
    complete_ps: NDArray[np.uint64]
    #: Number of the mode of Aries; 255: none that policies select, or not complete.
    mode: NDArray[np.uint8]

@type_check_only
class Arrivals(TypedDict):
    """Traffic between groups; arrays are shaped (windows, jobs, groups)."""

    #: 0 if nothing was counted.
    every_ps: int
    windows: int
    packets_in: NDArray[np.uint64]
    bytes_in: NDArray[np.uint64]
    packets_out: NDArray[np.uint64]
    bytes_out: NDArray[np.uint64]

@type_check_only
class Trace(TypedDict):
    ranks: int
    #: Of all ranks.
    operations: int
    #: The canonical text in the GOAL format: the same for equal traces.
    goal: str

@type_check_only
class PacketPath(TypedDict):
    #: Whether a packet that takes it counts as minimal.
    minimal: bool
    #: Each with `router`, `port`, `channel`, `class` (name), and `to_router` or `to_node` (the other is None).
    hops: list[dict[str, int | str | None]]

@type_check_only
class PacketPaths(TypedDict):
    #: The number of paths. `paths` has the first of them, minimal paths before others.
    total: int
    paths: list[PacketPath]

@type_check_only
class Result(TypedDict):
    end_ps: int
    packet_hops: int
    events: int
    #: Threads that simulated: perhaps fewer than were allowed.
    threads: int
    #: On several threads, windows: after each the threads exchange what they have for each other.
    windows: int
    #: The most events of one thread in each window, summed.
    longest: int
    #: Wall time inside the core.
    wall_s: float
    jobs: list[JobTotals]
    messages: Messages
    links: Links
    arrivals: Arrivals
    ranks: Ranks
    iterations: Iterations
    #: Bytes committed, shaped (jobs, link classes); (jobs, 0) if no job has a program.
    class_bytes: NDArray[np.uint64]
    #: Absent unless NICs answer packets.
    nics: NotRequired[NicCounters]
    message_counters: NotRequired[MessageCounters]

@final
class Machine:
    """A machine with its failures, wired once.

    CoreError if it cannot be built. Its methods raise ValueError for a specification of another machine.
    """

    def __new__(cls, topology_json: str, failures_json: str | None = None) -> Machine: ...
    def describe(self) -> Description:
        """Its wiring."""

    def extent(self) -> dict[str, int]:
        """Its `routers` and `groups`, the most `ports` and `nodes` (NICs) of a router, and its `diameter`.

        The diameter is the most links of a shortest path between routers with nodes.

        CoreError if no path joins two nodes, or if it is too large for a routing of one's own.
        """

    def check(self, spec_json: str) -> None:
        """Refuse a specification that cannot be simulated (CoreError)."""

    def run(self, spec_json: str, progress: Callable[[Progress], object] | None = None, threads: int = 1) -> Result:
        """Simulate a specification, on up to this many threads; the result does not depend on their number.

        The interpreter lock is released. `progress` is called about every 0.2 s of wall time; an exception in it
        ends the run, and so does Ctrl-C.
        """

    def routes(self, spec_json: str, from_node: int, to_node: int, limit: int) -> PacketPaths:
        """Every path that packets may take between two nodes, for all loads.

        At most `limit` of each kind (minimal or not) are listed.
        """

def check(spec_json: str) -> None:
    """As `Machine.check`, on a new machine."""

def congestion_laws() -> list[CongestionLaw]:
    """The laws of congestion control."""

def trace_formats() -> list[TraceFormat]:
    """The formats of traces that are one file. The ending of a file is a point and the name."""

def limits() -> dict[str, int]:
    """The greatest values that are not those of a single key."""

def options() -> dict[str, list[Option]]:
    """The keys of the tables of a specification that describe themselves, by the path of the table (`fabric.nic`)."""

def add_routing(program: str, route: int, start: int = 0, learn: int = 0) -> None:
    """Make the functions of a routing of one's own known, by their addresses; 0 for those that it does not have.

    They have the types of `odonata.routing.interface`, and stay where they are until the process ends.
    """

def collectives() -> dict[str, dict[str, str]]:
    """The algorithms of each collective: name -> description."""

def read_chakra(
    files: Sequence[bytes],
    ranks: int,
    options_json: str,
    choose: Callable[[str, int, int, int], str],
    combine: int | None = None,
    combine_by_size: Sequence[tuple[int, int]] = ...,
) -> Trace:
    """Read Chakra execution traces, one file for each rank or one for all (docs/chakra.md); CoreError if one is wrong.

    The options are `peak` (operations per second), `memory` (millionths of a byte per second), `groups` and
    `dimensions`. `choose` is asked once for each kind of collective, with its name, ranks, bytes and root, and returns
    its phases as JSON. The path of an error begins with `files` and the number of the file.
    """

def read_trace(data: bytes, format: str, keep_nics: bool = True) -> Trace:
    """Read a trace in one of the `trace_formats` (docs/traces.md); CoreError if it is wrong."""

def routing_channels(routing_json: str, topology_json: str) -> int | None:
    """Virtual channels that a routing of a specification needs on a machine, if nothing has failed.

    None if it is not for such machines; ValueError if it is no routing, or the other no topology.
    """

def routings() -> list[RoutingInfo]:
    """All routings that a specification can name."""

def run(spec_json: str, progress: Callable[[Progress], object] | None = None, threads: int = 1) -> Result:
    """As `Machine.run`, on a new machine."""

def burst_lengths(bursts_json: str, seed: int, node: int, count: int) -> list[tuple[int, int]]:
    """Lengths of the first bursts of a job and of the pauses after them, in picoseconds; its rank 0 is on `node`."""

def serialisation_ps(bandwidth_micro_bytes_per_s: int, bytes: int) -> int:
    """Time that a number of bytes occupies a link, rounded up; saturates at 2**64 - 1."""

def traffic(body_json: str, ranks: int) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """What ranks send to each other in an iteration of a program (its body in the specification).

    Sources, targets, bytes and messages of the pairs of different ranks, ascending; CoreError if the program is wrong.
    """

def write_chakra(
    body_json: str, ranks: int, combine: int | None = None, combine_by_size: Sequence[tuple[int, int]] = ...
) -> list[bytes]:
    """As `write_trace`, as Chakra execution traces: a file for each rank."""

def write_trace(
    body_json: str,
    ranks: int,
    format: str,
    combine: int | None = None,
    combine_by_size: Sequence[tuple[int, int]] = ...,
) -> bytes:
    """Write one iteration of a program (its body in the specification) as a trace in one of the `trace_formats`.

    `combine` is the bandwidth of reductions in millionths of a byte per second; without it they take no time.
    `combine_by_size` has sizes of vectors in bytes, ascending, and the bandwidths at which they are combined instead.

    CoreError if the program is wrong or the format cannot express it.
    """

def dragonfly_plus_max_nodes(radix: int) -> int:
    """Largest Dragonfly+ of routers with that many ports, in nodes (Kang 2019, equation 1)."""

def dragonfly_max_nodes(radix: int) -> int:
    """Largest one-dimensional dragonfly of routers with that many ports, in nodes (Kang 2019, equation 2)."""

def routing_policies() -> list[str]:
    """Names of the policies of application-aware routing."""

def routing_policy_defaults() -> dict[str, float]:
    """The settings of `RoutingPolicy` by name, with the values of the Rust component."""

def transmission_time(bytes: int, latency: float, stalls: float, get: bool, outstanding: int) -> float:
    """Equations 1 (`outstanding` is 0) and 2 of De Sensi 2019, in cycles.

    Raises ValueError for a latency or stalls that are not from 0 to 1e30.
    """

def prefer_high_bias(bytes: int, default: tuple[float, float], high_bias: tuple[float, float], get: bool) -> bool:
    """Equation 3 of De Sensi 2019; a tuple is a latency and stalls. Raises as `transmission_time`."""

@final
class RoutingPolicy:
    """A policy of application-aware routing with its state."""

    def __new__(
        cls,
        name: str,
        *,
        threshold: int,
        sample_age: int,
        latency_ratio: float,
        stall_ratio: float,
        margin: float,
        dwell: int,
        seed: int,
        stream: int,
    ) -> RoutingPolicy:
        """Raises ValueError for an unknown name and for a number out of range."""

    def select(self, bytes: int, get: bool, alltoall: bool, peer: int, control: bool) -> tuple[int, bool]:
        """The number of the mode (0, 1 or 3), and whether counters are asked for."""

    def observe(
        self, mode: int, request_flits: int, stalled_cycles: int, request_packets: int, latency_cycles: int
    ) -> None:
        """What was counted for a message. Raises ValueError for a number that is no mode."""

    def factors(self) -> tuple[float, float] | None:
        """Ratios of latency and of stalls, high bias to default; None for policies without."""
